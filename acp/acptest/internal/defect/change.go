package defect

import (
	"encoding/json"
	"slices"
	"strings"
)

// maker makes the functions of a [Defect].
type maker func(w *Wire) (toPeer, fromPeer func(m *Message))

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

// fails makes a response an error.
func (m *Message) fails(code int, text string) {
	delete(m.Object, "result")
	b, _ := json.Marshal(map[string]any{"code": code, "message": text}) // a map of these cannot fail
	m.Set("error", string(b))
}

// stopsAt returns a maker that passes nothing on to the peer from a message on.
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

// hears returns a maker that changes what the peer gets.
func hears(change func(m *Message)) maker { return tells(line(""), change) }
