package client

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// Modes returns the modes of the session and its current mode, as the agent last reported
// them, or nil if it has reported none.
func (s *Session) Modes() *acp.SessionModeState {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings.modes == nil {
		return nil
	}
	m := *s.settings.modes
	m.AvailableModes = slices.Clone(m.AvailableModes)
	return &m
}

// SetMode changes the mode of the session.
func (s *Session) SetMode(ctx context.Context, id acp.SessionModeID) error {
	_, err := s.conn.setMode(ctx, s, &acp.SetSessionModeRequest{SessionID: s.id, ModeID: id})
	return err
}

func (c *Conn) setSessionMode(ctx context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	if req == nil {
		req = &acp.SetSessionModeRequest{}
	}
	return c.setMode(ctx, c.sessions.find(req.SessionID), req)
}

// setMode changes the mode of a session. If s is not nil, it stores the mode.
func (c *Conn) setMode(ctx context.Context, s *Session, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	if s == nil {
		return methodSetSessionMode.Call(ctx, &c.out, req, nil)
	}
	response := &settingResponse{s: s}
	res, err := methodSetSessionMode.Call(ctx, &c.out, req, &rpc.CallOptions{AtResponse: response.arrived})
	if err == nil {
		response.tell(func(t *settings, at int) { t.setMode(at, req.ModeID) })
	}
	return res, err
}

// versionedSettings are the settings that only this version has.
type versionedSettings struct {
	modes   *acp.SessionModeState
	modesAt int
}

func (t *settings) setMode(at int, id acp.SessionModeID) {
	m := acp.SessionModeState{}
	if t.modes != nil {
		m = *t.modes
	}
	m.CurrentModeID = id
	t.setModes(at, &m)
}

func (t *settings) setModes(at int, modes *acp.SessionModeState) {
	if at > t.modesAt {
		t.modes, t.modesAt = modes, at
	}
}

// reopened stores the settings from the response of a load or a resume.
func (a *settingResponse) reopened(modes *acp.SessionModeState, options []acp.SessionConfigOption) {
	a.tell(func(t *settings, at int) {
		if modes != nil {
			t.setModes(at, modes)
		}
		if options != nil {
			t.setOptions(at, options)
		}
	})
}
