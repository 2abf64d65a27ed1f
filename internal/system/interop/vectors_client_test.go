package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// What the TypeScript SDK's client sent and answered, ours does too, but for
// differences.
func TestClientVectors(t *testing.T) {
	for _, v := range vectors(t, "client") {
		t.Run(v.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { checkClient(t, &v) })
		})
	}
}

func checkClient(t *testing.T, v *vector) {
	w, r, out := newWire(t)
	f := &standardClient{}
	conn := client.New(stream.Lines(r, out, nil), f.new, &client.Options{
		Logger: slog.New(slog.DiscardHandler), IgnoreCapabilities: true, // these conversations begin in the middle
	})
	require.NoError(t, conn.Start(t.Context()))
	if call := calls[v.Name]; call != nil {
		f.call(func() (any, error) { return call(t.Context(), conn) })
	} else if drive := drivers[v.Name]; drive != nil {
		drive(t, f, conn)
	} else if strings.HasPrefix(v.Name, "order.update_vs_response") {
		drivePrompt(t, f, conn)
	}
	w.settle()
	w.send(v)
	w.settle()
	if v.Name == "close.local_with_pending" {
		assert.NoError(t, conn.Close())
		synctest.Wait()
		assert.ErrorIs(t, conn.Call(t.Context(), "_x/z", struct{}{}, nil), acp.ErrClosed)
		assert.ErrorIs(t, conn.Notify(t.Context(), "_x/n", struct{}{}), acp.ErrClosed)
	}
	got := w.take()

	want := v.expected(t)
	compare(t, want.received, got, want.rewrite)
	compareEvents(t, want.events, f.events, false)
	if ended := isDone(conn.Done()); !assert.Equal(t, want.closed, ended, "the connection has ended") || !ended {
		w.write([]byte(`{"jsonrpc":"2.0","id":"alive","method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}` + "\n"))
		compare(t, []string{`{"jsonrpc":"2.0","id":"alive","result":{"content":"hello"}}`}, w.take(), func(message) {})
		assert.NoError(t, conn.Close())
	}
	assert.NoError(t, conn.Wait())
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// calls are the calls that the vectors were observed with. Their outcome is an event.
var calls = map[string]func(context.Context, *client.Conn) (any, error){
	"out.request_initialize": func(ctx context.Context, c *client.Conn) (any, error) {
		return c.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: 1})
	},
	"out.request_params_null": func(ctx context.Context, c *client.Conn) (any, error) {
		var raw json.RawMessage
		return &raw, c.Call(ctx, "_x/y", json.RawMessage("null"), &raw)
	},
	"out.delete_session_not_found": func(ctx context.Context, c *client.Conn) (any, error) {
		return struct{}{}, c.Session("s1").Delete(ctx)
	},
	"out.empty_object_mapping_null": func(ctx context.Context, c *client.Conn) (any, error) {
		return c.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: "s1", ModeID: "m"})
	},
	"out.params_unserialisable": func(ctx context.Context, c *client.Conn) (any, error) {
		return nil, c.Call(ctx, "_x/y", map[string]any{"v": func() {}}, nil)
	},
	"cancel.out_already_aborted": func(ctx context.Context, c *client.Conn) (any, error) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return callExtension(ctx, c)
	},
	"close.local_with_pending":    callExtension,
	"close.peer_eof_with_pending": callExtension,
}

func callExtension(ctx context.Context, c *client.Conn) (any, error) {
	return nil, c.Call(ctx, "_x/y", struct{}{}, nil)
}

// drivers are what else the vectors were observed with. What they start goes on while the vector's bytes
// arrive.
var drivers = map[string]func(*testing.T, *standardClient, *client.Conn){
	"out.notify": func(t *testing.T, _ *standardClient, c *client.Conn) {
		require.NoError(t, c.Cancel(t.Context(), &acp.CancelNotification{SessionID: "s1"}))
	},
	"out.three_requests": func(t *testing.T, _ *standardClient, c *client.Conn) {
		for i := range 3 {
			go func() { _ = c.Call(t.Context(), "_x/y", i+1, nil) }() // ends with the connection
			synctest.Wait()
		}
	},
	"out.buildSession_bare": func(t *testing.T, _ *standardClient, c *client.Conn) {
		go func() { _, _ = c.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w"}) }() // ends with the connection
	},
	"cancel.out_signal_then_error": driveCancelledPrompt,
	"cancel.out_stop_waiting":      driveCancelledPrompt,
	"close.connectWith_returns":    func(t *testing.T, _ *standardClient, c *client.Conn) { assert.NoError(t, c.Close()) },
	"order.update_before_session_new_response": func(t *testing.T, f *standardClient, c *client.Conn) {
		f.texts = true
		go func() { // ends with the answer
			session, err := c.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/x"})
			if assert.NoError(t, err) {
				session.OnUpdate(func(_ context.Context, u acp.SessionUpdate) { f.event(textOf(u)) })
			}
		}()
	},
}

// drivePrompt sends a prompt; what comes back is an event among the updates.
func drivePrompt(t *testing.T, f *standardClient, c *client.Conn) {
	f.texts = true
	go func() { // ends with the answer
		_, err := c.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s1"})
		assert.NoError(t, err)
		f.event("RESPONSE")
	}()
}

// driveCancelledPrompt sends a prompt and ends its ctx.
func driveCancelledPrompt(t *testing.T, f *standardClient, c *client.Conn) {
	ctx, cancel := context.WithCancel(t.Context())
	f.call(func() (any, error) { return c.Prompt(ctx, &acp.PromptRequest{SessionID: "s1"}) })
	synctest.Wait()
	cancel()
}

// standardClient is the fixture that the vectors were observed with.
type standardClient struct {
	texts  bool // updates are recorded as their text alone
	mu     sync.Mutex
	events []any
}

func (f *standardClient) new(*client.Conn) acp.Client { return f }

func (f *standardClient) event(e any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
}

// call makes a call whose outcome is an event.
func (f *standardClient) call(call func() (any, error)) {
	go func() { // ends with the call, at the latest when the connection ends
		res, err := call()
		if err != nil {
			f.event(map[string]any{"error": eventOf(err)})
			return
		}
		f.event(map[string]any{"result": res})
	}()
}

func textOf(u acp.SessionUpdate) string {
	chunk, ok := u.(*acp.AgentMessageChunk)
	if !ok {
		return "no message"
	}
	return acp.PlainText(chunk.Content)
}

func (f *standardClient) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	f.event(map[string]any{"perm": req})
	if len(req.Options) == 0 {
		return nil, errors.New("no options")
	}
	return acp.Selected(req.Options[0].OptionID), nil
}

func (f *standardClient) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	if f.texts {
		f.event(textOf(n.Update))
		return nil
	}
	f.event(map[string]any{"update": n})
	return nil
}

func (f *standardClient) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	f.event(map[string]any{"read": req})
	if req.Path == "/missing" {
		return nil, rpcerr.ResourceNotFound(req.Path)
	}
	return &acp.ReadTextFileResponse{Content: "hello"}, nil
}

func (f *standardClient) WriteTextFile(context.Context, *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return nil, nil
}

func (f *standardClient) HandleExtensionNotification(_ context.Context, method string, params json.RawMessage) error {
	f.event(strings.TrimPrefix(method, "_x/") + string(params))
	return nil
}
