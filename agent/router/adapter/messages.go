package adapter

import (
	"encoding/json"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
)

// role is the author of a message. Thoughts have their own.
type role uint8

const (
	roleNone role = iota
	roleUser
	roleAgent
	roleThought
)

// messages gives ids to the messages of a session, by the same rules as package client/thread.
type messages struct {
	newest struct { // the newest item if it is a message
		role role
		id   acp2.MessageID
	}
	seen map[messageKey]struct{} // messages with an id of the agent
}

type messageKey struct {
	role role
	id   acp2.MessageID
}

// idOf returns the id of the message that a chunk belongs to, and whether the chunk begins it. The
// id is empty for an empty chunk that begins no message.
func (m *messages) idOf(r role, own acp.MessageID, empty bool) (id acp2.MessageID, begins bool) {
	if own != "" {
		key := messageKey{r, acp2.MessageID(own)}
		if _, ok := m.seen[key]; ok || empty {
			return key.id, false
		}
		if m.seen == nil {
			m.seen = map[messageKey]struct{}{}
		}
		m.seen[key] = struct{}{}
		m.newest.role, m.newest.id = r, key.id
		return key.id, true
	}
	if m.newest.role == r {
		return m.newest.id, false
	}
	if empty {
		return "", false
	}
	m.newest.role, m.newest.id = r, agent2.NewMessageID()
	return m.newest.id, true
}

// end prevents later chunks without an id from continuing the newest message.
func (m *messages) end() { m.newest.role = roleNone }

// echo is a prompt that the agent may repeat in chunks. The client already has it.
type echo struct {
	want []acp.ContentBlock
	off  int // offset in the text of the first block
	got  []*acp.UserMessageChunk
}

// take reports whether a chunk repeats the next part of the prompt. If not, it returns the chunks
// that were held back because they looked like the prompt.
func (e *echo) take(c *acp.UserMessageChunk) (taken bool, others []*acp.UserMessageChunk) {
	if len(e.want) > 0 && e.matches(c.Content) {
		e.got = append(e.got, c)
		if len(e.want) == 0 {
			e.got = nil
		}
		return true, nil
	}
	others = e.got
	e.want, e.got = nil, nil
	return false, others
}

// matches reports whether the block repeats the next part of the prompt, and advances past it.
func (e *echo) matches(b acp.ContentBlock) bool {
	want, isText := e.want[0].(*acp.TextContent)
	text, ok := b.(*acp.TextContent)
	switch {
	case isText && ok && text.Text != "" && strings.HasPrefix(want.Text[e.off:], text.Text):
		if e.off += len(text.Text); e.off < len(want.Text) {
			return true
		}
	case isText || ok || !same(e.want[0], b):
		return false
	}
	e.want, e.off = e.want[1:], 0
	return true
}

func same(a, b acp.ContentBlock) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}
