package kit

import (
	"context"
	"errors"
	"maps"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/history"
)

// SessionOptions implements acp.SessionOptionsReporter. It opens no session. The log of a stored one that is
// not open is read and closed again.
func (c *conn) SessionOptions(ctx context.Context, req *acp.SessionOptionsRequest) (*acp.SessionOptionsResponse, error) {
	if err := c.agent.opts.Auth.ready(ctx); err != nil {
		return nil, err
	}
	var stored map[string]string
	if req.SessionID != "" {
		var err error
		if stored, err = c.agent.storedValues(ctx, req.SessionID); err != nil {
			return nil, err
		}
	}
	s := &Session{agent: c.agent, id: req.SessionID, settings: c.agent.offer(ctx), values: make(map[string]string)}
	s.apply(stored)
	return &acp.SessionOptionsResponse{Modes: s.modes(), ConfigOptions: s.configOptions()}, nil
}

// storedValues returns the values of the settings of a session that the user of ctx owns.
func (a *Agent) storedValues(ctx context.Context, id acp.SessionID) (map[string]string, error) {
	if s := a.find(id); s != nil && s.owner == a.owner(ctx) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return maps.Clone(s.values), nil
	}
	log, err := a.openLog(ctx, id)
	if err != nil {
		return nil, err
	}
	h := newRestored()
	if err := errors.Join(h.read(ctx, log, 0, 0), log.Close()); err != nil && !errors.Is(err, journal.ErrNewer) {
		return nil, history.Failed(ctx, err)
	}
	return h.settings, nil
}

// initial returns the values that a request to open a session gives, unless the client could not know that
// the agent takes them.
func (c *conn) initial(values []acp.InitialSessionConfigOption) []acp.InitialSessionConfigOption {
	if !c.Handles(acp.MethodSessionOptions) {
		return nil
	}
	return values
}

// choose sets the values that the client has chosen for the start of the session, and returns what is to be
// stored. It ignores settings and values that are not offered: the response tells the client what holds.
func (s *Session) choose(values []acp.InitialSessionConfigOption) (recs []record) {
	chosen := make(map[string]string, len(values)) // the last value of each counts
	for _, v := range values {
		if value, ok := v.Value.(*acp.SessionConfigValue); ok {
			chosen[string(v.ConfigID)] = string(value.Value)
		}
	}
	for _, t := range s.settings {
		if value, ok := chosen[t.ID]; ok && t.offers(value) {
			s.values[t.ID] = value
			recs = append(recs, record{journal.KindSetting, settingRecord{t.ID, value}})
		}
	}
	return recs
}
