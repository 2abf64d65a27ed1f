package kit

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// recordTime is how long text that was sent waits until it is stored, while its message is open.
const recordTime = time.Second

// output sends and stores what a session says, in the same order.
type output struct {
	s    *Session
	join *endpoint.Joiner

	mu      sync.Mutex // guards all below, and is held while an update is sent or stored
	ctx     context.Context
	thought bool          // the open message is a thought
	id      acp.MessageID // of the open message; empty if there is none
	sent    []byte        // text of the open message that is not stored yet
	late    *time.Timer   // stores it; nil if there is none
	err     error         // of what could not be sent or stored
	calls   map[acp.ToolCallID]*acp.ToolCall
}

func newOutput(s *Session) *output {
	o := &output{s: s, calls: make(map[acp.ToolCallID]*acp.ToolCall)}
	o.join = endpoint.NewJoiner(&o.mu, o.chunk)
	return o
}

// write adds to the open message, or begins one.
func (o *output) write(ctx context.Context, thought bool, delta string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if delta == "" {
		return o.err
	}
	if o.id != "" && o.thought != thought {
		o.end()
	}
	o.ctx = ctx
	if o.id == "" {
		o.id, o.thought = acp.MessageID("msg_"+rand.Text()), thought
	}
	_ = o.join.Add(delta) // its error is in o.err
	return o.err
}

// chunk sends a part of the open message. What cannot be sent is stored all the same.
func (o *output) chunk(text string) error {
	if err := o.s.client.Update(o.ctx, o.update(text)); err != nil && o.err == nil {
		o.err = err
	}
	o.sent = append(o.sent, text...)
	if o.late == nil {
		o.late = time.AfterFunc(recordTime, o.record) // ends by itself after recordTime
	}
	return nil
}

func (o *output) update(text string) acp.SessionUpdate {
	if o.thought {
		return &acp.AgentThoughtChunk{MessageID: o.id, Content: acp.Text(text)}
	}
	return &acp.AgentMessageChunk{MessageID: o.id, Content: acp.Text(text)}
}

// record stores what was sent of a message that is still open.
func (o *output) record() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.late != nil {
		o.late = nil
		o.keep()
	}
}

func (o *output) keep() {
	// A chunk may end inside a rune only if the text is not UTF-8; it is stored as it is shown.
	if len(o.sent) > 0 {
		o.event(o.update(strings.ToValidUTF8(string(o.sent), string(utf8.RuneError))))
		o.sent = o.sent[:0]
	}
}

// end sends and stores the rest of the open message.
func (o *output) end() {
	if o.id == "" {
		return
	}
	_ = o.join.Flush()
	if o.late != nil {
		o.late.Stop()
		o.late = nil
	}
	o.keep()
	o.id = ""
	if cap(o.sent) > 64<<10 {
		o.sent = nil
	}
}

// event stores an update.
func (o *output) event(u acp.SessionUpdate) {
	if err := o.s.append(record{journal.KindEvent, u}); err != nil && o.err == nil {
		o.err = err
	}
}

// flush ends the open message.
func (o *output) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
	return o.err
}

// post sends an update behind the open message, and stores it before if it is one of those that
// session/load shows.
func (o *output) post(ctx context.Context, u acp.SessionUpdate) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
	switch v := u.(type) {
	case *acp.AgentMessageChunk:
		c := *v
		if c.MessageID == "" {
			c.MessageID = acp.MessageID("msg_" + rand.Text())
		}
		u = &c
		o.event(u)
	case *acp.AgentThoughtChunk:
		c := *v
		if c.MessageID == "" {
			c.MessageID = acp.MessageID("msg_" + rand.Text())
		}
		u = &c
		o.event(u)
	case *acp.Plan, *acp.UsageUpdate:
		o.event(u)
	case *acp.ToolCall:
		c := *v
		o.calls[c.ToolCallID] = &c
		o.call(&c)
	case *acp.ToolCallUpdate:
		c := o.calls[v.ToolCallID]
		if c == nil {
			c = &acp.ToolCall{ToolCallID: v.ToolCallID}
			o.calls[v.ToolCallID] = c
		}
		before := c.Status
		merge(c, v)
		if c.Status != before {
			o.call(c)
		}
	}
	if o.err != nil {
		return o.err
	}
	return o.s.client.Update(ctx, u)
}

// call stores a tool call. One that has ended is forgotten.
func (o *output) call(c *acp.ToolCall) {
	o.event(c)
	if ended(c) {
		delete(o.calls, c.ToolCallID)
	}
}

func ended(c *acp.ToolCall) bool {
	return c.Status == acp.ToolCallStatusCompleted || c.Status == acp.ToolCallStatusFailed
}

// merge changes a tool call as the client does.
func merge(c *acp.ToolCall, u *acp.ToolCallUpdate) {
	if u.Kind != "" {
		c.Kind = u.Kind
	}
	if u.Status != "" {
		c.Status = u.Status
	}
	if u.Title != "" {
		c.Title = u.Title
	}
	if u.Name != "" {
		c.Name = u.Name
	}
	if u.Content != nil {
		c.Content = u.Content
	}
	if u.Locations != nil {
		c.Locations = u.Locations
	}
	if u.RawInput != nil {
		c.RawInput = u.RawInput
	}
	if u.RawOutput != nil {
		c.RawOutput = u.RawOutput
	}
}

// settle ends what a turn has left open.
func (o *output) settle(ctx context.Context, why string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
	for _, id := range slices.Sorted(maps.Keys(o.calls)) {
		c := o.calls[id]
		u := &acp.ToolCallUpdate{ToolCallID: id, Status: acp.ToolCallStatusFailed, Content: append(c.Content[:len(c.Content):len(c.Content)], acp.ToolText(why))}
		merge(c, u)
		o.call(c)
		if err := o.s.client.Update(ctx, u); err != nil && o.err == nil {
			o.err = err
		}
	}
	return o.err
}

// reset forgets the error of a turn that has ended.
func (o *output) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = nil
}
