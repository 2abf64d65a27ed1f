package client

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk"
)

// ConfigOptions returns the options of the session with their current values, as the
// agent last reported them.
func (s *Session) ConfigOptions() []acp.SessionConfigOption {
	s.talk.Mu.Lock()
	defer s.talk.Mu.Unlock()
	return slices.Clone(s.settings.options.Value)
}

// SetConfigOption sets an option of the session to the value with the given id.
func (s *Session) SetConfigOption(ctx context.Context, id acp.SessionConfigID, value acp.SessionConfigValueID) error {
	return s.setOption(ctx, id, &acp.SessionConfigValue{Value: value})
}

// SetConfigOptionBool sets a boolean option of the session.
func (s *Session) SetConfigOptionBool(ctx context.Context, id acp.SessionConfigID, on bool) error {
	return s.setOption(ctx, id, &acp.SessionConfigBooleanValue{Value: on})
}

func (s *Session) setOption(ctx context.Context, id acp.SessionConfigID, value acp.SessionConfigOptionValue) error {
	_, err := s.conn.setOption(ctx, s, &acp.SetSessionConfigOptionRequest{SessionID: s.id, ConfigID: id, Value: value})
	return err
}

func (c *Conn) setSessionConfigOption(ctx context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	s := c.sessions.Find(string(endpoint.Present(&req).SessionID))
	return c.setOption(ctx, owner(s), req)
}

// setOption sets an option of the session of s. If s is not nil, it stores the options in
// the response.
func (c *Conn) setOption(ctx context.Context, s *Session, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	return talk.Settle(ctx, methodSetSessionConfigOption, &c.out, req, s.order(), func(at int, res *acp.SetSessionConfigOptionResponse) {
		s.settings.options.Set(at, res.ConfigOptions)
	})
}

// Modes returns the modes of the session and its current mode, as the agent last reported
// them, or nil if it has reported none.
func (s *Session) Modes() *acp.SessionModeState {
	s.talk.Mu.Lock()
	defer s.talk.Mu.Unlock()
	if s.settings.modes.Value == nil {
		return nil
	}
	m := *s.settings.modes.Value
	m.AvailableModes = slices.Clone(m.AvailableModes)
	return &m
}

// SetMode changes the mode of the session.
func (s *Session) SetMode(ctx context.Context, id acp.SessionModeID) error {
	_, err := s.conn.setMode(ctx, s, &acp.SetSessionModeRequest{SessionID: s.id, ModeID: id})
	return err
}

func (c *Conn) setSessionMode(ctx context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	s := c.sessions.Find(string(endpoint.Present(&req).SessionID))
	return c.setMode(ctx, owner(s), req)
}

// setMode changes the mode of a session. If s is not nil, it stores the mode.
func (c *Conn) setMode(ctx context.Context, s *Session, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	return talk.Settle(ctx, methodSetSessionMode, &c.out, req, s.order(), func(at int, _ *acp.SetSessionModeResponse) {
		s.settings.setMode(at, req.ModeID)
	})
}

// settings holds what an agent reports about a session.
type settings struct {
	options talk.Setting[[]acp.SessionConfigOption]
	modes   talk.Setting[*acp.SessionModeState]
}

func (t *settings) setMode(at int, id acp.SessionModeID) {
	m := endpoint.ValueOf(t.modes.Value)
	m.CurrentModeID = id
	t.modes.Set(at, &m)
}

// order returns the order of the settings, or nil if there is no Session.
func (s *Session) order() *talk.Order {
	if s == nil {
		return nil
	}
	return s.talk.Order()
}

// track stores the settings that an update reports.
func (s *Session) track(u acp.SessionUpdate) {
	switch u := u.(type) {
	case *acp.ConfigOptionUpdate:
		s.settings.options.Set(s.talk.Order().NextLocked(), u.ConfigOptions)
	case *acp.CurrentModeUpdate:
		s.settings.setMode(s.talk.Order().NextLocked(), u.CurrentModeID)
	}
}

// reopened stores the settings from the response of a load or a resume.
func (s *Session) reopened(response *talk.Response, modes *acp.SessionModeState, options []acp.SessionConfigOption) {
	response.Tell(func(at int) {
		if modes != nil {
			s.settings.modes.Set(at, modes)
		}
		if options != nil {
			s.settings.options.Set(at, options)
		}
	})
}
