package kit

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/panics"
)

// Done returns a channel that is closed when the session has left memory: it was closed or deleted, or
// its connection has ended. The functions of OnClose have returned by then.
func (s *Session) Done() <-chan struct{} { return s.gone }

// OnClose calls f when the session leaves memory, after its last turn. Use it to close what
// Options.Tools has opened. The functions are called in reverse order, also if the session could not be
// opened. If the session is closed already, f is called at once.
func (s *Session) OnClose(f func()) {
	s.mu.Lock()
	late := s.left
	if !late {
		s.onClose = append(s.onClose, f)
	}
	s.mu.Unlock()
	if late {
		s.guard(f)
	}
}

// leave calls the functions of OnClose, and ends the MCP servers.
func (s *Session) leave() {
	s.mu.Lock()
	s.left = true
	all := s.onClose
	s.onClose = nil
	s.mu.Unlock()
	for i := len(all) - 1; i >= 0; i-- {
		s.guard(all[i])
	}
	s.disconnect()
}

func (s *Session) guard(f func()) {
	if err := panics.Guard(func() error { f(); return nil }); err != nil {
		s.agent.log.Error("a function of OnClose has failed", "session", string(s.id), "error", err)
	}
}

// Meta returns the stored metadata of the session, such as its owner and title. It is empty if the
// session cannot be read.
func (s *Session) Meta() journal.Meta {
	log, err := s.journal()
	if err != nil {
		return journal.Meta{}
	}
	return log.Meta()
}

// maxState is the maximum size of the state of an author in bytes, because a list of sessions reads it.
const maxState = 64 << 10

// SetState stores a value of the author with the session, in place of the previous one. It is encoded
// as JSON, and may have 64 KiB.
func (s *Session) SetState(v any) error {
	data, err := json.Marshal(v)
	if err == nil && len(data) > maxState {
		err = fmt.Errorf("it has %d bytes, and %d are allowed", len(data), maxState)
	}
	if err != nil {
		return fmt.Errorf("kit: the state of the session: %w", err)
	}
	return s.use(context.Background(), func(log journal.Log) error {
		return log.SetMeta(func(m *journal.Meta) { m.Data = data })
	})
}

// State decodes the value of the last SetState into v, which remains unchanged if there was none. It
// survives the end of the program.
func (s *Session) State(v any) error {
	log, err := s.journal()
	if err != nil {
		return err
	}
	if data := log.Meta().Data; data != nil {
		return json.Unmarshal(data, v)
	}
	return nil
}
