package permission

import (
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// The limits of what is remembered, because an agent may send any number of updates.
const (
	// callsAtMost is how many open tool calls of a session are remembered: the newest.
	callsAtMost = 256
	// callBytes is how many bytes they take. If there is only one, callMost is.
	callBytes = 32 << 20
	callMost  = 64 << 20
	// undecidedAtMost is how many sessions without a decision are remembered.
	undecidedAtMost = 1024
	// observedAtMost is how many bytes the tool calls of all sessions take.
	observedAtMost = 64 << 20
)

// calls remembers tool calls, the oldest first.
type calls struct {
	all   []*Tool
	bytes int
}

// The bytes that a tool call, a diff and a text take besides their letters.
const (
	toolBytes = 256
	diffBytes = 64
	textBytes = 16
)

func size(t *Tool) int {
	n := toolBytes + len(t.ID) + len(t.Name) + len(t.Kind) + len(t.Title) + len(t.Input)
	for _, d := range t.Diffs {
		n += diffBytes + len(d.Path)
		for _, text := range []*string{d.OldText, d.NewText} {
			if text != nil {
				n += len(*text)
			}
		}
	}
	for _, list := range [][]string{t.Paths, t.Patches} {
		for _, s := range list {
			n += textBytes + len(s)
		}
	}
	return n
}

func (c *calls) find(id string) *Tool {
	i := slices.IndexFunc(c.all, func(t *Tool) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return c.all[i]
}

func (c *calls) forget(id string) {
	c.all = slices.DeleteFunc(c.all, func(t *Tool) bool {
		if t.ID == id {
			c.bytes -= size(t)
		}
		return t.ID == id
	})
}

// change applies a change to a copy of what is remembered, because a question may have that.
func (c *calls) change(ch *thread.ToolCallChanged) {
	t := Tool{ID: ch.ID}
	if old := c.find(ch.ID); old != nil {
		t = *old
	}
	c.forget(ch.ID)
	if ch.Status != nil && slices.Contains([]string{thread.ToolCompleted, thread.ToolFailed, thread.ToolCancelled}, *ch.Status) {
		return // no more questions about it are expected
	}
	t.apply(ch)
	c.all = append(c.all, &t)
	c.bytes += size(&t)
	for len(c.all) > callsAtMost || c.bytes > callBytes && len(c.all) > 1 || c.bytes > callMost {
		c.forget(c.all[0].ID)
	}
}

// Observe records what the agent reports about a tool call, because a later question may
// contain only the id of the call. It must be called for each update of a tool call, in
// order.
func (s *Scope) Observe(sessionID string, ch thread.ToolCallChanged) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[sessionID] == nil && len(s.sessions) >= undecidedAtMost {
		s.forgetUndecidedLocked()
	}
	x := s.sessionOf(sessionID)
	if x == nil {
		return
	}
	before := x.calls.bytes
	x.calls.change(&ch)
	s.observed += x.calls.bytes - before
	for _, other := range s.sessions {
		if s.observed <= observedAtMost {
			return
		}
		if other != x {
			s.observed -= other.calls.bytes
			other.calls = calls{}
		}
	}
}

// forgetUndecidedLocked forgets a session in which nothing was decided, if there is one.
func (s *Scope) forgetUndecidedLocked() {
	for id, x := range s.sessions {
		if len(x.memory) == 0 && len(x.grants) == 0 {
			s.forgetLocked(id)
			return
		}
	}
}

// known returns t with what earlier updates reported about the call.
func (s *Scope) known(sessionID string, t *Tool) *Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.sessions[sessionID]
	if x == nil {
		return t
	}
	old := x.calls.find(t.ID)
	if t.ID == "" || old == nil {
		return t
	}
	merged := *old
	for p, v := range map[*string]string{&merged.Name: t.Name, &merged.Kind: t.Kind, &merged.Title: t.Title} {
		if v != "" {
			*p = v
		}
	}
	in := readInput(t.Input)
	if (t.Input == nil || in != nil && len(in) == 0) && len(t.Diffs)+len(t.Paths)+len(t.Patches) == 0 {
		return &merged // some agents send empty values, which must not hide the earlier ones
	}
	if t.Input != nil {
		merged.Input = t.Input
	}
	if t.Diffs != nil {
		merged.Diffs = t.Diffs
	}
	if t.Paths != nil {
		merged.Paths = t.Paths
	}
	if t.Patches != nil {
		merged.Patches = t.Patches
	}
	return &merged
}

// Apply calls [Scope.Observe] for an update of version 1 of the protocol that is about a
// tool call. Other updates are ignored.
func (s *Scope) Apply(id acp.SessionID, u acp.SessionUpdate) {
	if ch, ok := thread.ToolCallOf(u); ok {
		s.Observe(string(id), ch)
	}
}
