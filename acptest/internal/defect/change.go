package defect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// handler passes a message on, unless the defect does something else with it.
type handler func(w *Wire, m *Message)

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

// to selects responses to the requests that f selects.
func to(f match) match {
	return func(w *Wire, m *Message) bool { return m.Response && m.request != nil && f(w, m.request) }
}

// line selects what contains all of the texts, also if it is no message.
func line(texts ...string) match { return func(_ *Wire, m *Message) bool { return m.has(texts...) } }

// begins selects what begins with a text.
func begins(text string) match {
	return func(_ *Wire, m *Message) bool { return strings.HasPrefix(string(m.Raw), text) }
}

// longer selects what f selects if it is longer than a number of bytes.
func (f match) longer(bytes int) match {
	return func(w *Wire, m *Message) bool { return f(w, m) && len(m.Raw) > bytes }
}

// with selects what f selects if it contains a text.
func (f match) with(text string) match {
	return func(w *Wire, m *Message) bool { return f(w, m) && m.has(text) }
}

// without selects what f selects if it does not contain a text.
func (f match) without(text string) match {
	return func(w *Wire, m *Message) bool { return f(w, m) && !m.has(text) }
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

// drops returns a handler that does not pass messages on.
func drops(f match) handler {
	return func(w *Wire, m *Message) {
		if !f(w, m) {
			w.pass(m)
		}
	}
}

// dies returns a handler that passes nothing on behind the message that f selects.
func dies(f match) handler {
	return func(w *Wire, m *Message) {
		if !w.dead {
			w.dead = f(w, m)
			w.pass(m)
		}
	}
}

// stopsAt returns a handler that passes nothing on from the message that f selects on.
func stopsAt(f match) handler {
	return func(w *Wire, m *Message) {
		if w.dead = w.dead || f(w, m); !w.dead {
			w.pass(m)
		}
	}
}

// answersItself returns a handler that answers messages in place of the peer: with a member result
// or error.
func answersItself(f match, member string) handler {
	return func(w *Wire, m *Message) {
		if f(w, m) {
			w.LineToCheck([]byte(`{"jsonrpc":"2.0","id":` + string(m.Object["id"]) + `,` + member + `}`))
		} else {
			w.pass(m)
		}
	}
}

// answersCancel returns a handler that answers a request when it is cancelled, although the peer will answer it; if
// late is true, also if the peer has answered it before.
func answersCancel(late bool) handler {
	return func(w *Wire, m *Message) {
		id := string(check.At(m.Object["params"], "requestId"))
		if one := w.requests[fmt.Sprint(true, id)]; is("$/cancel_request")(w, m) && one != nil && (late || !one.answered) {
			w.LineToCheck([]byte(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32800,"message":"Request cancelled"}}`))
		}
		w.pass(m)
	}
}

// changes returns a handler that changes messages.
func changes(f match, change func(m *Message)) handler {
	return func(w *Wire, m *Message) {
		if f(w, m) {
			change(m)
		}
		w.pass(m)
	}
}

// doubles returns a handler that passes messages on twice.
func doubles(f match) handler { return repeats(f, 2) }

// repeats returns a handler that passes messages on n times.
func repeats(f match, n int) handler {
	return func(w *Wire, m *Message) {
		again := f(w, m)
		w.pass(m)
		for i := 1; again && i < n; i++ {
			w.pass(m)
		}
	}
}

// holds returns a handler that passes messages on behind the next one that until selects.
func holds(f, until match) handler {
	return func(w *Wire, m *Message) {
		if f(w, m) {
			w.held = append(w.held, m)
			return
		}
		w.pass(m)
		if until(w, m) {
			for _, one := range w.held {
				w.pass(one)
			}
			w.held = nil
		}
	}
}

// precedes and follows return handlers that send a line to the check before, or behind, messages. $S
// in it stands for the session of the message, and $N for a number that is new in each line.
func precedes(f match, line string) handler {
	return func(w *Wire, m *Message) {
		w.add(f, m, line)
		w.pass(m)
	}
}

func follows(f match, line string) handler {
	return func(w *Wire, m *Message) {
		w.pass(m)
		w.add(f, m, line)
	}
}

func (w *Wire) add(f match, m *Message, line string) {
	if f(w, m) {
		w.added++
		w.LineToCheck([]byte(strings.NewReplacer("$S", m.session(), "$N", strconv.Itoa(w.added)).Replace(line)))
	}
}

// session returns the id of the session that a message is about, or "".
func (m *Message) session() string {
	var of struct{ SessionID string }
	for _, member := range []string{"params", "result"} {
		_ = json.Unmarshal(m.Object[member], &of) // without a session it is empty
	}
	if of.SessionID == "" && m.request != nil {
		return m.request.session()
	}
	return of.SessionID
}

// toolCall returns the id of the tool call that a message is about, or "".
func (m *Message) toolCall() string {
	var call struct{ ToolCallID string }
	for _, member := range []string{"update", "toolCall"} {
		_ = json.Unmarshal(check.At(m.Object["params"], member), &call) // without a tool call it is empty
	}
	return call.ToolCallID
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

// becomes returns a function that makes a response a result.
func becomes(result string) func(m *Message) {
	return func(m *Message) {
		delete(m.Object, "error")
		m.Set("result", result)
	}
}

// fails returns a function that makes a response an error.
func fails(code int, text string) func(m *Message) {
	b, _ := json.Marshal(check.Error{Code: int64(code), Message: text}) // a text can be encoded
	return func(m *Message) {
		delete(m.Object, "result")
		m.Set("error", string(b))
	}
}

// update is a notification with an update, for precedes and follows.
func update(members string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"$S","update":{` + members + `}}}`
}

// cwd returns the folder that params name.
func (m *Message) cwd() string {
	params := check.Message{Params: m.Object["params"], Method: m.Method}
	return params.Text("cwd")
}

// opened returns how often the check has asked for a history.
func (w *Wire) opened() (n int) {
	for _, m := range w.log {
		if opens(true)(w, m) {
			n++
		}
	}
	return n
}
