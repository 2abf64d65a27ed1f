package kit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/agent/journal"
)

// modelRecord records what the model reads: in addition to the earlier items, or in place of them.
type modelRecord struct {
	Replace bool              `json:"replace,omitempty"`
	Items   []json.RawMessage `json:"items"`
}

// after returns what the model reads after the record.
func (m modelRecord) after(items []json.RawMessage) []json.RawMessage {
	if m.Replace {
		items = nil
	}
	return append(items, m.Items...)
}

// Remember adds items to what the model reads. The items are values of the author's own types, and
// each is encoded as JSON. session/load does not show them.
func (s *Session) Remember(items ...any) error { return s.remember(false, items) }

// Compact replaces everything that the model reads by items. What the person sees does not change.
func (s *Session) Compact(items ...any) error { return s.remember(true, items) }

func (s *Session) remember(replace bool, items []any) error {
	r := modelRecord{Replace: replace, Items: make([]json.RawMessage, len(items))}
	for i, v := range items {
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("kit: what the model reads: %w", err)
		}
		r.Items[i] = data
	}
	s.remembering.Lock()
	defer s.remembering.Unlock()
	return s.append(record{journal.KindModel, r})
}

// History returns what the model reads: the items of the last Compact, and those of Remember since. The
// result is shared and must not be modified. It costs little while the session is in use.
func (s *Session) History(ctx context.Context) (items []json.RawMessage, err error) {
	err = s.use(ctx, func(journal.Log) error {
		s.logMu.Lock()
		defer s.logMu.Unlock()
		items = slices.Clip(s.items)
		if s.log == nil { // it was closed meanwhile
			return journal.ErrClosed
		}
		return nil
	})
	return items, err
}
