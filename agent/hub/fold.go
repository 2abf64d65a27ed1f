package hub

import (
	"reflect"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

// joinAtMost is how long the text of several chunks may become, as in agent.Joiner.
const joinAtMost = 2 << 10

// joinTexts returns the update of the first event, and of those behind it that are texts of the same message, and how many they
// are. Nothing is lost by that, and a client that has fallen behind reads one message instead of a hundred.
func joinTexts(events []event) (u acp.SessionUpdate, n int) {
	u = events[0].update
	first, ok := bareText(u)
	size := len(first)
	for n = 1; ok && n < len(events); n++ {
		next, bare := bareText(events[n].update)
		if size += len(next); !bare || size > joinAtMost || messageOf(u) != messageOf(events[n].update) {
			break
		}
	}
	if n == 1 {
		return u, 1
	}
	var text strings.Builder
	for _, e := range events[:n] {
		part, _ := bareText(e.update)
		text.WriteString(part)
	}
	return withText(u, text.String()), n
}

// bareText returns the text of a chunk of the agent that has nothing else.
func bareText(u acp.SessionUpdate) (string, bool) {
	var meta acp.Meta
	switch v := u.(type) {
	case *acp.AgentMessageChunk:
		meta = v.Meta
	case *acp.AgentThoughtChunk:
		meta = v.Meta
	default:
		return "", false
	}
	_, _, content := fold.Chunk(u)
	text := fold.PlainText(content)
	if text == nil || text.Meta != nil || meta != nil {
		return "", false
	}
	return text.Text, true
}

// shorten shortens the events of an attachment: chunks of a message become one, and of several events that change one thing,
// such as a tool call, its present state takes the place of the first. It returns the size too. The events that are given must
// not be used any more; the updates in them are not modified. s.mu must be held.
func (s *session) shorten(events []event) (short []event, size int) {
	at := make(map[any]int)                 // the index in short of what a later event changes
	texts := make(map[int]*strings.Builder) // of messages to which more than one chunk was joined
	for _, e := range events {
		if e.then != nil { // what was sent before the end of a turn stays before it
			clear(at)
		}
		key := keyOf(e.update)
		if i, known := at[key]; known && s.join(&short[i], e.update, i, texts) {
			continue
		}
		if key != nil {
			at[key] = len(short)
		}
		short = append(short, e)
	}
	for i := range short {
		e := &short[i]
		if text := texts[i]; text != nil {
			e.update = withText(e.update, text.String())
			e.size, e.joined = eventSize+text.Len(), true
		} else if _, text := plainText(e.update); !text {
			if u := s.both(e.update, e.update); u != nil { // which the session holds
				e.update, e.size = u, eventSize
			}
		}
		size += e.size
	}
	return short, size
}

// join adds the effect of a later update to an event with the same key. It reports whether the event has both then.
func (s *session) join(e *event, later acp.SessionUpdate, i int, texts map[int]*strings.Builder) bool {
	first, ok := plainText(e.update)
	second, too := plainText(later)
	switch {
	case ok && too:
		if texts[i] == nil {
			texts[i] = new(strings.Builder)
			texts[i].WriteString(first)
		}
		texts[i].WriteString(second)
	case messageOf(later).role != "":
		return false
	default:
		u := s.both(e.update, later)
		if u == nil {
			return false
		}
		e.update = u
	}
	return true
}

// keyOf returns what an update changes, or nil if it stands for itself.
func keyOf(u acp.SessionUpdate) any {
	switch v := u.(type) {
	case *acp.UserMessageChunk, *acp.AgentMessageChunk, *acp.AgentThoughtChunk:
		return messageOf(u)
	case *acp.ToolCall:
		return v.ToolCallID
	case *acp.ToolCallUpdate:
		return v.ToolCallID
	case *acp.Plan, *acp.UsageUpdate, *acp.AvailableCommandsUpdate, *acp.CurrentModeUpdate, *acp.ConfigOptionUpdate, *acp.PromptSuggestionsUpdate:
		return reflect.TypeOf(u) // a session has one
	}
	return nil
}

// both returns what stands for an update and a later one with the same key: the present state of what they change. It returns nil
// for a tool call with pieces of output in its metadata, of which each is shown.
func (s *session) both(first, later acp.SessionUpdate) acp.SessionUpdate {
	switch v := first.(type) {
	case *acp.ToolCall:
		if c := s.history.ToolCall(v.ToolCallID); !streams(c.Meta) {
			return c
		}
		return nil
	case *acp.ToolCallUpdate:
		if c := s.history.ToolCall(v.ToolCallID); !streams(c.Meta) {
			return fold.Announced(c)
		}
		return nil
	case *acp.UsageUpdate:
		return s.history.Usage()
	}
	return later
}

// streams reports whether metadata holds a piece of output, which must not replace an earlier one.
func streams(m acp.Meta) bool {
	return m["terminal_output"] != nil || m["terminal_output_delta"] != nil
}
