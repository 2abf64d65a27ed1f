package onjsonrpc2_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/onjsonrpc2"
	"github.com/acpkit/go-sdk/client"
	onclient "github.com/acpkit/go-sdk/client/onjsonrpc2"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// TestMain is the child process of TestOverStdio if the environment says so.
func TestMain(m *testing.M) {
	switch os.Getenv("ONJSONRPC2_CHILD") {
	case "of":
		serve(stream.Stdio())
	case "plain":
		stdio := struct {
			io.Reader
			io.WriteCloser
		}{os.Stdin, os.Stdout}
		<-jsonrpc2.NewConn(context.Background(), jsonrpc2.NewPlainObjectStream(stdio),
			onjsonrpc2.Handler(func(c acp.Client) acp.Agent { return echo{c} }, nil)).DisconnectNotify()
	default:
		os.Exit(m.Run())
	}
}

// An agent on the library in a process of its own serves clients of package client and of the library,
// over the streams of both.
func TestOverStdio(t *testing.T) {
	for _, child := range []string{"of", "plain"} {
		start := func(t *testing.T) *stream.Process {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "ONJSONRPC2_CHILD="+child)
			p, err := stream.Command(cmd, nil)
			require.NoError(t, err)
			return p
		}
		t.Run("package client over "+child, func(t *testing.T) {
			conn, err := client.Connect(t.Context(), start(t), func(*client.Conn) acp.Client { return quiet{} }, nil)
			require.NoError(t, err)
			session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
			require.NoError(t, err)
			text, err := session.Prompt(t.Context(), acp.Text("hello")).Text()
			require.NoError(t, err)
			assert.Equal(t, "You said: hello", text)
			require.NoError(t, conn.Close())
			require.NoError(t, conn.Wait())
		})
		t.Run("the library over "+child, func(t *testing.T) {
			said := make(chan string, 1)
			c := &peertest.FullClient{Do: func(_ context.Context, _ string, params any) (any, error) {
				said <- acp.PlainText(params.(*acp.SessionNotification).Update.(*acp.AgentMessageChunk).Content)
				return nil, nil
			}}
			conn := newConn(t, start(t), onclient.Handler(func(acp.Agent) acp.Client { return c }, &onclient.Options{Unstable: true}))
			a := onclient.Agent(conn)
			_, err := a.Initialize(t.Context(), nil)
			require.NoError(t, err)
			session, err := a.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
			require.NoError(t, err)
			_, err = a.Prompt(t.Context(), prompt(session.SessionID, "hello"))
			require.NoError(t, err)
			assert.Equal(t, "You said: hello", <-said)
			require.NoError(t, conn.Close())
		})
	}
}

func prompt(id acp.SessionID, text string) *acp.PromptRequest {
	return &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text(text)}}
}

func newConn(t *testing.T, s stream.Stream, h jsonrpc2.Handler) *jsonrpc2.Conn {
	return jsonrpc2.NewConn(context.Background(), objectstream.Of(s), h, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
}

// silent is a logger for tests in which errors are expected.
var silent = slog.New(slog.DiscardHandler)

// fixture is an agent on the library, whose methods call do, and a client that reads and writes by hand.
type fixture struct {
	t    *testing.T
	peer stream.Stream
	conn *jsonrpc2.Conn
}

// connect starts an agent and initializes it. The agent's methods call do.
func connect(t *testing.T, do func(c acp.Client) peertest.Do) *fixture {
	f := connectTo(t, onjsonrpc2.Handler(func(c acp.Client) acp.Agent { return &peertest.FullAgent{Do: do(c)} },
		&onjsonrpc2.Options{Unstable: true, Logger: silent}))
	f.write(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":1}}`)
	assert.Contains(t, f.read(), `"protocolVersion":1`)
	return f
}

func connectTo(t *testing.T, h jsonrpc2.Handler) *fixture {
	near, far := stream.Pipe()
	f := &fixture{t: t, peer: near, conn: newConn(t, far, h)}
	t.Cleanup(func() { _ = f.conn.Close() }) // a test may have closed it
	return f
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

func request(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

func notification(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

const (
	promptParams = `{"sessionId":"s","prompt":[]}`
	modeParams   = `{"sessionId":"s","modeId":"m"}`
)

// Whatever a handler does, each request has one response and the connection lives.
func TestEveryRequestIsAnsweredOnce(t *testing.T) {
	const internal = `"error":{"code":-32603,"message":"Internal error","data":{"errorId":"`
	data := json.RawMessage(`{"k":1}`)
	for name, test := range map[string]struct {
		method, params string
		do             peertest.Do
		want           string
	}{
		"a result":           {"session/set_mode", modeParams, nil, `"result":{}`},
		"broken params":      {"session/new", `{"cwd":"relative","mcpServers":[]}`, nil, `"error":{"code":-32602,"message":"Invalid params","data":{"_errors":[],"cwd":{"_errors":["must be an absolute path"]}}}`},
		"no params":          {"session/new", `null`, nil, `"code":-32602`},
		"a client's method":  {"fs/read_text_file", `{}`, nil, `"code":-32601`},
		"an internal method": {"$/x", `{}`, nil, `"code":-32601`},
		"an extension":       {"_x", `{"a":[1,"<"]}`, nil, `"result":{"a":[1,"\u003c"]}`},
		"an error":           {"session/set_mode", modeParams, fail(errors.New("secret")), internal},
		"an error of rpcerr": {"session/set_mode", modeParams, fail(fmt.Errorf("x: %w", rpcerr.SessionNotFound("s"))), `"code":-32002`},
		"an error of the library": {"session/set_mode", modeParams, fail(&jsonrpc2.Error{Code: -31000, Message: "quota", Data: &data}),
			`"error":{"code":-31000,"message":"quota","data":{"k":1}}`},
		"a panic":            {"session/set_mode", modeParams, func(context.Context, string, any) (any, error) { panic("secret") }, internal},
		"an ended goroutine": {"session/set_mode", modeParams, func(context.Context, string, any) (any, error) { runtime.Goexit(); return nil, nil }, internal},
		"an invalid result": {"session/new", `{"cwd":"/w","mcpServers":[]}`,
			func(context.Context, string, any) (any, error) { return &acp.NewSessionResponse{}, nil }, internal},
		"a result that cannot be encoded": {"_x", `{}`, func(context.Context, string, any) (any, error) { return func() {}, nil }, internal},
		"a panic in an error":             {"_x", `{}`, fail((*badError)(nil)), internal},
		"data that cannot be encoded":     {"_x", `{}`, fail(rpcerr.InvalidParams(func() {})), `"error":{"code":-32602,"message":"Invalid params"}`},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			f := connect(t, func(acp.Client) peertest.Do {
				return func(ctx context.Context, method string, params any) (any, error) {
					if test.do == nil || method == "initialize" {
						return nil, nil
					}
					return test.do(ctx, method, params)
				}
			})
			f.write(request("1", test.method, test.params))
			assert.Contains(t, f.read(), test.want)
			f.write(request("1", "session/list", "{}"))
			assert.Contains(t, f.read(), `"id":1,`)
		})
	}
}

func fail(err error) peertest.Do {
	return func(context.Context, string, any) (any, error) { return nil, err }
}

type badError struct{ text string }

func (e *badError) Error() string { return e.text }

// A handler that returns no result has an empty one where the method allows it.
func TestNilResults(t *testing.T) {
	f := connectTo(t, onjsonrpc2.Handler(func(acp.Client) acp.Agent { return nothing{} }, &onjsonrpc2.Options{Logger: silent}))
	f.write(request("0", "initialize", `{"protocolVersion":7}`))
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"auth":{"logout":{}}},"authMethods":[]}}`, f.read())
	for method, want := range map[string]string{"logout": `"result":{}`, "session/prompt": `"code":-32603`,
		"session/unknown": `"error":{"code":-32601,"message":"Method not found: session/unknown","data":{"method":"session/unknown"}}`} {
		f.write(request("1", method, promptParams))
		assert.Contains(t, f.read(), want)
	}
}

// nothing is an agent whose methods return nothing.
type nothing struct{}

func (nothing) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return nil, nil
}
func (nothing) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return nil, nil
}
func (nothing) Prompt(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) {
	return nil, nil
}
func (nothing) Cancel(context.Context, *acp.CancelNotification) error { return nil }
func (nothing) Logout(context.Context, *acp.LogoutRequest) (*acp.LogoutResponse, error) {
	return nil, nil
}

// The response has the id of the request, whatever JSON allows; and a cancel finds the request.
func TestIDsOfEveryKind(t *testing.T) {
	for _, id := range []string{`0`, `1`, `-1`, `1.5`, `1e3`, `null`, `""`, `"1"`, `"json:1"`, `"\ud800"`, `9007199254740993`, `18446744073709551616`} {
		synctest.Test(t, func(t *testing.T) {
			f := connect(t, func(acp.Client) peertest.Do {
				return func(ctx context.Context, method string, _ any) (any, error) {
					if method == "session/prompt" {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return nil, nil
				}
			})
			f.write(request(id, "session/prompt", promptParams))
			f.write(request(id, "session/list", "{}"))
			assert.JSONEq(t, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32600,"message":"Invalid request: id is in use"}}`, f.read())
			f.write(notification("$/cancel_request", `{"requestId":`+id+`}`))
			got := f.read()
			assert.Contains(t, got, `"id":`+id+`,`)
			assert.Contains(t, got, `"code":-32800`)
		})
	}
}

// Cancelling ends the ctx of the session's prompts, whether their handlers have begun or not.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		var causes []error
		cancelled := make(chan acp.SessionID, 9)
		f := connect(t, func(acp.Client) peertest.Do {
			return func(ctx context.Context, method string, params any) (any, error) {
				switch p := params.(type) {
				case *acp.PromptRequest:
					<-ctx.Done()
					causes = append(causes, context.Cause(ctx))
					return nil, errors.New("whatever")
				case *acp.CancelNotification:
					cancelled <- p.SessionID
				}
				return nil, nil
			}
		})
		const stopped = `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"cancelled"}}`
		cancel := notification("session/cancel", `{"sessionId":"s"}`)
		f.write(request("1", "session/prompt", promptParams), notification("session/cancel", `{"sessionId":"other"}`), cancel)
		assert.JSONEq(t, stopped, f.read())
		f.write(request("1", "session/prompt", promptParams))
		synctest.Wait()
		f.write(cancel, cancel, notification("session/cancel", `{}`), notification("session/cancel", `{"sessionId":5}`))
		assert.JSONEq(t, stopped, f.read())
		f.write(request("1", "session/prompt", promptParams), request("2", "session/close", `{"sessionId":"s"}`))
		both := f.read() + f.read()
		assert.Contains(t, both, `"stopReason":"cancelled"`)
		assert.Contains(t, both, `"id":2,`)
		synctest.Wait()
		assert.Equal(t, []error{acp.ErrTurnCancelled, acp.ErrTurnCancelled, acp.ErrTurnCancelled}, causes)
		var ids []acp.SessionID
		for len(cancelled) > 0 {
			ids = append(ids, <-cancelled)
		}
		assert.Equal(t, []acp.SessionID{"other", "s", "s", "s"}, ids, "what breaks the schema is dropped")
		f.write(cancel, request("3", "session/list", "{}"))
		assert.Contains(t, f.read(), `"id":3`, "a cancel without a turn does nothing")
	})
}

// Notifications are handled one at a time, in order, while a handler calls the client, fails, panics
// or ends its goroutine.
func TestNotificationsAreHandledInOrder(t *testing.T) {
	leak.Check(t)
	var mu sync.Mutex
	var got []string
	done := make(chan struct{})
	f := connect(t, func(c acp.Client) peertest.Do {
		return func(ctx context.Context, method string, params any) (any, error) {
			raw, ok := params.(json.RawMessage)
			if !ok {
				return nil, nil
			}
			mu.Lock()
			got = append(got, string(raw))
			mu.Unlock()
			switch method {
			case "_ask":
				return c.(acp.ExtensionHandler).HandleExtension(ctx, "_question", raw)
			case "_panic":
				panic("x")
			case "_exit":
				runtime.Goexit()
			case "_end":
				close(done)
			}
			return nil, errors.New("x")
		}
	})
	var want []string
	for i := range 100 {
		for _, method := range []string{"_ask", "_panic", "_exit", "_fail"} {
			want = append(want, fmt.Sprintf("[%q,%d]", method, i))
			f.write(notification(method, want[len(want)-1]))
		}
	}
	f.write(notification("_end", `["end"]`))
	for i := range 100 {
		var m struct {
			ID     json.RawMessage
			Params json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(f.read()), &m))
		assert.Equal(t, fmt.Sprintf(`["_ask",%d]`, i), string(m.Params))
		f.write(request("5", "session/list", "{}"))
		assert.Contains(t, f.read(), `"id":5,`, "requests are served meanwhile")
		f.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":null}`, m.ID))
	}
	<-done
	assert.Equal(t, append(want, `["end"]`), got)
}

// Before initialize nothing else is served, and what follows it waits for its response.
func TestInitializeComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan error)
		var handled atomic.Int32
		f := connectTo(t, onjsonrpc2.Handler(func(acp.Client) acp.Agent {
			return &peertest.FullAgent{Do: func(_ context.Context, method string, _ any) (any, error) {
				if method == "initialize" {
					return nil, <-release
				}
				handled.Add(1)
				return nil, nil
			}}
		}, &onjsonrpc2.Options{Unstable: true, Logger: silent}))
		const initialize, list = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","id":2,"method":"session/list"}`
		const refused = `"error":{"code":-32600,"message":"Invalid request: ACP connection must be initialized before 'session/list'"}`
		f.write(notification("session/cancel", `{"sessionId":"s"}`), list)
		assert.Contains(t, f.read(), refused)
		f.write(initialize, list)
		synctest.Wait()
		release <- errors.New("x")
		assert.Contains(t, f.read(), `"id":1,`)
		assert.Contains(t, f.read(), refused)
		f.write(initialize, list, notification("session/cancel", `{"sessionId":"s"}`))
		synctest.Wait()
		assert.Zero(t, handled.Load())
		release <- nil
		assert.Contains(t, f.read(), `"id":1,`)
		assert.Contains(t, f.read(), `"id":2,`)
		synctest.Wait()
		assert.EqualValues(t, 2, handled.Load())
	})
}

// A request waits for the handshake that was read before it. That the next one has succeeded does not open the connection
// for it, whichever of the two goes on first.
func TestRequestBetweenHandshakes(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			results := make(chan error, 2)
			f := connectTo(t, onjsonrpc2.Handler(func(acp.Client) acp.Agent {
				return &peertest.FullAgent{Do: func(_ context.Context, method string, _ any) (any, error) {
					if method == "initialize" {
						return nil, <-results
					}
					return nil, nil
				}}
			}, &onjsonrpc2.Options{Unstable: true, Logger: silent}))
			f.write(request("1", "initialize", `{"protocolVersion":1}`), request("2", "session/list", `{}`), request("3", "initialize", `{"protocolVersion":1}`))
			synctest.Wait()
			results <- errors.New("x")
			results <- nil
			for range 3 {
				if m := f.read(); strings.Contains(m, `"id":2,`) {
					assert.Contains(t, m, `"code":-32600`)
				}
			}
		})
	}
}

// A thousand requests run at once, each of which calls the client.
func TestManyRequestsAtOnce(t *testing.T) {
	leak.Check(t)
	near, far := stream.Pipe()
	var running atomic.Int32
	all := make(chan struct{})
	const n = 1000
	agent := newConn(t, far, onjsonrpc2.Handler(func(c acp.Client) acp.Agent {
		return &peertest.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
			if method != "_nest" {
				return nil, nil
			}
			if running.Add(1) == n {
				close(all)
			}
			<-all
			return c.(acp.ExtensionHandler).HandleExtension(ctx, "_back", params.(json.RawMessage))
		}}
	}, &onjsonrpc2.Options{Unstable: true}))
	defer agent.Close()
	conn := newConn(t, near, onclient.Handler(func(acp.Agent) acp.Client { return &peertest.FullClient{} }, &onclient.Options{Unstable: true}))
	defer conn.Close()
	a := onclient.Agent(conn)
	_, err := a.Initialize(t.Context(), nil)
	require.NoError(t, err)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			res, err := a.(acp.ExtensionHandler).HandleExtension(t.Context(), "_nest", json.RawMessage(fmt.Sprint(i)))
			assert.NoError(t, err)
			assert.Equal(t, json.RawMessage(fmt.Sprint(i)), res)
		})
	}
	group.Wait()
}

// The end of the connection ends handlers and calls, and leaves nothing behind.
func TestEndOfTheConnection(t *testing.T) {
	for name, end := range map[string]func(f *fixture){
		"close":        func(f *fixture) { _ = f.conn.Close() },
		"end of input": func(f *fixture) { _ = f.peer.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			var client acp.Client
			failed, waiting := make(chan error, 3), make(chan struct{}, 3)
			f := connect(t, func(c acp.Client) peertest.Do {
				client = c
				return func(ctx context.Context, method string, _ any) (any, error) {
					switch method {
					case "session/prompt", "_call":
						waiting <- struct{}{}
						_, err := c.RequestPermission(context.Background(), &acp.RequestPermissionRequest{SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: "t"}})
						failed <- err
						return nil, err
					case "session/load":
						waiting <- struct{}{}
						<-ctx.Done()
						failed <- acp.ErrClosed
					}
					return nil, nil
				}
			})
			f.write(request("1", "session/prompt", promptParams), notification("_call", "1"), request("2", "session/load", `{"sessionId":"s","cwd":"/w","mcpServers":[]}`))
			for range 3 {
				<-waiting
			}
			assert.Contains(t, f.read()+f.read(), "session/request_permission")
			end(f)
			for range 3 {
				require.ErrorIs(t, <-failed, acp.ErrClosed)
			}
			require.ErrorIs(t, client.SessionUpdate(t.Context(), &acp.SessionNotification{SessionID: "s", Update: &acp.AgentMessageChunk{Content: acp.Text("x")}}), acp.ErrClosed)
			_, err := client.RequestPermission(t.Context(), &acp.RequestPermissionRequest{SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: "t"}})
			require.ErrorIs(t, err, acp.ErrClosed)
		})
	}
}

// What the client says arrives as it was meant, and nothing invalid is sent to it.
func TestCallsOfTheAgent(t *testing.T) {
	leak.Check(t)
	var client acp.Client
	f := connect(t, func(c acp.Client) peertest.Do { client = c; return nil })
	read := &acp.ReadTextFileRequest{SessionID: "s", Path: "/f"}
	type outcome struct {
		res *acp.ReadTextFileResponse
		err error
	}
	call := func(ctx context.Context) chan outcome {
		got := make(chan outcome, 1)
		go func() { // ends with the call
			res, err := client.(acp.TextFileReader).ReadTextFile(ctx, read)
			got <- outcome{res, err}
		}()
		return got
	}
	answer := func(member string) {
		var m struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(f.read()), &m))
		f.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,%s}`, m.ID, member))
	}

	got := call(t.Context())
	answer(`"result":{"content":"hello"}`)
	assert.Equal(t, outcome{&acp.ReadTextFileResponse{Content: "hello"}, nil}, <-got)
	got = call(t.Context())
	answer(`"error":{"code":-32002,"message":"gone","data":{"uri":"/f"}}`)
	err := (<-got).err
	require.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
	var said *rpcerr.RequestError
	require.ErrorAs(t, err, &said)
	assert.JSONEq(t, `{"uri":"/f"}`, string(said.Data.(json.RawMessage)))
	got = call(t.Context())
	answer(`"result":{"content":5}`)
	require.ErrorAs(t, (<-got).err, new(*acp.InvalidError))

	ctx, cancel := context.WithCancel(t.Context())
	got = call(ctx)
	var m struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(f.read()), &m))
	cancel()
	require.ErrorIs(t, (<-got).err, context.Canceled)
	assert.JSONEq(t, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"`+m.ID+`"}}`, f.read())
	f.write(`{"jsonrpc":"2.0","id":"` + m.ID + `","result":{"content":"late"}}`)
	require.ErrorIs(t, (<-call(ctx)).err, context.Canceled)

	require.ErrorAs(t, client.SessionUpdate(t.Context(), nil), new(*acp.InvalidError))
	require.ErrorAs(t, client.SessionUpdate(t.Context(), &acp.SessionNotification{SessionID: "s", Update: (*acp.AgentMessageChunk)(nil)}), new(*acp.InvalidError))
	_, err = client.(acp.Elicitor).CreateElicitation(t.Context(), &acp.CreateElicitationRequest{Message: "x",
		Mode: &acp.ElicitationURLMode{URL: "file:///bin/sh", ElicitationID: "e", Scope: &acp.ElicitationSessionScope{SessionID: "s"}}})
	require.ErrorContains(t, err, "must be an http or https URL")
	f.write(request("9", "session/list", "{}"))
	assert.Contains(t, f.read(), `"id":9,`, "nothing was sent in between")
}

// What cannot be served is said in the log, and each request fails.
func TestWhatCannotBeServed(t *testing.T) {
	for want, newAgent := range map[string]func(acp.Client) acp.Agent{
		"given a nil func":              nil,
		"given to Handler returned nil": func(acp.Client) acp.Agent { return (*echo)(nil) },
		"which is unstable":             func(acp.Client) acp.Agent { return &peertest.FullAgent{} },
		"panic: boom":                   func(acp.Client) acp.Agent { panic("boom") },
		"without acp.SessionLoader": func(acp.Client) acp.Agent {
			return advertiser{}
		},
	} {
		t.Run(want, func(t *testing.T) {
			var logged strings.Builder
			f := connectTo(t, onjsonrpc2.Handler(newAgent, &onjsonrpc2.Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))}))
			for range 2 {
				f.write(request("1", "initialize", `{"protocolVersion":1}`))
				assert.Contains(t, f.read(), `"code":-32603`)
			}
			require.NoError(t, f.conn.Close())
			assert.Contains(t, logged.String(), want)
		})
	}
}

// advertiser advertises what it does not serve.
type advertiser struct{ nothing }

func (advertiser) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentCapabilities: &acp.AgentCapabilities{LoadSession: true}}, nil
}

// One handler serves many connections, each with an agent of its own.
func TestOneHandlerForManyConnections(t *testing.T) {
	leak.Check(t)
	var agents atomic.Int32
	h := onjsonrpc2.Handler(func(c acp.Client) acp.Agent { agents.Add(1); return echo{c} }, nil)
	for range 3 {
		f := connectTo(t, h)
		for range 2 {
			f.write(request("1", "initialize", `{"protocolVersion":1}`))
			assert.Contains(t, f.read(), `"name":"echo"`)
		}
	}
	assert.EqualValues(t, 3, agents.Load())
}

// A handler may close the connection, and a message may come in the wrong form.
func TestOddMessages(t *testing.T) {
	leak.Check(t)
	var conn *jsonrpc2.Conn
	closed := make(chan error, 1)
	f := connect(t, func(acp.Client) peertest.Do {
		return func(_ context.Context, method string, _ any) (any, error) {
			if method == "_close" {
				closed <- conn.Close()
			}
			return nil, nil
		}
	})
	conn = f.conn
	f.write(notification("session/prompt", promptParams), notification("$/cancel_request", "null"), notification("$/cancel_request", "[]"),
		notification("$/cancel_request", `{"requestId":{}}`), notification("$/cancel_request", `{"requestId":77}`), notification("session/unknown", "{}"))
	f.write(request("1", "session/cancel", `{"sessionId":"s"}`))
	assert.Contains(t, f.read(), `"code":-32601`, "session/cancel is a notification")
	f.write(request("2", "_x", "[1e400]"))
	assert.Contains(t, f.read(), `"result":[1e400]`)
	f.write(request("3", "_close", "{}"))
	require.NoError(t, <-closed)
	_, err := f.peer.Read()
	require.ErrorIs(t, err, io.EOF)
}

// Relative paths are served with LenientPaths.
func TestLenientPaths(t *testing.T) {
	f := connectTo(t, onjsonrpc2.Handler(func(c acp.Client) acp.Agent { return echo{c} }, &onjsonrpc2.Options{LenientPaths: true}))
	f.write(request("1", "initialize", `{"protocolVersion":1}`))
	_ = f.read()
	f.write(request("2", "session/new", `{"cwd":"relative","mcpServers":[]}`))
	assert.Contains(t, f.read(), `"sessionId":"session-1"`)
}

// What the package comment says of ids over the streams of the library.
func TestIDsOverTheLibrary(t *testing.T) {
	x, y := net.Pipe()
	conn := jsonrpc2.NewConn(context.Background(), jsonrpc2.NewPlainObjectStream(y),
		onjsonrpc2.Handler(func(c acp.Client) acp.Agent { return echo{c} }, nil), jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	peer := stream.Lines(x, x, nil)
	f := &fixture{t: t, peer: peer, conn: conn}
	f.write(request("-1", "initialize", `{"protocolVersion":1}`))
	assert.Contains(t, f.read(), `"id":18446744073709551615,`)
	f.write(request("null", "session/new", `{"cwd":"/w","mcpServers":[]}`), request("5", "session/new", `{"cwd":"/w","mcpServers":[]}`))
	assert.Contains(t, f.read(), `"id":5,`)
	f.write(request("1.5", "session/new", `{}`))
	<-conn.DisconnectNotify()
}

// A system prompt that the agent did not advertise is refused, in each request that has one.
func TestSystemPromptsAreRefused(t *testing.T) {
	var caps *acp.AgentCapabilities
	f := connect(t, func(acp.Client) peertest.Do {
		return func(_ context.Context, method string, _ any) (any, error) {
			if method == "initialize" && caps != nil {
				return &acp.InitializeResponse{AgentCapabilities: caps}, nil
			}
			return nil, nil
		}
	})
	ask := func(mode string) string {
		answers := ""
		for _, method := range []string{"session/new", "session/load", "session/resume", "session/fork"} {
			f.write(request("1", method, `{"sessionId":"s","cwd":"/w","mcpServers":[],"systemPrompt":{"mode":"`+mode+`","content":[{"type":"text","text":"x"}]}}`))
			answers += f.read()
		}
		return answers
	}
	assert.Equal(t, 4, strings.Count(ask("append"), `"code":-32602,"message":"Invalid params: this agent takes no system prompt: it did not advertise sessionCapabilities.systemPrompt"`))
	caps = &acp.AgentCapabilities{LoadSession: true, SessionCapabilities: &acp.SessionCapabilities{
		SystemPrompt: &acp.SessionSystemPromptCapabilities{}, Resume: &acp.SessionResumeCapabilities{}, Fork: &acp.SessionForkCapabilities{},
	}}
	f.write(request("1", "initialize", `{"protocolVersion":1}`))
	_ = f.read()
	assert.Zero(t, strings.Count(ask("append"), `"error"`))
	assert.Equal(t, 4, strings.Count(ask("override"), `"code":-32602`))
}
