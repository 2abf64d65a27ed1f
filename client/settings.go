// Copied to draft2/client by go generate.

package client

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// ConfigOptions returns the options of the session with their current values, as the
// agent last reported them.
func (s *Session) ConfigOptions() []acp.SessionConfigOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.settings.options)
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
	if req == nil {
		req = &acp.SetSessionConfigOptionRequest{}
	}
	return c.setOption(ctx, c.sessions.find(req.SessionID), req)
}

// setOption sets an option of the session of s. If s is not nil, it stores the options in
// the response.
func (c *Conn) setOption(ctx context.Context, s *Session, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	if s == nil {
		return methodSetSessionConfigOption.Call(ctx, &c.out, req, nil)
	}
	response := &settingResponse{s: s}
	res, err := methodSetSessionConfigOption.Call(ctx, &c.out, req, &rpc.CallOptions{AtResponse: response.arrived})
	if err == nil {
		response.tell(func(t *settings, at int) { t.setOptions(at, res.ConfigOptions) })
	}
	return res, err
}

// settings holds what an agent reports about a session, such as its options. Each value has its
// place in the order of messages, so that an older value does not replace a newer one.
type settings struct {
	places    int // the last place in use
	options   []acp.SessionConfigOption
	optionsAt int

	versionedSettings
}

// next returns a place after all others.
func (t *settings) next() int {
	t.places++
	return t.places
}

func (t *settings) setOptions(at int, options []acp.SessionConfigOption) {
	if at > t.optionsAt {
		t.options, t.optionsAt = options, at
	}
}

// settingResponse is a response that contains settings. Its place is between the updates that were
// read before and after it, even if the caller continues later.
type settingResponse struct {
	s  *Session
	at int // the place; 0 until it is known. Guarded by s.mu.
}

// arrived is the AtResponse of the call. It takes the place in the order of messages that belongs
// to the response.
func (a *settingResponse) arrived(err error) {
	if err == nil {
		a.tell(func(*settings, int) {})
	}
}

// tell calls f with the place of the response. If the place is not known, for example because a
// middleware responded, it is the next one.
func (a *settingResponse) tell(f func(t *settings, at int)) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if a.at == 0 {
		a.at = a.s.settings.next()
	}
	f(&a.s.settings, a.at)
}
