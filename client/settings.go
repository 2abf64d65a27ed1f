package client

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// Modes returns the modes of the session and the current one, as the agent last told;
// nil when it told none.
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

// ConfigOptions returns the options of the session with their current values, as the
// agent last told.
func (s *Session) ConfigOptions() []acp.SessionConfigOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.settings.options)
}

// SetMode changes the mode of the session.
func (s *Session) SetMode(ctx context.Context, id acp.SessionModeID) error {
	req, answer := &acp.SetSessionModeRequest{SessionID: s.id, ModeID: id}, &settingAnswer{s: s}
	_, err := endpoint.Call[acp.SetSessionModeRequest, acp.SetSessionModeResponse](ctx, &s.conn.out, acp.MethodSessionSetMode, req, answer.watch())
	if err == nil {
		answer.tell(func(t *settings, at int) { t.setMode(at, id) })
	}
	return err
}

// SetConfigOption changes one option of the session to the value with that id.
func (s *Session) SetConfigOption(ctx context.Context, id acp.SessionConfigID, value acp.SessionConfigValueID) error {
	return s.setOption(ctx, id, &acp.SessionConfigValue{Value: value})
}

// SetConfigOptionBool changes an option of the session that is on or off.
func (s *Session) SetConfigOptionBool(ctx context.Context, id acp.SessionConfigID, on bool) error {
	return s.setOption(ctx, id, &acp.SessionConfigBooleanValue{Value: on})
}

func (s *Session) setOption(ctx context.Context, id acp.SessionConfigID, value acp.SessionConfigOptionValue) error {
	req, answer := &acp.SetSessionConfigOptionRequest{SessionID: s.id, ConfigID: id, Value: value}, &settingAnswer{s: s}
	res, err := endpoint.Call[acp.SetSessionConfigOptionRequest, acp.SetSessionConfigOptionResponse](ctx, &s.conn.out, acp.MethodSessionSetConfigOption, req, answer.watch())
	if err == nil {
		answer.tell(func(t *settings, at int) { t.setOptions(at, res.ConfigOptions) })
	}
	return err
}

// settings are the modes and options of a session, with the place at which the agent
// told them, so that what is older does not replace what is newer.
type settings struct {
	places    int // how many there were
	modes     *acp.SessionModeState
	modesAt   int
	options   []acp.SessionConfigOption
	optionsAt int
}

// next returns the place behind all others.
func (t *settings) next() int {
	t.places++
	return t.places
}

// track remembers what an update tells.
func (t *settings) track(u acp.SessionUpdate) {
	switch u := u.(type) {
	case *acp.CurrentModeUpdate:
		t.setMode(t.next(), u.CurrentModeID)
	case *acp.ConfigOptionUpdate:
		t.setOptions(t.next(), u.ConfigOptions)
	}
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

func (t *settings) setOptions(at int, options []acp.SessionConfigOption) {
	if at > t.optionsAt {
		t.options, t.optionsAt = options, at
	}
}

// settingAnswer is an answer that tells settings. Its place is among the updates that
// were read before it and behind it; who waits for it may see it later than those.
type settingAnswer struct {
	s  *Session
	at int // its place; 0 until that is reached. Guarded by s.mu.
}

// watch returns the options for the call.
func (a *settingAnswer) watch() *rpc.CallOptions {
	return &rpc.CallOptions{AtResponse: func(err error) {
		if err == nil {
			a.tell(func(*settings, int) {})
		}
	}}
}

// tell calls f with the place of the answer. A call that does not wait for its place
// has it at once.
func (a *settingAnswer) tell(f func(t *settings, at int)) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if a.at == 0 {
		a.at = a.s.settings.next()
	}
	f(&a.s.settings, a.at)
}

// reopened takes what the answer tells of a session that was opened again.
func (a *settingAnswer) reopened(modes *acp.SessionModeState, options []acp.SessionConfigOption) {
	a.tell(func(t *settings, at int) {
		if modes != nil {
			t.setModes(at, modes)
		}
		if options != nil {
			t.setOptions(at, options)
		}
	})
}

// started takes what the answer tells of a session that is new. Updates may have told
// more of it already, which stays.
func (s *Session) started(modes *acp.SessionModeState, options []acp.SessionConfigOption) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.settings
	for _, it := range s.kept.updates {
		t.track(it.u)
	}
	if modes != nil {
		m := *modes
		if t.modes != nil {
			m.CurrentModeID = t.modes.CurrentModeID
		}
		t.modes = &m
	}
	if t.options == nil {
		t.options = options
	}
}
