package kit

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/history"
)

// restored is the state of a session according to its records.
type restored struct {
	shown    history.History
	settings map[string]string
	rules    []tools.Rule
	system   *acp.SystemPrompt // the last one that is recorded
	prompted bool              // a system prompt is recorded, or that there is none any more
	last     int64             // the number of the last record
	items    []json.RawMessage // what the model reads
	replaced int64             // which is in the records after this one
}

func newRestored() *restored {
	return &restored{settings: make(map[string]string)}
}

// read adds the records after the number from. The session has read those up to known before: of them, it
// takes only what the model reads.
func (h *restored) read(ctx context.Context, log journal.Log, from, known int64) error {
	for r, err := range log.Read(ctx, from) {
		if err == nil && (r.Seq > known || r.Kind == journal.KindModel) {
			err = h.add(r)
		}
		if err != nil {
			return err
		}
		h.last = r.Seq
	}
	return nil
}

func (h *restored) add(r journal.Record) error {
	_, err := h.shown.Restore(r)
	switch r.Kind { // other kinds are of later versions
	case journal.KindModel:
		var m modelRecord
		if err = json.Unmarshal(r.Data, &m); m.Replace {
			h.replaced = r.Seq - 1
		}
		h.items = m.after(h.items)
	case journal.KindSetting:
		var t settingRecord
		err = json.Unmarshal(r.Data, &t)
		h.settings[t.ID] = t.Value
	case journal.KindRule:
		var rule tools.Rule
		err = json.Unmarshal(r.Data, &rule)
		h.rules = append(h.rules, rule)
	case journal.KindSystem:
		h.system, h.prompted = nil, true
		err = json.Unmarshal(r.Data, &h.system)
	}
	return err
}

func (h *restored) replay(ctx context.Context, s *Session) error {
	for _, it := range h.shown.Items() {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.out.mu.Lock()
		err := s.out.send(ctx, it.Update())
		s.out.mu.Unlock()
		if invalid, ok := errors.AsType[*acp.InvalidError](err); ok { // stored by another program or an older version
			s.agent.log.Warn("an update of a stored session is left out", "session", string(s.id), "error", invalid)
		} else if err != nil {
			return err
		}
	}
	if title := s.Meta().Title; title != "" {
		return s.client.SetTitle(ctx, title)
	}
	return nil
}

// repair returns the records that end the turn that a crash has interrupted, and its tool calls. It
// returns nil if there was no crash.
func (h *restored) repair() (recs []record) {
	for _, open := range h.shown.OpenCalls() {
		h.shown.Add(history.Interrupt(open, "was interrupted"))
		recs = append(recs, record{journal.KindEvent, h.shown.ToolCall(open.ToolCallID)})
	}
	if len(recs) == 0 && !h.shown.Unended() {
		return nil
	}
	return append(recs, record{journal.KindTurn, history.Turn{State: history.Interrupted}})
}
