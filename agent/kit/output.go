package kit

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/fold"
	"github.com/acpkit/go-sdk/internal/validate"
)

// Text of an open message is stored at most recordTime after it was sent, or when more than
// recordSize bytes are not stored yet.
const (
	recordTime = time.Second
	recordSize = 64 << 10

	keptBuffer = 4 << 10 // bytes; a larger text buffer is released when its message ends
)

// output sends and stores the updates of a session, both in the same order.
type output struct {
	s    *Session
	join *endpoint.Joiner

	mu      sync.Mutex // guards the fields below, and is held while an update is sent or stored
	ctx     context.Context
	thought bool                             // the open message is a thought
	id      acp.MessageID                    // of the open message; empty if there is none
	sent    []byte                           // text of the open message that is not stored yet
	waiting bool                             // a timer will call record
	calls   map[acp.ToolCallID]*acp.ToolCall // those that have not ended
	plan    acp.PlanID                       // that a client without plans with ids has
	unsent  error                            // why text of the turn could not be sent; it is stored nevertheless
	broken  error                            // why an update could not be stored; the turn then sends and stores nothing more
}

func newOutput(s *Session) *output {
	o := &output{s: s, calls: make(map[acp.ToolCallID]*acp.ToolCall)}
	o.join = endpoint.NewJoiner(&o.mu, o.chunk)
	return o
}

// write adds a delta to the open message, or begins a message.
func (o *output) write(ctx context.Context, thought bool, delta string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if delta == "" || o.lost(ctx) {
		return o.failure()
	}
	if o.id != "" && o.thought != thought {
		o.end()
	}
	o.ctx = ctx
	if o.id == "" {
		o.id, o.thought = newMessageID(), thought
	}
	_ = o.join.Add(delta) // chunk returns no error
	return o.failure()
}

func newMessageID() acp.MessageID { return acp.MessageID("msg_" + rand.Text()) }

// lost reports whether anything of the turn could not be stored.
func (o *output) lost(ctx context.Context) bool {
	if o.broken == nil && ctx.Err() != nil {
		if err, ok := errors.AsType[*storageError](context.Cause(ctx)); ok {
			o.broken = err
		}
	}
	return o.broken != nil
}

// failure returns an error if the turn has to end.
func (o *output) failure() error { return cmp.Or(o.broken, o.unsent) }

// chunk sends a part of the open message.
func (o *output) chunk(text string) error {
	if o.lost(o.ctx) {
		return nil
	}
	if err := o.s.client.Update(o.ctx, o.update(text)); o.unsent == nil {
		o.unsent = err
	}
	o.sent = append(o.sent, text...)
	if len(o.sent) > recordSize {
		o.keep()
	} else if !o.waiting {
		o.waiting = true
		time.AfterFunc(recordTime, o.record) // ends by itself after recordTime
	}
	return nil
}

func (o *output) update(text string) acp.SessionUpdate {
	if o.thought {
		return &acp.AgentThoughtChunk{MessageID: o.id, Content: acp.Text(text)}
	}
	return &acp.AgentMessageChunk{MessageID: o.id, Content: acp.Text(text)}
}

// record stores the text of the open message that was sent and is not stored yet.
func (o *output) record() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = false
	o.keep()
}

func (o *output) keep() {
	if len(o.sent) > 0 {
		u := o.update(string(o.sent))
		o.sent = o.sent[:0]
		_ = o.event(u) // failure returns its error
	}
}

// end sends and stores the rest of the open message.
func (o *output) end() {
	if o.id == "" {
		return
	}
	_ = o.join.Flush()
	o.keep()
	o.id = ""
	if cap(o.sent) > keptBuffer {
		o.sent = nil
	}
}

// event stores an update. If it fails because the update is invalid, later updates can still be
// stored.
func (o *output) event(u acp.SessionUpdate) error {
	if o.broken != nil {
		return o.broken
	}
	err := o.s.append(record{journal.KindEvent, u})
	if _, full := errors.AsType[*storageError](err); full {
		o.broken = err
	}
	return err
}

// flush ends the open message.
func (o *output) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
	return o.failure()
}

// post ends the open message and sends an update. If session/load shows updates of this type, post
// stores the update before it sends it. An update of a tool call that has ended is ignored. In the
// stored update, texts replace a terminal.
func (o *output) post(ctx context.Context, u acp.SessionUpdate, texts ...acp.ToolCallContent) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
	if validate.Struct(&acp.SessionNotification{SessionID: o.s.id, Update: u}, true) != nil {
		return o.s.client.Update(ctx, u) // returns the error, and sends nothing
	}
	stored := u
	var call *acp.ToolCall
	switch v := u.(type) {
	case *acp.AgentMessageChunk:
		u = &acp.AgentMessageChunk{MessageID: cmp.Or(v.MessageID, newMessageID()), Content: v.Content, Meta: v.Meta}
		stored = u
	case *acp.AgentThoughtChunk:
		u = &acp.AgentThoughtChunk{MessageID: cmp.Or(v.MessageID, newMessageID()), Content: v.Content, Meta: v.Meta}
		stored = u
	case *acp.Plan, *acp.PlanUpdate, *acp.PlanRemoved, *acp.UsageUpdate:
	case *acp.ToolCall:
		call = new(*v)
		stored = call
	case *acp.ToolCallUpdate:
		before := o.calls[v.ToolCallID]
		if before == nil {
			return o.failure()
		}
		call = new(*before)
		fold.Update(call, v)
		if stored = withoutTerminals(call, texts); call.Status == before.Status {
			stored = nil
		}
	default:
		stored = nil
	}
	if o.lost(ctx) {
		return o.broken
	}
	if stored != nil {
		if err := o.event(stored); err != nil {
			return err
		}
	}
	if call != nil {
		o.hold(call)
	}
	return o.send(ctx, u)
}

// send sends an update in the form that the client supports. Without its capability for plans, the
// entries of the latest plan are its only plan.
func (o *output) send(ctx context.Context, u acp.SessionUpdate) error {
	if !o.s.conn.ClientCapabilities().Has("plan") {
		switch v := u.(type) {
		case *acp.PlanUpdate:
			items, ok := v.Plan.(*acp.PlanItems)
			if !ok {
				return nil
			}
			o.plan, u = items.PlanID, &acp.Plan{Entries: items.Entries, Meta: v.Meta}
		case *acp.PlanRemoved:
			if o.plan != v.PlanID {
				return nil
			}
			o.plan, u = "", &acp.Plan{Entries: []acp.PlanEntry{}}
		}
	}
	return o.s.client.Update(ctx, u)
}

// withoutTerminals returns a tool call with texts in place of its terminals.
func withoutTerminals(c *acp.ToolCall, texts []acp.ToolCallContent) *acp.ToolCall {
	isTerminal := func(x acp.ToolCallContent) bool { _, ok := x.(*acp.Terminal); return ok }
	i := slices.IndexFunc(c.Content, isTerminal)
	if i < 0 {
		return c
	}
	short := new(*c)
	short.Content = slices.DeleteFunc(slices.Insert(slices.Clone(c.Content), i, texts...), isTerminal)
	return short
}

// hold remembers the state of a tool call until the call has ended.
func (o *output) hold(c *acp.ToolCall) {
	if fold.Final(c.Status) {
		delete(o.calls, c.ToolCallID)
	} else {
		o.calls[c.ToolCallID] = c
	}
}

// settle ends the open message and fails the open tool calls of a turn.
func (o *output) settle(ctx context.Context, why string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
	for _, id := range slices.Sorted(maps.Keys(o.calls)) {
		c := o.calls[id]
		u := &acp.ToolCallUpdate{ToolCallID: id, Status: acp.ToolCallStatusFailed, Content: append(slices.Clip(c.Content), acp.ToolText(why))}
		fold.Update(c, u)
		_ = o.event(withoutTerminals(c, nil)) // failure returns its error
		o.hold(c)
		if err := o.s.client.Update(ctx, u); o.unsent == nil {
			o.unsent = err
		}
	}
	return o.failure()
}

// begin prepares the next turn: it ends a message that was sent between the turns, and clears the
// errors of the previous turn.
func (o *output) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
	o.unsent, o.broken = nil, nil
}
