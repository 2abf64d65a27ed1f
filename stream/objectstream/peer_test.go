package objectstream_test

import (
	"context"
	"encoding/json"
	"log"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/examples/agent/worker"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// overEach runs f with the two ends of each kind of connection.
func overEach(t *testing.T, f func(t *testing.T, near stream.Stream, far jsonrpc2.ObjectStream)) {
	overSockets := func(near func(net.Conn) stream.Stream, far func(net.Conn) jsonrpc2.ObjectStream) func(*testing.T) {
		return func(t *testing.T) {
			x, y := sockets(t)
			f(t, near(x), far(y))
		}
	}
	t.Run("a pipe", func(t *testing.T) {
		near, far := stream.Pipe()
		f(t, near, objectstream.Of(far))
	})
	t.Run("lines", overSockets(lines, func(c net.Conn) jsonrpc2.ObjectStream { return objectstream.Of(lines(c)) }))
	t.Run("the library's objects", overSockets(plain, func(c net.Conn) jsonrpc2.ObjectStream { return jsonrpc2.NewPlainObjectStream(c) }))
	t.Run("the library's frames", overSockets(framed, func(c net.Conn) jsonrpc2.ObjectStream {
		return jsonrpc2.NewBufferedStream(c, jsonrpc2.VSCodeObjectCodec{})
	}))
}

func newConn(t *testing.T, s jsonrpc2.ObjectStream, h jsonrpc2.Handler) *jsonrpc2.Conn {
	return jsonrpc2.NewConn(context.Background(), s, h, jsonrpc2.SetLogger(log.New(t.Output(), "", 0)))
}

// editor is the client's side of a conversation on the library: it allows everything and
// holds one file.
type editor struct {
	mu    sync.Mutex // guards all below
	file  string
	texts []string
	calls []string
}

func (e *editor) handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !r.Notif {
		e.calls = append(e.calls, r.Method)
	}
	switch r.Method {
	case "session/update":
		var p struct {
			Update struct {
				Kind    string `json:"sessionUpdate"`
				Content json.RawMessage
			}
		}
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			return nil, err
		}
		if p.Update.Kind == "agent_message_chunk" {
			var content struct{ Text string }
			if err := json.Unmarshal(p.Update.Content, &content); err != nil {
				return nil, err
			}
			e.texts = append(e.texts, content.Text)
		}
		return nil, nil
	case "fs/read_text_file":
		return map[string]string{"content": e.file}, nil
	case "fs/write_text_file":
		var p struct{ Content string }
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			return nil, err
		}
		e.file = p.Content
		return struct{}{}, nil
	case "session/request_permission":
		var p struct {
			Options []struct{ OptionID, Kind string }
		}
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			return nil, err
		}
		for _, o := range p.Options {
			if o.Kind == "allow_once" {
				return map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": o.OptionID}}, nil
			}
		}
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "Method not found: " + r.Method}
}

func (e *editor) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.texts, "")
}

// A client that shares nothing with this module but the protocol has whole conversations
// with the example agent: it reads, edits with permission, gets errors by their code, and
// loads the session again.
func TestConversationsOfAnIndependentClient(t *testing.T) {
	a, err := worker.Open(t.TempDir(), false)
	require.NoError(t, err)
	cwd := t.TempDir()
	overEach(t, func(t *testing.T, near stream.Stream, far jsonrpc2.ObjectStream) {
		served := make(chan struct{})
		go func() { // ends with the connection
			defer close(served)
			_ = a.Serve(context.Background(), near) // fails if the agent was about to write
		}()
		e := &editor{file: "one\ntwo\n"}
		conn := newConn(t, far, jsonrpc2.HandlerWithError(e.handle))
		call := func(method string, params, result any) error { return conn.Call(t.Context(), method, params, result) }

		var initialized struct{ ProtocolVersion int }
		require.NoError(t, call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{
			"fs": map[string]bool{"readTextFile": true, "writeTextFile": true}}}, &initialized))
		assert.Equal(t, 1, initialized.ProtocolVersion)
		var session struct{ SessionID string }
		require.NoError(t, call("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}}, &session))
		prompt := func(text string) (stop string) {
			var r struct{ StopReason string }
			require.NoError(t, call("session/prompt", map[string]any{"sessionId": session.SessionID,
				"prompt": []any{map[string]string{"type": "text", "text": text}}}, &r))
			return r.StopReason
		}
		assert.Equal(t, "end_turn", prompt("read notes.txt"))
		assert.Contains(t, e.text(), "notes.txt has 2 lines", "all updates were read before the response")
		assert.Equal(t, "end_turn", prompt(`edit notes.txt: replace "two" with "three"`))
		assert.Equal(t, "one\nthree\n", e.file)
		assert.Contains(t, e.calls, "session/request_permission")

		err := call("session/load", map[string]any{"sessionId": "none", "cwd": cwd, "mcpServers": []any{}}, nil)
		var failed *jsonrpc2.Error
		require.ErrorAs(t, err, &failed)
		assert.EqualValues(t, rpcerr.CodeResourceNotFound, failed.Code)
		e.texts = nil
		require.NoError(t, call("session/load", map[string]any{"sessionId": session.SessionID, "cwd": cwd, "mcpServers": []any{}}, nil))
		assert.Contains(t, e.text(), "notes.txt has 2 lines")
		require.NoError(t, conn.Close())
		<-served
	})
}

// quiet is a client that serves nothing.
type quiet struct{}

func (quiet) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (quiet) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

// independent is an agent on the library. It repeats its prompts word by word, fails on
// "fail", and answers "wait" when the client cancels the turn.
type independent struct{ cancelled chan struct{} }

func (a *independent) handle(ctx context.Context, c *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	switch r.Method {
	case "initialize":
		return map[string]any{"protocolVersion": 1, "agentCapabilities": struct{}{}}, nil
	case "session/new":
		return map[string]string{"sessionId": "s"}, nil
	case "session/cancel":
		close(a.cancelled)
		return nil, nil
	case "session/prompt":
		var p acp.PromptRequest
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			return nil, err
		}
		switch text := acp.PlainText(p.Prompt...); text {
		case "fail":
			return nil, &jsonrpc2.Error{Code: -31000, Message: "quota used up"}
		case "wait":
			<-a.cancelled
			return map[string]string{"stopReason": "cancelled"}, nil
		default:
			for _, word := range strings.SplitAfter(text, " ") {
				err := c.Notify(ctx, "session/update", map[string]any{"sessionId": "s", "update": map[string]any{
					"sessionUpdate": "agent_message_chunk", "content": map[string]string{"type": "text", "text": word}}})
				if err != nil {
					return nil, err
				}
			}
			return map[string]string{"stopReason": "end_turn"}, nil
		}
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "Method not found: " + r.Method}
}

// Our client runs the turns of an agent that shares nothing with this module but the
// protocol, cancels one, and gets errors by their code.
func TestTurnsOfAnIndependentAgent(t *testing.T) {
	overEach(t, func(t *testing.T, near stream.Stream, far jsonrpc2.ObjectStream) {
		a := &independent{cancelled: make(chan struct{})}
		defer newConn(t, far, jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(a.handle))).Close()
		conn, err := client.Connect(t.Context(), near, func(*client.Conn) acp.Client { return quiet{} }, nil)
		require.NoError(t, err)
		session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
		require.NoError(t, err)
		text, err := session.Prompt(t.Context(), acp.Text("some words to repeat")).Text()
		require.NoError(t, err)
		assert.Equal(t, "some words to repeat", text)
		_, err = session.Prompt(t.Context(), acp.Text("fail")).Wait()
		code, _ := rpcerr.CodeOf(err)
		assert.EqualValues(t, -31000, code)
		turn := session.Prompt(t.Context(), acp.Text("wait"))
		require.NoError(t, session.Cancel(t.Context()))
		response, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, response.StopReason)
		require.NoError(t, conn.Close())
		require.NoError(t, conn.Wait())
	})
}

// What a stream skips does not end the library's connection: the request is refused, and the
// call fails.
func TestSkippedMessages(t *testing.T) {
	near, far := stream.Pipe()
	x, y := sockets(t)
	long := stream.Lines(x, x, &stream.LinesOptions{MaxMessage: 1000})
	go func() { _ = stream.Forward(near, stream.Lines(y, y, nil)) }() // ends with the streams
	conn := jsonrpc2.NewConn(t.Context(), objectstream.Of(long), jsonrpc2.HandlerWithError(func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) (any, error) {
		return "served", nil
	}))
	defer conn.Close()
	write := func(msg string) { require.NoError(t, far.Write([]byte(msg))) }
	read := func() string {
		msg, err := far.Read()
		require.NoError(t, err)
		return string(msg)
	}
	fill := strings.Repeat("x", 2000)

	write(`{"jsonrpc":"2.0","id":"a","method":"m","params":"` + fill + `"}`)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"Invalid request: message is too long"}}`, read())
	write(`{"jsonrpc":"2.0","method":"m","params":"` + fill + `"}`)
	write(`not JSON`)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, read())
	write(`{"jsonrpc":"2.0","id":5,"method":"m"}`)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":5,"result":"served"}`, read())

	failed := make(chan error, 1)
	go func() { failed <- conn.Call(t.Context(), "m", nil, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: 7})) }() // ends with the response
	assert.Contains(t, read(), `"id":7`)
	write(`{"jsonrpc":"2.0","id":7,"result":"` + fill + `"}`)
	var refused *jsonrpc2.Error
	require.ErrorAs(t, <-failed, &refused)
	assert.Contains(t, refused.Message, "message is too long")
}
