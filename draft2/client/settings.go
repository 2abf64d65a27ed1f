package client

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk"
)

// settings holds what an agent reports about a session.
type settings struct {
	options  talk.Setting[[]acp.SessionConfigOption]
	commands talk.Setting[[]acp.AvailableCommand]
	state    acp.StateUpdate // nil until it is reported
}

// State returns the state of the session that the agent reported last: running, requires
// action, or idle. It is idle before the first report. The result is shared and must not be
// modified.
func (s *Session) State() acp.StateUpdate {
	if state := s.state(); state != nil {
		return state
	}
	return &acp.IdleStateUpdate{}
}

// state returns the state, or nil before the first report.
func (s *Session) state() acp.StateUpdate {
	s.talk.Mu.Lock()
	defer s.talk.Mu.Unlock()
	return s.settings.state
}

// Commands returns the slash commands of the session, as the agent last reported them.
func (s *Session) Commands() []acp.AvailableCommand {
	s.talk.Mu.Lock()
	defer s.talk.Mu.Unlock()
	return slices.Clone(s.settings.commands.Value)
}

// ConfigOptions returns the options of the session with their current values, as the
// agent last reported them.
func (s *Session) ConfigOptions() []acp.SessionConfigOption {
	s.talk.Mu.Lock()
	defer s.talk.Mu.Unlock()
	return slices.Clone(s.settings.options.Value)
}

// SetConfigOption sets an option of the session to the value with the given id.
func (s *Session) SetConfigOption(ctx context.Context, id acp.SessionConfigID, value acp.SessionConfigValueID) error {
	return s.set(ctx, id, &acp.SessionConfigValue{Value: value})
}

// SetConfigOptionBool sets a boolean option of the session.
func (s *Session) SetConfigOptionBool(ctx context.Context, id acp.SessionConfigID, on bool) error {
	return s.set(ctx, id, &acp.SessionConfigBooleanValue{Value: on})
}

func (s *Session) set(ctx context.Context, id acp.SessionConfigID, value acp.SessionConfigOptionValue) error {
	_, err := s.conn.setOption(ctx, s, &acp.SetSessionConfigOptionRequest{SessionID: s.id, ConfigID: id, Value: value})
	return err
}

func (c *Conn) setSessionConfigOption(ctx context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	s := c.sessions.Find(string(endpoint.Present(&req).SessionID))
	return c.setOption(ctx, owner(s), req)
}

// setOption sets an option of a session. If s is not nil, it stores the options in the response.
func (c *Conn) setOption(ctx context.Context, s *Session, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	var order *talk.Order
	if s != nil {
		order = s.talk.Order()
	}
	return talk.Settle(ctx, methodSetSessionConfigOption, &c.out, req, order, func(at int, res *acp.SetSessionConfigOptionResponse) {
		s.settings.options.Set(at, res.ConfigOptions)
	})
}

// track stores the settings, the state or the commands that an update reports.
func (s *Session) track(u acp.SessionUpdate) {
	switch u := u.(type) {
	case *acp.ConfigOptionUpdate:
		s.settings.options.Set(s.talk.Order().NextLocked(), u.ConfigOptions)
	case *acp.SessionStateUpdate:
		s.settings.state = u.StateUpdate
	case *acp.AvailableCommandsUpdate:
		s.settings.commands.Set(s.talk.Order().NextLocked(), u.AvailableCommands)
	}
}

// reopened stores the settings from the response of a resume.
func (s *Session) reopened(response *talk.Response, options []acp.SessionConfigOption, commands []acp.AvailableCommand) {
	response.Tell(func(at int) {
		if options != nil {
			s.settings.options.Set(at, options)
		}
		if commands != nil {
			s.settings.commands.Set(at, commands)
		}
	})
}
