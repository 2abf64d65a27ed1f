package defect

import (
	"encoding/json"
	"strings"
)

// maker makes the functions of a [Defect].
type maker func(w *Wire) (toPeer, fromPeer func(m *Message))

// answers returns a maker that changes the peer's responses to a method.
func answers(method string, change func(m *Message)) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		return nil, func(m *Message) {
			if m.Response && m.Method == method {
				change(m)
			}
			w.ToCheck(m)
		}
	}
}

// updates returns a maker that replaces a text in the peer's session/update notifications.
func updates(old, new string) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		return nil, func(m *Message) {
			if m.Method == "session/update" {
				replace(old, new)(m)
			}
			w.ToCheck(m)
		}
	}
}

// replace returns a function that replaces a text in the params and the result of a message.
func replace(old, new string) func(m *Message) {
	return func(m *Message) {
		for _, member := range []string{"params", "result"} {
			if raw, ok := m.Object[member]; ok {
				m.Set(member, strings.ReplaceAll(string(raw), old, new))
			}
		}
	}
}

// both returns a maker that does what two do, of which only fromPeer is used.
func both(a, b maker) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		var changed *Message
		collect := &Wire{to: func(m *Message) { changed = m }}
		_, first := a(collect)
		_, second := b(w)
		return nil, func(m *Message) {
			first(m)
			second(changed)
		}
	}
}

// fails makes a response an error.
func (m *Message) fails(code int, text string) {
	delete(m.Object, "result")
	b, _ := json.Marshal(map[string]any{"code": code, "message": text}) // a map of these cannot fail
	m.Object["error"] = b
}
