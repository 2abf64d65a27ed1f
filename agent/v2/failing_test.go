package agent_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
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
