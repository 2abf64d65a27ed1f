package defect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// match selects messages.
type match func(w *Wire, m *Message) bool

// is selects requests and notifications of a method that contain all of the texts. Here and below
// #slow stands for the text of the prompt slow, and so for the other prompts.
func is(method string, texts ...string) match {
	return func(w *Wire, m *Message) bool { return !m.Response && m.Method == method && w.in(m, texts...) }
}

// responds selects responses to a method that contain all of the texts.
func responds(method string, texts ...string) match {
	return func(w *Wire, m *Message) bool { return m.Response && m.Method == method && w.in(m, texts...) }
}

// line selects what contains a text, also if it is no message.
func line(text string) match { return func(_ *Wire, m *Message) bool { return m.has(text) } }

// begins selects what begins with a text.
func begins(text string) match {
	return func(_ *Wire, m *Message) bool { return strings.HasPrefix(string(m.Raw), text) }
}

// after selects what f selects, but only when the check has sent a text before.
func (f match) after(text string) match {
	return func(w *Wire, m *Message) bool { return f(w, m) && w.sent(text) > 0 }
}

// first selects what f selects, but only when the check has not sent a text before.
func (f match) first(text string) match {
	return func(w *Wire, m *Message) bool { return f(w, m) && w.sent(text) == 0 }
}

// sent returns how many of the messages that the check has sent contain a text. It does not count
// the message that is handled now.
func (w *Wire) sent(text string) (n int) {
	for _, m := range w.log {
		if w.in(m, text) {
			n++
		}
	}
	return n
}

// in reports whether a message contains all of the texts, or prompts.
func (w *Wire) in(m *Message, texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		if name, ok := strings.CutPrefix(text, "#"); ok {
			b, _ := json.Marshal(w.prompts[name]) // a string can be encoded
			text = `"text":` + string(b)
		}
		return !m.has(text)
	})
}

func (m *Message) has(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(string(m.Raw), text) })
}

// toPeer returns a maker of a function for the messages of the check.
func toPeer(f func(w *Wire, m *Message)) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		return func(m *Message) { f(w, m); w.log = append(w.log, m) }, nil
	}
}

// toCheck returns a maker of a function for the messages of the peer. What the check sends is noted.
func toCheck(f func(w *Wire, m *Message)) maker {
	return func(w *Wire) (toPeer, fromPeer func(*Message)) {
		return func(m *Message) { w.log = append(w.log, m); w.ToPeer(m) }, func(m *Message) { f(w, m) }
	}
}

// ignores returns a maker that does not pass messages on to the peer.
func ignores(f match) maker {
	return toPeer(func(w *Wire, m *Message) {
		if !f(w, m) {
			w.ToPeer(m)
		}
	})
}

// dies returns a maker that passes nothing on to the peer behind the message that f selects.
func dies(f match) maker {
	return func(w *Wire) (to, from func(*Message)) {
		dead := false
		return ignores(func(w *Wire, m *Message) bool {
			before := dead
			dead = dead || f(w, m)
			return before
		})(w)
	}
}

// answersItself returns a maker that answers messages in place of the peer: with a member result or error.
func answersItself(f match, member string) maker {
	return toPeer(func(w *Wire, m *Message) {
		if f(w, m) {
			w.LineToCheck([]byte(`{"jsonrpc":"2.0","id":` + string(m.Object["id"]) + `,` + member + `}`))
		} else {
			w.ToPeer(m)
		}
	})
}

// drops returns a maker that does not pass messages on to the check.
func drops(f match) maker {
	return toCheck(func(w *Wire, m *Message) {
		if !f(w, m) {
			w.ToCheck(m)
		}
	})
}

// changes returns a maker that changes messages of the peer.
func changes(f match, change func(m *Message)) maker {
	return toCheck(func(w *Wire, m *Message) {
		if f(w, m) {
			change(m)
		}
		w.ToCheck(m)
	})
}

// tells returns a maker that changes messages of the check.
func tells(f match, change func(m *Message)) maker {
	return toPeer(func(w *Wire, m *Message) {
		if f(w, m) {
			change(m)
		}
		w.ToPeer(m)
	})
}

// precedes and follows return makers that send a line before, or behind, messages of the peer. $S
// in it stands for the session of the message.
func precedes(f match, line string) maker { return adds(f, line, "") }
func follows(f match, line string) maker  { return adds(f, "", line) }

func adds(f match, before, behind string) maker {
	return toCheck(func(w *Wire, m *Message) {
		add := func(line string) {
			if line == "" || !f(w, m) {
				return
			}
			var of struct{ SessionID string }
			for _, member := range []string{"params", "result"} {
				_ = json.Unmarshal(m.Object[member], &of) // without a session it is empty
			}
			w.LineToCheck([]byte(strings.ReplaceAll(line, "$S", of.SessionID)))
		}
		add(before)
		w.ToCheck(m)
		add(behind)
	})
}

// becomes returns a function that makes a response a result.
func becomes(result string) func(m *Message) {
	return func(m *Message) {
		delete(m.Object, "error")
		m.Set("result", result)
	}
}

// update is a notification with an update, for adds.
func update(members string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"$S","update":{` + members + `}}}`
}

// found returns what a defect finds: checks that fail, and checks that are inconclusive.
func found(failing, inconclusive string) map[string]check.Verdict {
	all := map[string]check.Verdict{}
	for verdict, ids := range map[check.Verdict]string{fail: failing, inc: inconclusive} {
		for id := range strings.FieldsSeq(ids) {
			all[strings.Replace(id, ":", " ", 1)] = verdict // v1:ID is for version 1 alone
		}
	}
	return all
}
