package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// ourAgent is what our agents of both versions have in common.
type ourAgent struct {
	record
	client        caller
	authenticated atomic.Bool
}

// tell puts the client's response, or its error, into the journal.
func (p *ourAgent) tell(label string, answer any, err error) {
	if err != nil {
		e := new(rpcerr.RequestError)
		errors.As(rpcerr.From(err), &e)
		answer = map[string]any{"error": map[string]any{"code": e.Code, "message": e.Message, "data": e.Data}}
	}
	p.note("answer:"+label, answer)
}

// callExtensions is the turn "extension".
func (p *ourAgent) callExtensions(ctx context.Context) error {
	var answer json.RawMessage
	err := p.client.Call(ctx, "_interop/client_echo", json.RawMessage(`{"n":9007199254740991,"s":"ü\u2028","list":[null,true]}`), &answer)
	p.tell("extension", answer, err)
	if err := p.client.Notify(ctx, "_interop/client_note", map[string]string{"from": "agent"}); err != nil {
		return err
	}
	p.tell("extension missing", nil, p.client.Call(ctx, "_interop/none", struct{}{}, nil))
	return nil
}

// extension handles the requests and notifications of the tests.
func (p *ourAgent) extension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "_interop/echo":
		id, _ := agent.RequestID(ctx)
		return map[string]any{"params": params, "requestId": id}, nil
	case "_interop/journal":
		return p.told(), nil
	case "_interop/fail":
		var want rpcerr.RequestError
		if err := json.Unmarshal(params, &want); err != nil {
			return nil, rpcerr.InvalidParams(nil).WithCause(err)
		}
		return nil, &want
	case "_interop/wait":
		if err := p.client.Notify(ctx, "_interop/waiting", map[string]string{"since": "now"}); err != nil {
			return nil, err
		}
		<-ctx.Done()
		p.note("_interop/wait cancelled", nil)
		return nil, ctx.Err()
	case "_interop/note":
		p.note(method, params)
		return nil, nil
	}
	return nil, rpcerr.MethodNotFound(method)
}

// The options of a session, and what the agents ask. The names of some members, and what is not the
// same each time, are filled in.
const (
	optionsFormat = `[
		{%[1]q:"model","name":"Model","category":"model","type":"select","currentValue":%[3]q,
			"options":[{"value":"small","name":"Small"},{"value":"big","name":"Big","description":"slower"}]},
		{%[1]q:"effort","name":"Effort","type":"select","currentValue":%[4]q,
			"options":[{%[2]q:"usual","name":"Usual","options":[{"value":"low","name":"Low"},{"value":"high","name":"High"}]}]},
		{%[1]q:"web","name":"Web","type":"boolean","currentValue":%[5]t}]`
	tokenFormat = `{"message":"Your token?","mode":"form","requestId":%s,"requestedSchema":{
		"type":"object","required":["token"],"properties":{"token":{"type":"string","minLength":3}}}}`
	settingsFormat = `{"message":"Settings?","mode":"form","sessionId":%q,"toolCallId":"call-1","requestedSchema":{
		"type":"object","title":"Settings","required":["name"],"properties":{
		"name":{"type":"string","title":"Name","minLength":1,"maxLength":20,"default":""},"mail":{"type":"string","format":"email"},
		"level":{"type":"integer","minimum":0,"maximum":9,"default":0},"share":{"type":"number","minimum":0,"maximum":1},
		"web":{"type":"boolean","default":false},"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
		"tags":{"type":"array","minItems":1,"items":{"type":"string","enum":["a","b","c"]}}}}}`
	emptyFormat = `{"message":%[2]q,"mode":"form","sessionId":%[1]q,"requestedSchema":{"type":"object","properties":{}}}`
	pageFormat  = `{"message":"Open this","mode":"url","sessionId":%q,"elicitationId":"el-1","url":"https://example.com/login"}`
)

// parse reads a value that is written as JSON.
func parse[T any](format string, args ...any) T {
	var v T
	if err := json.Unmarshal(fmt.Appendf(nil, format, args...), &v); err != nil {
		panic(err)
	}
	return v
}

// sessionOf is the id of the session that params are about.
func sessionOf(params any) string {
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err)
	}
	return parse[struct{ SessionID string }]("%s", raw).SessionID
}

// program is what the conversations of both versions have in common: our client's end.
type program struct {
	ctx   context.Context
	agent caller
	asked *record // what the agent has asked the client
}

// told is the client's response as it reached the agent.
func (p *program) told(t *testing.T, label string) string {
	t.Helper()
	return string(last(t, journal(p.ctx, t, p.agent), "answer:"+label))
}

// cancelRequest ends the ctx of a call, which sends $/cancel_request.
func (p *program) cancelRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- p.agent.Call(ctx, "_interop/wait", struct{}{}, nil) }() // ends by cancel
	require.NoError(t, p.asked.until(p.ctx, func() bool { return p.asked.seenLocked("_interop/waiting") }))
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
	seen := func(e entry) bool { return e.What == "_interop/wait cancelled" }
	for !slices.ContainsFunc(journal(p.ctx, t, p.agent), seen) { // it will: the agent has been told
		require.NoError(t, p.ctx.Err(), "the agent was not told")
	}
}

// extensions calls extensions of the agent, and lets it call those of the client in a turn.
func (p *program) extensions(t *testing.T, turn func()) {
	params := json.RawMessage(`{"n":1,"deep":[{"a":null}],"text":"ü🙂"}`)
	var echo struct{ Params json.RawMessage }
	require.NoError(t, p.agent.Call(p.ctx, "_interop/echo", params, &echo))
	assert.JSONEq(t, string(params), string(echo.Params))
	require.NoError(t, p.agent.Notify(p.ctx, "_interop/note", map[string]string{"from": "client"}))
	turn()
	assert.JSONEq(t, `{"from":"client"}`, string(last(t, journal(p.ctx, t, p.agent), "_interop/note")))
	assert.JSONEq(t, `{"echo":{"n":9007199254740991,"s":"ü\u2028","list":[null,true]}}`, p.told(t, "extension"))
	assert.Contains(t, p.told(t, "extension missing"), "-32601")
	assert.JSONEq(t, `{"from":"agent"}`, string(last(t, p.asked.told(), "_interop/client_note")))

	e := hasCode(t, rpcerr.CodeMethodNotFound, p.agent.Call(p.ctx, "_interop/nothing", struct{}{}, nil))
	var missing struct{ Method string }
	require.NoError(t, e.DecodeData(&missing))
	assert.Equal(t, "_interop/nothing", missing.Method)
	e = hasCode(t, -31999, p.agent.Call(p.ctx, "_interop/fail", map[string]any{"code": -31999, "message": "mine", "data": []int{1}}, nil))
	assert.Equal(t, "mine", e.Message)
	var data []int
	require.NoError(t, e.DecodeData(&data))
	assert.Equal(t, []int{1}, data)
}
