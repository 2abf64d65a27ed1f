package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// What the TypeScript SDK's agent answered, ours answers too, but for differences.
func TestAgentVectors(t *testing.T) {
	for _, v := range vectors(t, "agent") {
		t.Run(v.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { checkAgent(t, &v) })
		})
	}
}

func checkAgent(t *testing.T, v *vector) {
	w, r, out := newWire(t)
	f := &standardAgent{logout: v.Name == "params.null_ok_when_all_optional"}
	opts := &stream.LinesOptions{}
	if strings.HasPrefix(v.Name, "frame.size_") {
		opts.MaxMessage = 200
	}
	conn := agent.New(stream.Lines(r, out, opts), f.new, &agent.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, conn.Start(t.Context()))
	end := func() {
		assert.NoError(t, conn.Close())
		if err := conn.Wait(); v.Name != "eof.input_stream_error" {
			assert.NoError(t, err)
		}
	}
	initialize := func() {
		w.write([]byte(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":1}}` + "\n"))
		require.Len(t, w.take(), 1)
	}

	// Two fixtures had no handler for initialize and so no gate; an agent of ours has both.
	if v.Preamble != "" || strings.HasPrefix(v.Name, "eof.") || strings.HasPrefix(v.Name, "fallback.") {
		initialize()
	}
	f.events = nil
	switch v.Name {
	case "eof.request_then_eof_same_chunk": // these two were made by the driver
		w.write([]byte(`{"jsonrpc":"2.0","id":99,"method":"_t/echo","params":{"still":"alive"}}` + "\n"))
		w.in.Close()
	case "eof.input_stream_error":
		w.in.CloseWithError(errors.New("EIO read"))
	default:
		w.send(v)
	}
	got := w.take()

	want := v.expected(t)
	compare(t, want.received, got, want.rewrite)
	defer func() {
		end()
		compareEvents(t, want.events, f.events, want.unordered)
	}()

	require.Equal(t, want.closed, isDone(conn.Done()), "the connection has ended")
	if want.closed {
		if v.Name == "eof.input_stream_error" {
			assert.ErrorIs(t, conn.Wait(), acp.ErrClosed)
			assert.ErrorContains(t, conn.Wait(), "EIO read")
		}
		return
	}
	if v.Name == "init.request_before_init" {
		initialize()
	}
	w.write([]byte(`{"jsonrpc":"2.0","id":"alive","method":"_t/echo","params":{}}` + "\n"))
	compare(t, []string{`{"jsonrpc":"2.0","id":"alive","result":{"params":{},"requestId":"alive"}}`}, w.take(), func(message) {})
	assert.False(t, isDone(conn.Done()), "the connection has ended")
}

// standardAgent is the fixture that the vectors were observed with.
type standardAgent struct {
	conn   acp.Client
	logout bool // it is advertised: ours refuses what was not
	mu     sync.Mutex
	events []any
}

func (f *standardAgent) new(conn *agent.Conn) acp.Agent {
	f.conn = conn
	return f
}

func (f *standardAgent) event(e any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
}

func (f *standardAgent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	caps := &acp.AgentCapabilities{}
	if f.logout {
		caps.Auth = &acp.AgentAuthCapabilities{Logout: &acp.LogoutCapabilities{}}
	}
	return &acp.InitializeResponse{ProtocolVersion: 1, AgentCapabilities: caps}, nil
}

func (f *standardAgent) NewSession(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	f.event(map[string]any{"newSession": req})
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (f *standardAgent) SetSessionMode(context.Context, *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	return &acp.SetSessionModeResponse{}, nil
}

func (f *standardAgent) SetSessionConfigOption(_ context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	f.event(map[string]any{"setConfigOption": req})
	return &acp.SetSessionConfigOptionResponse{}, nil
}

func (f *standardAgent) ListSessions(context.Context, *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	return &acp.ListSessionsResponse{}, nil
}

func (f *standardAgent) Logout(_ context.Context, req *acp.LogoutRequest) (*acp.LogoutResponse, error) {
	f.event(map[string]any{"logout": req})
	return nil, nil
}

func (f *standardAgent) Authenticate(context.Context, *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	return nil, nil
}

func (f *standardAgent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (f *standardAgent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	f.event(map[string]any{"prompt": req})
	switch acp.PlainText(req.Prompt...) {
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	case "wait-throwreason":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "wait-cancelled":
		<-ctx.Done()
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case "perm":
		res, err := f.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{
			SessionID: "s1", ToolCall: acp.ToolCallUpdate{ToolCallID: "t1"},
			Options: []acp.PermissionOption{{OptionID: "a", Name: "A", Kind: acp.PermissionOptionKindAllowOnce}},
		})
		if err != nil {
			f.event(map[string]any{"permErr": eventOf(err)})
		} else {
			f.event(map[string]any{"perm": res})
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// eventOf describes an error: the error that the peer sent, or only that it arose at this
// end.
func eventOf(err error) any {
	if e := (*rpcerr.RequestError)(nil); errors.As(err, &e) {
		return map[string]any{"name": "RequestError", "code": e.Code, "message": e.Message, "data": e.Data}
	}
	return map[string]any{"name": "Error"}
}

func (f *standardAgent) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	var slow struct {
		N  string
		MS int
	}
	_ = json.Unmarshal(params, &slow) // of no use to most methods
	switch strings.TrimPrefix(method, "_t/") {
	case "echo":
		answer := map[string]any{}
		if params != nil {
			answer["params"] = params
		}
		if id, ok := agent.RequestID(ctx); ok {
			answer["requestId"] = id
		}
		return answer, nil
	case "slow":
		f.event("slow-start " + slow.N)
		<-time.After(time.Duration(slow.MS) * time.Millisecond)
		f.event("slow-end " + slow.N)
		return map[string]any{"n": slow.N}, nil
	case "x":
		f.event(map[string]any{"x": params})
		return nil, nil
	case "requestError":
		return nil, rpcerr.New(-32001, "custom", map[string]any{"k": "v"})
	case "plainError":
		return nil, errors.New("boom: /home/user/secret.txt")
	case "jsonMessageError":
		return nil, errors.New(`{"a":1}`)
	case "detailsError", "parserThrows":
		return nil, errors.New("msg")
	case "zodError": // a check of our own that failed
		return nil, f.conn.SessionUpdate(ctx, &acp.SessionNotification{})
	case "throwUndefined":
		panic(any(nil))
	case "throwNumber":
		panic(42)
	case "throwAbort":
		return nil, context.Canceled
	case "returnUndefined":
		return nil, nil
	case "returnNaN":
		return map[string]any{"v": math.NaN()}, nil
	}
	if strings.HasPrefix(method, "_x/") {
		id, _ := agent.RequestID(ctx)
		f.event(map[string]any{"fbReq": method, "params": params, "requestId": id})
		if method == "_x/y" {
			return map[string]any{"echoed": params}, nil
		}
	}
	return nil, rpcerr.MethodNotFound(method)
}

func (f *standardAgent) HandleExtensionNotification(_ context.Context, method string, params json.RawMessage) error {
	switch method {
	case "_t/boomNotif":
		return io.ErrUnexpectedEOF
	case "_t/slowN":
		var slow struct {
			N  string
			MS int
		}
		if err := json.Unmarshal(params, &slow); err != nil {
			return err
		}
		f.event("slowN-start " + slow.N)
		<-time.After(time.Duration(slow.MS) * time.Millisecond)
		f.event("slowN-end " + slow.N)
	}
	return nil
}
