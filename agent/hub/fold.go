package hub

import (
	"reflect"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
	"github.com/acpkit/go-sdk/internal/history"
)

// event is what an attachment gets: an update, a question to ask, or a function to call when all before
// it was sent. The function is also called if the attachment ends before.
type event struct {
	update   acp.SessionUpdate
	more     []string // plain texts of later chunks of its message, which are sent with it
	question *question
	then     func()
	size     int
	joined   bool // the update was made of several
}

// eventSize is about how many bytes an update takes beside its content.
const eventSize = 256

// joinAtMost is how long the text of several chunks may become, as in agent.Joiner.
const joinAtMost = 2 << 10

// joinText adds a later event to an event that waits, if both are texts of the agent in one message. Nothing is lost by that,
// and a client that has fallen behind reads one message instead of a hundred.
func (e *event) joinText(later event) bool {
	if e.size+later.size > joinAtMost+2*eventSize || !bareText(e.update) || !bareText(later.update) || messageOf(e.update) != messageOf(later.update) {
		return false
	}
	e.add(later)
	return true
}

// add adds a later text of the same message.
func (e *event) add(later event) {
	e.more = append(append(e.more, textOf(later.update).Text), later.more...)
	e.size += later.size - eventSize
}

// whole returns the update with the texts that were added.
func (e *event) whole() acp.SessionUpdate {
	if e.more == nil {
		return e.update
	}
	_, id, _ := fold.Chunk(e.update)
	return fold.Rechunk(e.update, id, acp.Text(textOf(e.update).Text+strings.Join(e.more, "")))
}

// bareText reports whether an update is a text of the agent that has nothing else.
func bareText(u acp.SessionUpdate) bool {
	text := textOf(u)
	switch v := u.(type) {
	case *acp.AgentMessageChunk:
		return text != nil && text.Meta == nil && v.Meta == nil
	case *acp.AgentThoughtChunk:
		return text != nil && text.Meta == nil && v.Meta == nil
	}
	return false
}

// textOf returns the text of a chunk if it can be joined to that of its message, or nil.
func textOf(u acp.SessionUpdate) *acp.TextContent {
	_, _, content := fold.Chunk(u)
	return fold.PlainText(content)
}

// messageKey names a message. The role of no message is empty.
type messageKey struct {
	role string
	id   acp.MessageID
}

func messageOf(u acp.SessionUpdate) messageKey {
	role, id, _ := fold.Chunk(u)
	return messageKey{role, id}
}

// sizeOf returns about how many bytes of memory an update takes.
func sizeOf(u acp.SessionUpdate) int {
	if text := textOf(u); text != nil {
		return eventSize + len(text.Text)
	}
	data, _ := history.Encode(u) // what cannot be encoded is not sent either
	return eventSize + len(data)
}

// longest returns the size of the longest event that was not joined of several.
func longest(events []event) (size int) {
	for _, e := range events {
		if !e.joined {
			size = max(size, e.size)
		}
	}
	return size
}

// shorten shortens the events of an attachment: chunks of a message become one, and of several events that change one thing,
// such as a tool call, its present state takes the place of the first. It returns the size too. The events that are given must
// not be used any more; the updates in them are not modified. s.mu must be held.
func (s *session) shorten(events []event) (short []event, size int) {
	at := make(map[any]int) // the index in short of what a later event changes
	for _, e := range events {
		if e.then != nil { // what was sent before the end of a turn stays before it
			clear(at)
		}
		key, now := s.present(e.update)
		if now != nil { // which the session holds
			e.update, e.size = now, eventSize
		}
		i, known := at[key]
		_, message := key.(messageKey)
		switch {
		case known && message && now == nil && textOf(short[i].update) != nil:
			short[i].add(e)
		case known && !message:
			if reflect.TypeOf(now) == reflect.TypeOf(short[i].update) { // an announced call has its state already
				short[i].update = now
			}
		default:
			if key != nil {
				at[key] = len(short)
			}
			short = append(short, e)
		}
	}
	for i := range short {
		if e := &short[i]; e.more != nil {
			e.update, e.more, e.joined = e.whole(), nil, true
		}
		size += short[i].size
	}
	return short, size
}

// present returns what an update changes, or nil if it stands for itself. now is the present state of that in the form of the
// update, and nil for a text. Of a tool call with pieces of output in its metadata each is shown.
func (s *session) present(u acp.SessionUpdate) (key any, now acp.SessionUpdate) {
	switch v := u.(type) {
	case *acp.UserMessageChunk, *acp.AgentMessageChunk, *acp.AgentThoughtChunk:
		if textOf(u) == nil {
			now = u
		}
		return messageOf(u), now
	case *acp.ToolCall:
		if c := s.history.ToolCall(v.ToolCallID); !streams(c.Meta) {
			return v.ToolCallID, c
		}
	case *acp.ToolCallUpdate:
		if c := s.history.ToolCall(v.ToolCallID); !streams(c.Meta) {
			return v.ToolCallID, fold.Announced(c)
		}
	case *acp.UsageUpdate:
		return reflect.TypeOf(u), s.history.Usage()
	case *acp.Plan, *acp.AvailableCommandsUpdate, *acp.CurrentModeUpdate, *acp.ConfigOptionUpdate, *acp.PromptSuggestionsUpdate:
		return reflect.TypeOf(u), u // a session has one
	}
	return nil, nil
}

// streams reports whether metadata holds a piece of output, which must not replace an earlier one.
func streams(m acp.Meta) bool {
	return m["terminal_output"] != nil || m["terminal_output_delta"] != nil
}
