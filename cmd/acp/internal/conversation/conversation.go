// Package conversation turns the thread of a session into what a page draws of it, and has the modules of the
// pages that draw it: those of acp view and acp serve show the same.
package conversation

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/client/thread"
)

//go:embed page
var page embed.FS

// Files returns the files of a page together with those that all pages share, which win.
func Files(own fs.FS) http.Handler {
	shared, mine := http.FileServerFS(sub(page)), http.FileServerFS(sub(own))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := fs.Stat(page, "page"+r.URL.Path); err == nil && r.URL.Path != "/" {
			shared.ServeHTTP(w, r)
			return
		}
		mine.ServeHTTP(w, r)
	})
}

// sub returns the folder page of files.
func sub(files fs.FS) fs.FS {
	in, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // unreachable: the folder is embedded
	}
	return in
}

// SetHeaders sets the headers of a page, which allow it to load its own files and to reach its own server.
func SetHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// Shape says how much of a conversation a page gets, and in which form. Of a longer text the middle is left out.
type Shape struct {
	Text     int  // bytes of a text
	Bytes    int  // of the items of a State, without the last of them
	Markdown bool // messages of the agent have HTML
}

const (
	// Items is how many items a page gets at once.
	Items = 200
	// listAtMost is how many elements of a list it gets: the last ones.
	listAtMost = 100
	// shownOfTitle is how many bytes of the title of a tool call it gets.
	shownOfTitle = 2000
)

// State is what a page draws. Items is a part of the conversation.
type State struct {
	Whole     bool                `json:"whole,omitempty"` // it replaces what the page has
	Total     int                 `json:"total"`
	Items     []Item              `json:"items"`
	Terminals map[string]terminal `json:"terminals"`
	Rest      json.RawMessage     `json:"rest,omitempty"` // the snapshot without items and terminals
}

// Item is an item at its place in the conversation.
type Item struct {
	Place int             `json:"place"`
	Kind  string          `json:"item"`
	Value json.RawMessage `json:"value"`
	HTML  string          `json:"html,omitempty"` // of a message in Markdown
}

type terminal struct {
	Command string       `json:"command"`
	Exit    *thread.Exit `json:"exit"`
	Output  string       `json:"output"`
}

// Newest returns the last items of a snapshot, at most n, with all else.
func (s *Shape) Newest(now *thread.Snapshot, n int) *State {
	state := s.Before(now, now.Items.Len(), n)
	state.Whole = true
	state.Rest = s.rest(now)
	return state
}

// Before returns the items of a snapshot before a place, at most n.
func (s *Shape) Before(now *thread.Snapshot, place, n int) *State {
	state := s.state(now)
	room := s.Bytes
	for i := min(place, state.Total) - 1; i >= max(0, place-n) && room > 0; i-- {
		room -= s.add(state, now, i)
	}
	slices.Reverse(state.Items)
	return state
}

// Changed returns what has changed in a snapshot. Of the items these are the ones from a place on.
func (s *Shape) Changed(now *thread.Snapshot, changes []thread.Change, from int) *State {
	state := s.state(now)
	places := map[int]bool{}
	for _, c := range changes {
		switch c.Part {
		case thread.PartAll:
			return s.Newest(now, Items)
		case thread.PartItem:
			places[c.Index] = true
		case thread.PartTerminal:
			for i := from; i < state.Total; i++ {
				if shows(now.Items.At(i), now.Terminals.At(c.Index).ID) {
					places[i] = true
				}
			}
		default:
			state.Rest = s.rest(now)
		}
	}
	for i := from; i < state.Total; i++ {
		if places[i] {
			s.add(state, now, i)
		}
	}
	return state
}

func (s *Shape) state(now *thread.Snapshot) *State {
	return &State{Total: now.Items.Len(), Items: []Item{}, Terminals: map[string]terminal{}}
}

// shows reports whether an item is a tool call with a terminal.
func shows(item thread.Item, id string) bool {
	call, ok := item.(*thread.ToolCall)
	if !ok {
		return false
	}
	for _, c := range call.Content.All() {
		if c.TerminalID == id {
			return true
		}
	}
	return false
}

// add adds the item at a place, with its terminals, and returns how many bytes these are.
func (s *Shape) add(state *State, now *thread.Snapshot, place int) int {
	item := now.Items.At(place)
	shown := Item{Place: place, Kind: strings.TrimPrefix(fmt.Sprintf("%T", item), "*thread.")}
	var value any = item
	size := 0
	switch v := item.(type) {
	case *thread.Message:
		if s.Markdown && (v.Role == thread.RoleAgent || v.Role == thread.RoleThought) {
			shown.HTML = markdown(v)
		}
		left, content := newest(v.Content)
		for i := range content {
			content[i].Text, content[i].Data = s.cut(content[i].Text), ""
		}
		if left != "" {
			content = slices.Insert(content, 0, thread.Block{Type: left})
		}
		value = message{v, content}
	case *thread.ToolCall:
		content := []toolContent{}
		left, last := newest(v.Content)
		if left != "" {
			content = append(content, toolContent{thread.ToolContent{Type: left}, nil})
		}
		for _, c := range last {
			content = append(content, toolContent{c, shownDiff(c.Diff)})
			t := now.Terminal(c.TerminalID)
			if _, known := state.Terminals[c.TerminalID]; t == nil || known {
				continue
			}
			tail := t.Output[max(0, len(t.Output)-s.Text):]
			size += len(tail)
			state.Terminals[t.ID] = terminal{s.cut(t.Command), t.Exit, string(bytes.ToValidUTF8(tail, []byte("\uFFFD")))}
		}
		value = toolCall{v, cut(shownOfTitle, v.Title), content, s.raw(v.RawInput), s.raw(v.RawOutput)}
	}
	shown.Value = s.shorten(value)
	state.Items = append(state.Items, shown)
	return size + len(shown.Value) + len(shown.HTML)
}

// message is a message without the data of images and sounds.
type message struct {
	*thread.Message
	Content []thread.Block `json:"content,omitempty"`
}

// toolCall is a tool call whose changes of files are lines. What is cut from it is not looked at: a call with
// much of everything may change at any time.
type toolCall struct {
	*thread.ToolCall
	Title     string          `json:"title,omitempty"`
	Content   []toolContent   `json:"content,omitempty"`
	RawInput  json.RawMessage `json:"rawInput,omitempty"`
	RawOutput json.RawMessage `json:"rawOutput,omitempty"`
}

// newest returns the last values of a list, and a text about those before them.
func newest[T any](list thread.List[T]) (left string, last []T) {
	n := list.Len()
	if more := n - listAtMost; more > 0 {
		left = earlier(more)
	}
	for i := max(0, n-listAtMost); i < n; i++ {
		last = append(last, list.At(i))
	}
	return left, last
}

func earlier(n int) string { return fmt.Sprintf("%d earlier ones are left out", n) }

// raw returns JSON of the agent, or its text without the middle if it is long.
func (s *Shape) raw(value json.RawMessage) json.RawMessage {
	if len(value) <= s.Text {
		return value
	}
	b, _ := json.Marshal(cut(s.Text, value)) // a text
	return b
}

type toolContent struct {
	thread.ToolContent
	Diff *diff `json:"diff,omitempty"`
}

// rest returns all of a snapshot but its items and terminals.
func (s *Shape) rest(now *thread.Snapshot) json.RawMessage {
	rest := *now
	rest.Items, rest.Terminals = thread.List[thread.Item]{}, thread.List[*thread.Terminal]{}
	return s.shorten(&rest)
}

// shorten returns a value as JSON in which the middle of long texts and the beginning of long lists are left out.
func (s *Shape) shorten(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err == nil && len(b) > s.Text {
		var read any
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.UseNumber()
		_ = dec.Decode(&read) // it was just written
		b, err = json.Marshal(s.shortened(read))
	}
	if err != nil {
		b, _ = json.Marshal(err.Error()) // which is a text
	}
	return b
}

func (s *Shape) shortened(v any) any {
	switch v := v.(type) {
	case string:
		return s.cut(v)
	case []any:
		if more := len(v) - listAtMost; more > 1 { // one more is what newest adds
			left := earlier(more)
			v = slices.Insert(v[more:], 0, any(map[string]any{"type": left, "content": left}))
		}
		for i := range v {
			v[i] = s.shortened(v[i])
		}
		return v
	case map[string]any:
		for name := range v {
			v[name] = s.shortened(v[name])
		}
	}
	return v
}

// cut returns a text without its middle if it is long. A user interface shows the end of a long message.
func (s *Shape) cut(text string) string { return cut(s.Text, text) }

func cut[T string | json.RawMessage](limit int, text T) string {
	head := limit / 4
	tail := len(text) - (limit - head)
	if tail <= head+100 { // or a text that was cut would be cut again
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:head]), "") + fmt.Sprintf("\n… %d bytes …\n", tail-head) + strings.ToValidUTF8(string(text[tail:]), "")
}
