package defect

import (
	"encoding/json"
	"slices"
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
			if raw := string(m.Object[member]); strings.Contains(raw, old) {
				m.Set(member, strings.ReplaceAll(raw, old, new))
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
	m.Set("error", string(b))
}

// asks returns a maker that changes the peer's requests of a method.
func asks(method string, change func(m *Message)) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		return nil, func(m *Message) {
			if !m.Response && m.Method == method {
				change(m)
			}
			w.ToCheck(m)
		}
	}
}

// stopsAt returns a maker whose peer reads nothing from a message on.
func stopsAt(last func(m *Message) bool) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		stopped := false
		return func(m *Message) {
			if stopped = stopped || last(m); !stopped {
				w.ToPeer(m)
			}
		}, nil
	}
}

// has returns a function that accepts the messages which contain all texts.
func has(texts ...string) func(m *Message) bool {
	return func(m *Message) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(string(m.Raw), text) })
	}
}

// after returns a maker that adds a line behind the peer's messages of a method.
func after(method, line string) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		return nil, func(m *Message) {
			w.ToCheck(m)
			if !m.Response && m.Method == method {
				w.LineToCheck([]byte(line))
			}
		}
	}
}

// hears returns a maker that changes what the peer gets.
func hears(change func(m *Message)) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		return func(m *Message) {
			change(m)
			w.ToPeer(m)
		}, nil
	}
}

// succeeds makes a response a result.
func (m *Message) succeeds(result string) {
	delete(m.Object, "error")
	m.Set("result", result)
}
