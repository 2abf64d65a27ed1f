package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// Turn records the begin or the end of a turn.
type Turn struct {
	State      string            `json:"state"`
	StopReason acp.StopReason    `json:"stopReason,omitempty"` // empty after an error
	Principal  string            `json:"principal,omitempty"`  // who has sent the prompt, at a hub
	Prompt     []json.RawMessage `json:"prompt,omitempty"`     // the updates of a prompt that is asked
}

// The states of a Turn. A turn without an end was interrupted.
const (
	Asked       = "asked" // the person sees its prompt only if the turn begins: the agent has not got it yet
	Begun       = "begun"
	Ended       = "ended"
	Interrupted = "interrupted" // written when the session is opened again
)

// Encode encodes the data of a record. It calls MarshalJSON directly, because json.Marshal would check the
// result again.
func Encode(data any) ([]byte, error) {
	if u, ok := data.(json.Marshaler); ok {
		return u.MarshalJSON()
	}
	return json.Marshal(data)
}

// Restore adds a record of the kinds event and turn, and ignores those of other kinds. It returns the
// update of an event, or the last one of the prompt of a turn that begins.
func (h *History) Restore(r journal.Record) (u acp.SessionUpdate, err error) {
	switch r.Kind {
	case journal.KindEvent:
		if u, err = acp.UnmarshalSessionUpdate(r.Data); err == nil {
			h.Add(u)
		}
	case journal.KindTurn:
		var t Turn
		if err = json.Unmarshal(r.Data, &t); err != nil {
			return nil, err
		}
		prompt := h.asked
		if h.asked = t.Prompt; t.State == Asked {
			return nil, nil
		}
		h.unended = t.State == Begun
		h.Turn()
		for i := 0; h.unended && err == nil && i < len(prompt); i++ {
			if u, err = acp.UnmarshalSessionUpdate(prompt[i]); err == nil {
				h.Add(u)
			}
		}
	}
	return u, err
}

// Unended reports whether the last turn that was restored has no end.
func (h *History) Unended() bool { return h.unended }

// Interrupt returns the last update of an open call, whose agent has come to an end: "was interrupted".
func Interrupt(c *acp.ToolCall, end string) *acp.ToolCallUpdate {
	text := "The agent " + end + " while this call was running: it may have taken effect."
	if c.Status != acp.ToolCallStatusInProgress {
		text = "The agent " + end + " before this call ran."
	}
	return &acp.ToolCallUpdate{ToolCallID: c.ToolCallID, Status: acp.ToolCallStatusFailed, Content: append(slices.Clip(c.Content), acp.ToolText(text))}
}

// StoreError converts an error of a store into one for a client.
func StoreError(err error) *rpcerr.RequestError {
	text := "the sessions cannot be stored or read"
	if _, ok := errors.AsType[*journal.HeldError](err); ok {
		return rpcerr.InvalidRequest(nil).WithDetail("this session is open elsewhere, maybe in another process: close it there").WithCause(err)
	}
	if damaged, ok := errors.AsType[*journal.DamagedError](err); ok {
		text = "the session cannot be read: " + damaged.Damage.String()
	} else if errors.Is(err, journal.ErrNewer) {
		text = "a newer version of this agent wrote the session: it can be read only"
	} else if errno, ok := errors.AsType[syscall.Errno](err); ok {
		text += ": " + errno.Error()
	}
	return rpcerr.InternalError(nil).WithDetail(text).WithCause(err)
}

// Failed converts an error of a store into one for the client whose request has the context ctx. If ctx is done, that is
// the reason.
func Failed(ctx context.Context, err error) error { return cmp.Or(ctx.Err(), error(StoreError(err))) }

// List responds to session/list with the sessions of an owner that show lets through.
func List(ctx context.Context, s journal.Store, owner string, req *acp.ListSessionsRequest, show func(journal.Meta) bool) (*acp.ListSessionsResponse, error) {
	if req.Cwd != "" && !wire.IsAbsPath(req.Cwd) {
		return nil, rpcerr.InvalidParams(nil).WithFields(rpcerr.FieldError{Path: "cwd", Message: "must be an absolute path"})
	}
	page, next, err := s.List(ctx, journal.Query{Owner: owner, Cwd: wire.TrimPath(req.Cwd), Cursor: req.Cursor})
	switch {
	case errors.Is(err, journal.ErrCursor):
		return nil, rpcerr.InvalidParams(map[string]any{"cursor": req.Cursor}).WithDetail("this cursor is not from this list").WithCause(err)
	case err != nil:
		return nil, Failed(ctx, err)
	}
	res := &acp.ListSessionsResponse{NextCursor: next}
	for _, m := range page {
		if !show(m) {
			continue
		}
		if m.Damage != "" {
			m.Title = safetext.Label("[damaged] " + m.Damage)
		}
		res.Sessions = append(res.Sessions, acp.SessionInfo{
			SessionID: acp.SessionID(m.ID), Cwd: m.Cwd, AdditionalDirectories: m.AdditionalDirectories,
			Title: m.Title, UpdatedAt: m.Updated.Format(time.RFC3339),
		})
	}
	return res, nil
}
