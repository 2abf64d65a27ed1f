package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	acp1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// broken is an error whose methods panic, as those of a nil pointer do.
type broken struct{}

func (*broken) Error() string     { panic("no text") }
func (*broken) Unwrap() error     { panic("no cause") }
func (*broken) Is(error) bool     { panic("no comparison") }
func (*broken) As(any) bool       { panic("no conversion") }
func (*broken) RequestError() any { panic("no error") }

// exiting is an error whose methods end their goroutine.
type exiting struct{}

func (exiting) Error() string { runtime.Goexit(); return "" }
func (exiting) Unwrap() error { runtime.Goexit(); return nil }

// errPanic stands for a panic.
var errPanic = errors.New("panic")

// limited is an error that defines what the peer receives.
type limited struct{}

func (limited) Error() string { return "limited" }
func (limited) RequestError() *rpcerr.RequestError {
	return rpcerr.New(-32010, "Rate limited", nil)
}

// The work on a prompt runs on a goroutine of the library: a panic on its way to the client
// would end the program.
func TestErrorOfWork(t *testing.T) {
	fails := func(err error) works {
		return works{"go": func(context.Context, *agent.Session) (acp.StopReason, error) {
			if err == errPanic {
				panic("key not found")
			}
			return "", err
		}}
	}
	secret := errors.New("/home/me is full")
	var path *fs.PathError
	classified := agent.Options{OnError: classify.OnError(&classify.OnErrorOptions{Logger: slog.New(slog.DiscardHandler)})}
	for name, c := range map[string]struct {
		err    error
		opts   agent.Options
		want   string
		logged string // part of the log
		silent bool   // nothing is logged
	}{
		"OnError panics": {err: secret, opts: agent.Options{OnError: func(context.Context, string, error) error { panic("oops") }},
			want: "idle error Internal error", logged: "/home/me is full"},
		"OnError replaces": {err: secret, opts: agent.Options{OnError: func(context.Context, string, error) error { return limited{} }},
			want: "idle error Rate limited", silent: true},
		"defines itself":                  {err: limited{}, want: "idle error Rate limited", silent: true},
		"keeps its cause":                 {err: rpcerr.AuthRequired(nil).WithCause(secret), want: "idle error Authentication required", logged: "/home/me is full"},
		"methods panic":                   {err: &broken{}, want: "idle error Internal error", logged: "panic"},
		"typed nil":                       {err: path, want: "idle error Internal error", logged: "nil pointer"},
		"typed nil, looked at by OnError": {err: path, opts: classified, want: "idle error Internal error", logged: "nil pointer"},
		"methods exit":                    {err: exiting{}, want: "idle error Internal error", logged: "Goexit"},
		"some other ctx has ended":        {err: context.Canceled, want: "idle error Internal error", logged: "context canceled"},
		"panic":                           {err: errPanic, want: "idle error Internal error", logged: "key not found"},
		"panic, classified":               {err: errPanic, opts: classified, want: "idle error Internal error"},
		"text of its cause":               {err: secret, opts: agent.Options{ExposeErrors: true}, want: "idle error Internal error", logged: "/home/me is full"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			c.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
			scene(t, &c.opts, fails(c.err), func(r *raw) {
				r.prompt(1, "go")
				assert.Contains(t, []string{r.read(), r.read(), r.read(), r.read()}, c.want)
			})
			assert.Contains(t, log.String(), c.logged)
			if c.silent {
				assert.Empty(t, log.String())
			}
		})
	}
}

// A state that could not be sent is not counted.
func TestStateThatIsNotSent(t *testing.T) {
	refusal := errors.New("not now")
	refuse := true
	opts := &agent.Options{Sending: []acp.Middleware{func(next acp.Handler) acp.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
			if n, ok := params.(*acp.UpdateSessionNotification); ok && refuse {
				if u, ok := n.Update.(*acp.SessionStateUpdate); ok {
					if _, ok := u.StateUpdate.(*acp.RequiresActionStateUpdate); ok {
						refuse = false
						return nil, refusal
					}
				}
			}
			return next(ctx, method, params)
		}
	}}}
	scene(t, opts, works{"ask": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
		if _, err := s.AskPermission(ctx, "May I?", nil); !errors.Is(err, refusal) {
			return "", errors.New("the state was sent")
		}
		_, err := s.AskPermission(ctx, "May I?", nil)
		return "", err
	}}, func(r *raw) {
		r.prompt(1, "ask")
		assert.ElementsMatch(t, []string{"user_message", "running", "response 1", "requires_action", "ask 1"},
			[]string{r.read(), r.read(), r.read(), r.read(), r.read()})
		r.Send(`{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}`)
		r.want("running", "idle end_turn")
	})
}

// badFailure determines an update that breaks the schema.
type badFailure struct{}

func (badFailure) Error() string { return "bad" }
func (badFailure) FailedToolCall() *acp1.ToolCallUpdate {
	return &acp1.ToolCallUpdate{RawOutput: json.RawMessage("{")}
}

// The raw output of a failed tool call has the error, and the log has the details that are not sent,
// as in version 1.
func TestToolCallsThatFail(t *testing.T) {
	var path *fs.PathError
	secret := errors.New("/home/me is full")
	for name, c := range map[string]struct {
		err    error
		opts   agent.Options
		text   string // what a person reads
		kind   kind.Kind
		logged string
	}{
		"record":        {err: kind.Forbidden.New("Not here").WithHint("Ask first").WithCause(secret), text: `Error: Not here\nRecovery: Ask first`, kind: kind.Forbidden, logged: "/home/me"},
		"wrapped":       {err: fmt.Errorf("w: %w", kind.Conflict.New("Changed")), text: "Error: Changed", kind: kind.Conflict},
		"request error": {err: rpcerr.InvalidParams(nil).WithDetail("no such mode"), text: "Invalid params: no such mode", kind: kind.InvalidParams},
		"unexpected":    {err: secret, text: "Internal error", kind: kind.Internal, logged: "/home/me"},
		"classified": {err: &fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrNotExist}, text: "Error: Resource not found", kind: kind.NotFound,
			opts: agent.Options{OnError: classify.OnError(&classify.OnErrorOptions{Logger: slog.New(slog.DiscardHandler)})}},
		"typed nil":                {err: path, text: "Internal error", kind: kind.Internal, logged: "nil pointer"},
		"some other ctx has ended": {err: context.Canceled, text: "Internal error", kind: kind.Internal, logged: "context canceled"},
		"invalid update":           {err: badFailure{}, text: "Internal error", kind: kind.Internal, logged: "rawOutput"},
		"exposed":                  {err: secret, opts: agent.Options{ExposeErrors: true}, text: "Details: /home/me is full", kind: kind.Internal, logged: "/home/me"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			c.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
			scene(t, &c.opts, works{"go": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
				call, err := s.StartToolCall(ctx, &acp.ToolCallUpdate{Title: acp.Some("Build")})
				if err != nil {
					return "", err
				}
				if err := s.ToolCall(call.ID()).Progress(ctx, acp.ToolText("working")); err != nil {
					return "", err
				}
				return "", call.Fail(ctx, c.err)
			}}, func(r *raw) {
				r.prompt(1, "go")
				var updates []string
				for range 7 { // with the user's message, two states and the response
					if m := r.Next().Raw; strings.Contains(m, `"tool_call_update"`) {
						updates = append(updates, m)
					}
				}
				assert.Contains(t, updates[0], `"status":"in_progress"`)
				assert.Contains(t, updates[1], "working")
				assert.Contains(t, updates[2], `"status":"failed"`)
				assert.Contains(t, updates[2], c.text)
				var failed struct {
					Params struct {
						Update struct{ RawOutput json.RawMessage }
					}
				}
				require.NoError(t, json.Unmarshal([]byte(updates[2]), &failed))
				e, ok := kind.FromRawOutput(failed.Params.Update.RawOutput)
				require.True(t, ok)
				assert.Equal(t, c.kind, e.Kind)
			})
			assert.Contains(t, log.String(), c.logged)
			if c.logged == "" {
				assert.Empty(t, log.String())
			}
		})
	}
}
