package permission

import (
	"encoding/json"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/fold"
)

// The limits of the remembered tool calls, because an agent may send any number of updates.
const (
	// callsAtMost is the number of open tool calls that are remembered for a session.
	callsAtMost = 256
	// callBytes is their maximum size in bytes, and callMost that of the only call of a session.
	callBytes = 32 << 20
	callMost  = 64 << 20
	// undecidedAtMost is the number of sessions without a decision that are remembered.
	undecidedAtMost = 1024
	// observedAtMost is the maximum size in bytes of the tool calls of all sessions.
	observedAtMost = 64 << 20
)

// calls remembers tool calls, the oldest first.
type calls struct {
	all   []*Tool
	bytes int
}

// The memory in bytes that a tool call, a diff and a text need in addition to their characters.
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
	for _, list := range [][]string{t.Paths, t.Patches, t.Texts} {
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

// change applies a change to a copy of the remembered call, because a question may share it.
func (c *calls) change(ch *thread.ToolCallChanged) {
	t := Tool{ID: ch.ID}
	if old := c.find(ch.ID); old != nil {
		t = *old
	}
	c.forget(ch.ID)
	if ch.Status != nil && fold.Final(*ch.Status) {
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
	merged.fields().Apply(fold.Call{Name: fold.Text(t.Name), Kind: fold.Text(t.Kind), Title: fold.Text(t.Title)})
	in := readInput(t.Input)
	if (t.Input == nil || in != nil && len(in) == 0) && len(t.Diffs)+len(t.Paths)+len(t.Patches)+len(t.Texts) == 0 {
		return &merged // some agents send empty values, which must not hide the earlier ones
	}
	if t.Input != nil {
		merged.Input = t.Input
	}
	fold.Set(&merged.Diffs, fold.List(t.Diffs))
	fold.Set(&merged.Paths, fold.List(t.Paths))
	fold.Set(&merged.Patches, fold.List(t.Patches))
	fold.Set(&merged.Texts, fold.List(t.Texts))
	return &merged
}

// Apply calls [Scope.Observe] for an update of version 1 of the protocol that is about a
// tool call. Other updates are ignored.
func (s *Scope) Apply(id acp.SessionID, u acp.SessionUpdate) {
	if ch, ok := thread.ToolCallOf(u); ok {
		s.Observe(string(id), ch)
	}
}

// Tool is the tool call that a question is about. All fields are claims of the agent.
type Tool struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Title string `json:"title,omitempty"`
	// Input is the input of the tool, any JSON; nil means unknown.
	Input json.RawMessage `json:"input,omitempty"`
	// Diffs lists the changes in its content. Paths lists its locations.
	Diffs []Diff   `json:"diffs,omitempty"`
	Paths []string `json:"paths,omitempty"`
	// Patches lists the changes in its content that are patches in the format of git. Diffs
	// has an entry without texts for each file of a patch.
	Patches []string `json:"patches,omitempty"`
	// Texts lists the texts in its content.
	Texts []string `json:"texts,omitempty"`
}

// Diff is a change of a file, as claimed by the agent.
type Diff struct {
	Path string `json:"path"`
	// OldText and NewText are the whole text before and after the change; nil if there is none
	// or it is unknown.
	OldText *string `json:"oldText,omitempty"`
	NewText *string `json:"newText,omitempty"`
}

// ToolOf returns the tool call of a question that contains the change ch and no other details.
func ToolOf(ch thread.ToolCallChanged) *Tool {
	t := &Tool{ID: ch.ID}
	t.apply(&ch)
	return t
}

func (t *Tool) fields() fold.Call {
	return fold.Call{Name: &t.Name, Kind: &t.Kind, Title: &t.Title, RawInput: &t.Input}
}

// apply changes the tool call. It copies a list before it changes the list, because a question may
// share it.
func (t *Tool) apply(ch *thread.ToolCallChanged) {
	t.fields().Apply(fold.Call{Name: ch.Name, Kind: ch.Kind, Title: ch.Title, RawInput: ch.RawInput})
	if ch.Content != nil {
		t.Diffs, t.Patches, t.Texts = []Diff{}, []string{}, []string{}
		t.add(*ch.Content)
	}
	if ch.Locations != nil {
		t.Paths = []string{}
		for _, l := range *ch.Locations {
			t.Paths = append(t.Paths, l.Path)
		}
	}
	t.add(ch.Append)
}

func (t *Tool) add(content []thread.ToolContent) {
	t.Diffs, t.Patches, t.Texts = slices.Clip(t.Diffs), slices.Clip(t.Patches), slices.Clip(t.Texts)
	for _, c := range content {
		if c.Block != nil && c.Block.Text != "" {
			t.Texts = append(t.Texts, c.Block.Text)
		}
		if c.Diff == nil {
			continue
		}
		for _, change := range c.Diff.Changes {
			for _, name := range changed(&change) {
				t.Diffs = append(t.Diffs, Diff{name, c.Diff.OldText, c.Diff.NewText})
			}
		}
		if c.Diff.Patch != "" {
			t.Patches = append(t.Patches, c.Diff.Patch)
		}
	}
}

// changed returns the files that a change creates, changes or removes. For a change of an unknown
// kind it returns the files that the change names, so that rules that deny or ask see them.
func changed(c *thread.FileChange) []string {
	switch {
	case c.Operation == thread.FileMove:
		return []string{c.OldPath, c.Path}
	case c.Raw == nil:
		return []string{c.Path}
	}
	var read struct {
		OldPath string `json:"oldPath"`
		Path    string `json:"path"`
	}
	if json.Unmarshal(c.Raw, &read) != nil {
		return nil
	}
	return slices.DeleteFunc([]string{read.OldPath, read.Path}, func(name string) bool { return name == "" })
}
