package hub

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/history"
)

// kindHub is the kind of the records that only a hub reads.
const kindHub journal.Kind = "hub"

// note is the data of a record of kindHub. One member is set.
type note struct {
	// Agent is the id of the session at the agent.
	Agent acp.SessionID `json:"agent,omitempty"`
	// Settings are the modes and options as the agent last reported them.
	Settings *settings `json:"settings,omitempty"`
	// Answer is the answer to a question, with who gave it.
	Answer *answered `json:"answer,omitempty"`
	// Cancelled is the principal that cancelled the turn; empty if the hub did.
	Cancelled *string `json:"cancelled,omitempty"`
}

type settings struct {
	Modes   *acp.SessionModeState     `json:"modes,omitempty"`
	Options []acp.SessionConfigOption `json:"options,omitempty"`
}

type answered struct {
	ToolCall  acp.ToolCallID         `json:"toolCallId,omitempty"`
	Option    acp.PermissionOptionID `json:"optionId,omitempty"` // of a permission
	Action    string                 `json:"action,omitempty"`   // of a form
	Principal string                 `json:"principal"`          // empty if the hub answered, after Detached.Question
	ByHub     bool                   `json:"byHub,omitempty"`
}

// maxUnstored is how many bytes of records may wait for room in the store. Then the turn is cancelled.
const maxUnstored = 8 << 20

// recorder stores what happens in a session, a record a message and not one a chunk. The mutex of the
// session must be held for all methods.
type recorder struct {
	session  *session
	open     *history.Open
	unstored []journal.Record // that the store did not take
	size     int              // of unstored, in bytes
	err      error            // of the last attempt to store
	title    string           // as the store has it
}

// event stores an update of the conversation, and returns about how many bytes of memory it takes beside the history, which
// holds prompts and what is not text as they are.
func (r *recorder) event(u acp.SessionUpdate) (size int) {
	text, role := textOf(u), messageOf(u).role
	if !r.open.Add(u) {
		size = r.record(journal.KindEvent, u)
	}
	switch {
	case role == "user" || role != "" && text == nil:
		return eventSize
	case text != nil:
		size = len(text.Text)
	}
	return eventSize + size
}

func (r *recorder) note(n note) { r.open.End(); r.record(kindHub, &n) }

func (r *recorder) turn(t history.Turn) { r.open.End(); r.record(journal.KindTurn, &t) }

// begin stores a prompt, and then that its turn begins. So one whose outcome in the store is not known is not shown to a later
// client either. What the store does not take is not tried again.
func (r *recorder) begin(asked, begun history.Turn) error {
	r.open.End()
	err := r.store() // what was before
	for _, t := range []history.Turn{asked, begun} {
		if err == nil {
			encoded, _ := history.Encode(&t) // its prompt is encoded already
			_, err = r.session.log.Append(journal.Record{Kind: journal.KindTurn, Data: encoded})
		}
	}
	r.session.updated.Store(time.Now().UnixMicro())
	if r.err = err; hasEnded(err) && !r.session.closed {
		r.session.lost()
	}
	return err
}

// record stores a record, and returns the length of its data.
func (r *recorder) record(kind journal.Kind, data any) int {
	encoded, err := history.Encode(data)
	if err != nil { // an update that passed our own checks can be encoded
		r.session.hub.log.Error("a record of a session could not be encoded", "error", err)
		return 0
	}
	now := time.Now()
	r.session.updated.Store(now.UnixMicro())
	r.unstored = append(r.unstored, journal.Record{Time: now, Kind: kind, Data: encoded})
	r.size += len(encoded)
	_ = r.store() // what fails is tried again
	return len(encoded)
}

// store stores what is not stored, the title of the session too, and returns why that fails. What the store does not take is kept
// for the next time.
func (r *recorder) store() error {
	s := r.session
	r.err = nil
	if len(r.unstored) > 0 {
		if _, r.err = s.log.Append(r.unstored...); r.err == nil {
			r.unstored, r.size = nil, 0
		}
	}
	if title := s.title; r.err == nil && title != r.title {
		if r.err = s.log.SetMeta(func(m *journal.Meta) { m.Title = title }); r.err == nil {
			r.title = title
		}
	}
	switch {
	case r.err == nil || s.closed:
	case hasEnded(r.err):
		s.lost()
	case r.size > maxUnstored:
		s.full()
	}
	return r.err
}

// hasEnded reports whether an error of a log means that it takes nothing more.
func hasEnded(err error) bool {
	_, damaged := errors.AsType[*journal.DamagedError](err)
	return damaged || errors.Is(err, journal.ErrClosed)
}

// restore reads a record. s.mu must be held.
func (s *session) restore(rec journal.Record) error {
	u, err := s.history.Restore(rec)
	s.ids.stored(u)
	if err == nil && rec.Kind == kindHub {
		var n note
		err = json.Unmarshal(rec.Data, &n)
		s.agentID = cmp.Or(n.Agent, s.agentID)
		if n.Settings != nil {
			s.settings = *n.Settings
		}
	}
	if err != nil {
		return fmt.Errorf("hub: a record of the session cannot be read: %w", err)
	}
	return nil
}
