package kit

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/fold"
	"github.com/acpkit/go-sdk/internal/history"
)

// output sends and stores the updates of a session, both in the same order.
type output struct {
	s    *Session
	join *agent.Joiner

	mu      sync.Mutex // guards the fields below, and is held while an update is sent or stored
	ctx     context.Context
	thought bool          // the open message is a thought
	id      acp.MessageID // of the open message; empty if there is none
	open    *history.Open
	calls   map[acp.ToolCallID]*acp.ToolCall // those that have not ended
	plan    history.OnlyPlan                 // of a client without plans with ids
	unsent  error                            // why text of the turn could not be sent; it is stored nevertheless
	broken  error                            // why an update could not be stored; the turn then sends and stores nothing more
	owed    []record                         // what could not be stored, although the client has it; stored when there is room
}

func newOutput(s *Session) *output {
	o := &output{s: s, calls: make(map[acp.ToolCallID]*acp.ToolCall)}
	o.join, o.open = agent.NewJoiner(&o.mu, o.chunk), history.NewOpen(&o.mu, o.owe)
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
	var u acp.SessionUpdate = &acp.AgentMessageChunk{MessageID: o.id, Content: acp.Text(text)}
	if o.thought {
		u = &acp.AgentThoughtChunk{MessageID: o.id, Content: acp.Text(text)}
	}
	if err := o.s.client.Update(o.ctx, u); o.unsent == nil {
		o.unsent = err
	}
	o.open.Add(u)
	return nil
}

// end sends and stores the rest of the open message.
func (o *output) end() {
	if o.id == "" {
		return
	}
	_ = o.join.Flush()
	o.open.End()
	o.id = ""
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

// owe stores an update that the client has already. If it cannot be stored now, pay stores it later.
func (o *output) owe(u acp.SessionUpdate) {
	if err := o.event(u); err != nil && o.broken != nil { // failure returns the error
		o.owed = append(o.owed, record{journal.KindEvent, u})
	}
}

// pay stores what could not be stored before.
func (o *output) pay() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.owed) == 0 {
		return nil
	}
	err := o.s.append(o.owed...)
	if _, full := errors.AsType[*storageError](err); !full {
		o.owed = nil
	}
	return err
}

// close stores the end of a turn, and waits until all of the turn survives a loss of power.
func (o *output) close(ctx context.Context, end record) error {
	o.mu.Lock()
	if o.broken == nil {
		o.broken = o.s.append(end)
	}
	if err := o.broken; err != nil {
		o.owed = append(o.owed, end)
		o.mu.Unlock()
		return err
	}
	o.mu.Unlock()
	return o.s.sync(ctx)
}

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
	if err := o.s.client.Check(u); err != nil {
		return err
	}
	stored := u
	var call *acp.ToolCall
	switch v := u.(type) {
	case *acp.AgentMessageChunk, *acp.AgentThoughtChunk:
		_, id, content := fold.Chunk(u)
		u = fold.Rechunk(u, cmp.Or(id, newMessageID()), content)
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

// send sends an update in the form that the client supports: without its capability for plans as its only
// plan, and without that for suggestions none.
func (o *output) send(ctx context.Context, u acp.SessionUpdate) error {
	caps := o.s.conn.ClientCapabilities()
	if !caps.Has("plan") {
		u = o.plan.Of(u)
	}
	if _, suggests := u.(*acp.PromptSuggestionsUpdate); u == nil || suggests && !caps.Has("session.promptSuggestions") {
		return nil
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
		o.owe(withoutTerminals(c, nil))
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
