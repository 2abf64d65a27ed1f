package onjsonrpc2_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/onjsonrpc2"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// fixture is a client on the library, and an agent that reads and writes by hand.
type fixture struct {
	t     *testing.T
	peer  stream.Stream
	conn  *jsonrpc2.Conn
	agent acp.Agent
}

func connect(t *testing.T, newClient func(acp.Agent) acp.Client) *fixture {
	near, far := stream.Pipe()
	conn := jsonrpc2.NewConn(context.Background(), objectstream.Of(far), onjsonrpc2.Handler(newClient,
		&onjsonrpc2.Options{Unstable: true, Logger: slog.New(slog.DiscardHandler)}), jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	t.Cleanup(func() { _ = conn.Close() }) // a test may have closed it
	return &fixture{t, near, conn, onjsonrpc2.Agent(conn)}
}

func (f *fixture) write(messages ...string) {
	f.t.Helper()
	for _, m := range messages {
		require.NoError(f.t, f.peer.Write([]byte(m)))
	}
}

func (f *fixture) read() string {
	f.t.Helper()
	b, err := f.peer.Read()
	require.NoError(f.t, err)
	return string(b)
}

// answer reads a request, and responds to it with a member.
func (f *fixture) answer(member string) (request string) {
	f.t.Helper()
	request = f.read()
	var m struct{ ID json.RawMessage }
	require.NoError(f.t, json.Unmarshal([]byte(request), &m))
	f.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, member))
	return request
}

// result runs a call that the peer answers with a member.
func result[R any](f *fixture, member string, call func() (R, error)) (R, error) {
	got := make(chan R, 1)
	failed := make(chan error, 1)
	go func() { // ends with the call
		r, err := call()
		got <- r
		failed <- err
	}()
	f.answer(member)
	return <-got, <-failed
}

func full(do peertest.Do) func(acp.Agent) acp.Client {
	return func(acp.Agent) acp.Client { return &peertest.FullClient{Do: do} }
}

// Initialize sends version 1, and fails for an agent of another.
func TestInitialize(t *testing.T) {
	leak.Check(t)
	f := connect(t, full(nil))
	initialize := func() (*acp.InitializeResponse, error) { return f.agent.Initialize(t.Context(), nil) }
	res, err := result(f, `"result":{"protocolVersion":1}`, initialize)
	require.NoError(t, err)
	assert.EqualValues(t, 1, res.ProtocolVersion)
	_, err = result(f, `"result":{"protocolVersion":3}`, initialize)
	var version *acp.VersionError
	require.ErrorAs(t, err, &version)
	assert.Equal(t, 3, version.Answered)
	_, err = result(f, `"result":{}`, initialize)
	require.Error(t, err)
	_, err = result(f, `"error":{"code":-32000,"message":"sign in"}`, initialize)
	require.ErrorIs(t, err, rpcerr.ErrAuthRequired)
}

// When the ctx of Prompt ends, the turn is cancelled at the agent; any other call is cancelled by itself.
func TestCancelledCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		f := connect(t, full(nil))
		for method, call := range map[string]func(context.Context) error{
			"session/cancel": func(ctx context.Context) error {
				_, err := f.agent.Prompt(ctx, &acp.PromptRequest{SessionID: "s"})
				return err
			},
			"$/cancel_request": func(ctx context.Context) error {
				_, err := f.agent.(acp.SessionLister).ListSessions(ctx, nil)
				return err
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() { failed <- call(ctx) }() // ends with the call
			request := f.read()
			cancel()
			require.ErrorIs(t, <-failed, context.Canceled)
			assert.Contains(t, f.read(), `"method":"`+method+`"`)
			var m struct{ ID string }
			require.NoError(t, json.Unmarshal([]byte(request), &m))
			f.write(`{"jsonrpc":"2.0","id":"` + m.ID + `","result":{"stopReason":"cancelled"}}`) // is ignored
			require.ErrorIs(t, call(ctx), context.Canceled)
		}
		synctest.Wait()
	})
}

// A client is asked what it can do, and nothing else.
func TestQuestions(t *testing.T) {
	leak.Check(t)
	f := connect(t, full(func(_ context.Context, method string, params any) (any, error) {
		if method == "fs/read_text_file" {
			return nil, rpcerr.ResourceNotFound(params.(*acp.ReadTextFileRequest).Path)
		}
		return nil, nil
	}))
	const page = `{"sessionId":"s","mode":"url","elicitationId":"e","message":"m","url":%q}`
	for _, test := range []struct{ method, params, want string }{
		{"fs/read_text_file", `{"sessionId":"s","path":"/gone"}`, `"code":-32002`},
		{"fs/read_text_file", `{"sessionId":"s"}`, `"path":{"_errors":[`},
		{"session/request_permission", `{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"o","name":"O","kind":"allow_once"}]}`, `"optionId":"o"`},
		{"elicitation/create", fmt.Sprintf(page, "https://example.com"), `"action":`},
		{"elicitation/create", fmt.Sprintf(page, "file:///bin/sh"), `"code":-32602`},
		{"session/prompt", `{}`, `"code":-32601`},
		{"_ours", `{"a":1}`, `"result":{"a":1}`},
	} {
		f.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, test.method, test.params))
		assert.Contains(t, f.read(), test.want, test.method)
	}
}

// Updates are handled in their order, and a handler may call the agent. The response to a call does not
// wait for them.
func TestUpdatesInOrder(t *testing.T) {
	leak.Check(t)
	const n = 500
	texts, done := []string{}, make(chan struct{})
	var agent acp.Agent
	f := connect(t, full(func(ctx context.Context, _ string, params any) (any, error) {
		if u, ok := params.(*acp.SessionNotification); ok {
			texts = append(texts, acp.PlainText(u.Update.(*acp.AgentMessageChunk).Content))
			if len(texts) == 1 {
				_, err := agent.Prompt(ctx, &acp.PromptRequest{SessionID: "inner"})
				assert.NoError(t, err)
			}
			if len(texts) == n {
				close(done)
			}
		}
		return nil, nil
	}))
	agent = f.agent
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint(i))
		f.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d"}}}}`, i))
	}
	f.answer(`"result":{"stopReason":"end_turn"}`) // of the handler, while all others wait
	<-done
	assert.Equal(t, want, texts)
}

// What breaks the schema is refused before it is sent, and a nil connection by an error.
func TestWhatIsNotSent(t *testing.T) {
	f := connect(t, full(nil))
	_, err := f.agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "relative"})
	var invalid *acp.InvalidError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "cwd", invalid.Fields[0].Path)
	_, err = f.agent.Prompt(t.Context(), nil)
	require.ErrorAs(t, err, &invalid)
	_, err = f.agent.(acp.ExtensionHandler).HandleExtension(t.Context(), "_x", json.RawMessage(`{`))
	require.Error(t, err)
	require.NoError(t, f.agent.(acp.ExtensionNotificationHandler).HandleExtensionNotification(t.Context(), "_x", nil))
	assert.JSONEq(t, `{"jsonrpc":"2.0","method":"_x"}`, f.read())

	none := onjsonrpc2.Agent(nil)
	_, err = none.Initialize(t.Context(), nil)
	require.ErrorContains(t, err, "nil *jsonrpc2.Conn")
	require.ErrorContains(t, none.Cancel(t.Context(), &acp.CancelNotification{SessionID: "s"}), "nil *jsonrpc2.Conn")
}

// A client that cannot be served fails each request, and the log says why.
func TestWhatCannotBeServed(t *testing.T) {
	for want, newClient := range map[string]func(acp.Agent) acp.Client{
		"given a nil func":          nil,
		"given to Handler returned": func(acp.Agent) acp.Client { return (*asker)(nil) },
		"which is unstable":         full(nil),
		"panic: boom":               func(acp.Agent) acp.Client { panic(errors.New("boom")) },
	} {
		t.Run(want, func(t *testing.T) {
			var logged strings.Builder
			near, far := stream.Pipe()
			conn := jsonrpc2.NewConn(context.Background(), objectstream.Of(far), onjsonrpc2.Handler(newClient,
				&onjsonrpc2.Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))}))
			f := &fixture{t: t, peer: near}
			f.write(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}`)
			assert.Contains(t, f.read(), `"code":-32603`)
			require.NoError(t, conn.Close())
			assert.Contains(t, logged.String(), want)
		})
	}
}
