package interop_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sent lets the recorded client say something, and looks at what reaches the agent.
func (r *replay) sent(at, line string, e *envelope) {
	switch {
	case e.isRequest():
		r.editor.write([]byte(line + "\n"))
		passed, local := r.model.take(), r.editor.take()
		if e.Method == "session/close" {
			passed, local = r.withoutCancelled(at, passed), r.withoutCancels(at, local)
		}
		if len(passed) == 0 {
			// Our agent's end answers bad requests by itself.
			assert.True(r.t, r.probe, "%s: nothing reached the agent; answered: %s", at, local)
			assert.Len(r.t, local, 1, "%s: every request is answered", at)
			return
		}
		assert.Empty(r.t, local, "%s: answered before the agent was", at)
		got := r.one(at, passed)
		r.same(at, e.Method, "Request", e.Params, got.Params)
		p := &pending{id: got.ID, method: e.Method}
		_ = json.Unmarshal(e.Params, &struct{ SessionID *string }{&p.session}) // many have none
		r.asked[string(e.ID)] = p
	case e.isNote():
		r.editor.write([]byte(line + "\n"))
		if e.Method == "session/cancel" {
			r.cancel(at, e)
			return
		}
		if e.Method == "$/cancel_request" && r.version > 1 {
			r.takeBack(at, e, r.asked, r.model, r.editor)
			return
		}
		r.note(at, e, r.model.take())
		assert.Empty(r.t, r.editor.take(), "%s: a notification is not answered", at)
	case e.isResponse():
		p := r.answered[string(e.ID)]
		if p != nil && p.cancelled {
			delete(r.answered, string(e.ID))
			r.editor.write(withID(e, p.id))
			assert.Empty(r.t, r.model.take(), "%s: answered already", at)
			r.passed++
			return
		}
		if p == nil {
			assert.True(r.t, r.probe, "%s: answers what nobody asked", at)
			r.editor.write([]byte(line + "\n"))
			assert.Empty(r.t, r.model.take(), at)
			return
		}
		delete(r.answered, string(e.ID))
		r.editor.write(withID(e, p.id))
		r.answer(at, e, p, r.model.take())
	default:
		assert.True(r.t, r.probe, "%s: no message", at)
		r.editor.write([]byte(line + "\n"))
		r.editor.take()
	}
}

// note looks at a notification that was passed on.
func (r *replay) note(at string, e *envelope, passed []string) {
	if e.Method == "$/cancel_request" {
		// It cancels one hop. Where the request was a prompt, the next hop's cancel is
		// session/cancel.
		for _, line := range passed {
			got, _ := open(line)
			assert.Equal(r.t, "session/cancel", got.Method, at)
			r.passed++
		}
		return
	}
	if len(passed) == 0 && r.probe {
		return // bad params
	}
	got := r.one(at, passed)
	assert.Equal(r.t, e.Method, got.Method, at)
	r.same(at, e.Method, "Notification", e.Params, got.Params)
}

// cancel looks at what became of a session/cancel: it is passed on; the questions that
// the agent had put to the client are answered with cancelled at once, and taken back
// at the client.
func (r *replay) cancel(at string, e *envelope) {
	var n struct{ SessionID string }
	require.NoError(r.t, json.Unmarshal(e.Params, &n))
	for _, p := range r.asked {
		p.cancelled = p.cancelled || r.version == 1 && p.method == "session/prompt" && p.session == n.SessionID
	}
	cancels := 0
	for _, line := range r.withoutCancelled(at, r.model.take()) {
		got, _ := open(line)
		if r.version > 1 && r.heldPrompt(&got) {
			continue // the ctx of a prompt that is held ends too
		}
		assert.Equal(r.t, "session/cancel", got.Method, at)
		r.same(at, e.Method, "Notification", e.Params, got.Params)
		cancels++
	}
	if r.probe && cancels == 0 {
		return // bad params
	}
	assert.Positive(r.t, cancels, at)
	assert.Empty(r.t, r.withoutCancels(at, r.editor.take()), at)
	r.passed++
}

// heldPrompt reports whether a message cancels a prompt that has no response.
func (r *replay) heldPrompt(e *envelope) bool {
	var n struct{ RequestID json.RawMessage }
	if e.Method != "$/cancel_request" || json.Unmarshal(e.Params, &n) != nil {
		return false
	}
	for _, p := range r.asked {
		if p.method == "session/prompt" && string(p.id) == string(n.RequestID) {
			return true
		}
	}
	return false
}

// withoutCancelled returns the lines without the responses cancelled to questions.
func (r *replay) withoutCancelled(at string, lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		got, _ := open(line)
		if got.Method != "" {
			return false
		}
		assert.JSONEq(r.t, `{"outcome":{"outcome":"cancelled"}}`, string(got.Result), at)
		require.Contains(r.t, r.answered, string(got.ID), at)
		r.answered[string(got.ID)].cancelled = true
		return true
	})
}

// withoutCancels returns the lines without those that take questions back.
func (r *replay) withoutCancels(at string, lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		got, _ := open(line)
		return got.Method == "$/cancel_request"
	})
}

// takeBack looks at what became of a $/cancel_request of one side. It cancels one hop: our end
// asks the other side in turn. Unless it is for a prompt, the asking side has its response at
// once.
func (r *replay) takeBack(at string, e *envelope, open map[string]*pending, other, asker *wire) {
	var n struct{ RequestID json.RawMessage }
	require.NoError(r.t, json.Unmarshal(e.Params, &n))
	p := open[string(n.RequestID)]
	responses, asked := asker.take(), other.take()
	if p == nil || p.cancelled {
		assert.Empty(r.t, responses, "%s: nothing to cancel", at)
		assert.Empty(r.t, asked, "%s: nothing to cancel", at)
		return
	}
	require.Len(r.t, asked, 1, at)
	assert.JSONEq(r.t, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":`+string(p.id)+`}}`, asked[0], at)
	r.passed++
	if p.method == "session/prompt" {
		assert.Empty(r.t, responses, "%s: the agent knows whether the prompt was still held", at)
		return
	}
	p.cancelled = true
	require.Len(r.t, responses, 1, at)
	var got struct {
		ID    json.RawMessage
		Error struct{ Code int }
	}
	require.NoError(r.t, json.Unmarshal([]byte(responses[0]), &got), at)
	assert.JSONEq(r.t, string(n.RequestID), string(got.ID), at)
	assert.Equal(r.t, -32800, got.Error.Code, at)
}

// received lets the recorded agent say something, and looks at what reaches the client.
func (r *replay) received(at, line string, e *envelope) {
	switch {
	case e.isRequest():
		r.model.write([]byte(line + "\n"))
		got := r.one(at, r.editor.take())
		assert.Equal(r.t, e.Method, got.Method, at)
		r.same(at, e.Method, "Request", e.Params, got.Params)
		r.answered[string(e.ID)] = &pending{id: got.ID, method: e.Method}
		// The client's answer carries the id as it was recorded; ours is mapped there.
	case e.isNote():
		r.model.write([]byte(line + "\n"))
		if e.Method == "$/cancel_request" {
			r.takeBack(at, e, r.answered, r.editor, r.model)
			return
		}
		r.note(at, e, r.editor.take())
		assert.Empty(r.t, r.model.take(), "%s: a notification is not answered", at)
	default:
		p := r.asked[string(e.ID)]
		if p == nil {
			// Answers a request that never came this far, or one without an id.
			assert.True(r.t, r.probe, "%s: answers what nobody asked", at)
			r.model.write([]byte(line + "\n"))
			assert.Empty(r.t, r.editor.take(), at)
			var res struct{ SessionID string }
			if json.Unmarshal(orNull(e.Result), &res) == nil && res.SessionID != "" {
				r.unopened[res.SessionID] = true
			}
			return
		}
		delete(r.asked, string(e.ID))
		if p.cancelled && r.version > 1 {
			r.model.write(withID(e, p.id))
			assert.Empty(r.t, r.editor.take(), "%s: answered already", at)
			r.passed++
			return
		}
		if p.cancelled && e.Error != nil {
			e = &envelope{ID: e.ID, Error: e.Error, Result: json.RawMessage(`{"stopReason":"cancelled"}`)}
			r.model.write(withID(&envelope{Error: e.Error}, p.id))
			e.Error = nil
		} else {
			r.model.write(withID(e, p.id))
		}
		r.answer(at, e, p, r.editor.take())
	}
}

// answer looks at a response that was passed on. It carries the id of the side that
// asked.
func (r *replay) answer(at string, e *envelope, p *pending, passed []string) {
	got := r.one(at, passed)
	assert.Equal(r.t, string(e.ID), string(got.ID), at)
	if e.Error != nil {
		want, got := parseJSON(r.t, e.Error).(map[string]any), parseJSON(r.t, orNull(got.Error)).(map[string]any)
		if want["code"] == json.Number("-32800") && want["data"] == nil {
			delete(got, "data") // our ends name the request
		}
		if want["code"] == json.Number("-32800") {
			want["message"] = "Request cancelled" // our ends say it in their words
		}
		assert.Equal(r.t, want, got, "%s: %s", at, p.method)
		return
	}
	require.Nil(r.t, got.Error, "%s: %s failed: %s", at, p.method, got.Error)
	r.same(at, p.method, "Response", e.Result, got.Result)
}

// one insists on exactly one line.
func (r *replay) one(at string, lines []string) envelope {
	require.Len(r.t, lines, 1, "%s: one message comes through as one", at)
	e, ok := open(lines[0])
	require.True(r.t, ok, "%s: %s", at, lines[0])
	r.passed++
	return e
}

// same compares payloads: what the protocol does not know may be gone, and so may
// members that say nothing.
func (r *replay) same(at, method, suffix string, want, got json.RawMessage) {
	v := parseJSON(r.t, orNull(want))
	if def := r.schema.payload(method, suffix); def != nil {
		v = r.schema.prune(def, v)
		if v == nil {
			v = map[string]any{} // absent params and empty ones are the same
		}
	}
	if params, ok := v.(map[string]any); ok && method == "initialize" && suffix == "Request" {
		if n, err := params["protocolVersion"].(json.Number).Int64(); err == nil && n > r.version {
			params["protocolVersion"] = json.Number(strconv.FormatInt(r.version, 10)) // a proxy asks for what it can speak itself
			if params["info"] == nil && r.version == 2 {
				params["info"] = map[string]any{"name": "unknown", "version": "unknown"} // required in version 2, perhaps not later
			}
		}
	}
	assert.Equal(r.t, withoutDefaults(v), withoutDefaults(parseJSON(r.t, orNull(got))), "%s: %s", at, method)
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// withID writes a recorded response with another id.
func withID(e *envelope, id json.RawMessage) []byte {
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	b.Write(id)
	if e.Error != nil {
		b.WriteString(`,"error":`)
		b.Write(e.Error)
	} else {
		b.WriteString(`,"result":`)
		b.Write(orNull(e.Result))
	}
	b.WriteString("}\n")
	return b.Bytes()
}
