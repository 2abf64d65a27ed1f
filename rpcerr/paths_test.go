package rpcerr_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

var allPaths = flag.Bool("paths", false, "TestFactsSurviveEveryPath takes every failure along every path, not a sample")

// facts are the properties of an error that a caller acts on.
type facts struct {
	code       rpcerr.Code
	kind       kind.Kind
	retryable  bool
	after      time.Duration
	noDelay    bool
	name       string // the application's code
	reason     string
	hint       string
	status     int
	data       string
	message    string
	wire       rpcerr.Code // the code that the next peer receives
	nextAction kind.Action
}

func factsOf(err error) (f facts, ok bool) {
	e, ok := kind.From(err)
	if !ok {
		return f, false
	}
	f = facts{kind: e.Kind, retryable: e.Retryable, after: e.RetryAfter, noDelay: e.NoDelay, name: e.Code, reason: e.Reason,
		hint: e.Hint, status: e.Status, data: string(e.Data), message: e.Error(), wire: wireOf(err).Code, nextAction: kind.AdviceFor(err).Action}
	f.code, ok = rpcerr.CodeOf(err)
	return f, ok
}

// ownWire is an error type of a program. It defines what is sent.
type ownWire struct{ wire *rpcerr.RequestError }

func (q *ownWire) Error() string                      { return "quota" }
func (q *ownWire) RequestError() *rpcerr.RequestError { return q.wire }

// sent returns v as the other end of a connection decodes it.
func sent[T any](t *testing.T, v any) T {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	var received T
	require.NoError(t, json.Unmarshal(b, &received))
	return received
}

// steps returns the conversions that programs apply to an error between its origin and the caller
// that acts on it.
func steps(t *testing.T) map[string]func(error) error {
	quiet := slog.New(slog.DiscardHandler)
	hook := classify.OnError(&classify.OnErrorOptions{Logger: quiet})
	return map[string]func(error) error{
		"wrap":    func(err error) error { return fmt.Errorf("loading: %w", err) },
		"join":    func(err error) error { return errors.Join(errors.New("also"), err) },
		"convert": func(err error) error { return rpcerr.From(err) },
		"record": func(err error) error {
			e, _ := kind.From(err)
			return e
		},
		"answer": func(err error) error { r := sent[rpcerr.RequestError](t, rpcerr.From(err)); return &r },
		"proxy": func(err error) error {
			r := sent[rpcerr.RequestError](t, rpcerr.From(err))
			r = sent[rpcerr.RequestError](t, rpcerr.From(hook(t.Context(), "m", &r)))
			return &r
		},
		"store": func(err error) error {
			e := sent[kind.Error](t, classify.Error(err))
			return &e
		},
		"tool call": func(err error) error {
			u := sent[acp.ToolCallUpdate](t, acp.FailToolCall("t", err))
			e, ok := kind.FromToolCall(&u)
			require.True(t, ok)
			return e
		},
		"tool text": func(err error) error {
			e, _ := kind.From(err)
			parsed, perr := toolerr.Parse(e.Text())
			require.NoError(t, perr) // the text has no place for some of the facts, so it is read beside the record
			assert.Equal(t, e.Error()+parsed.RetryAfter.String(), parsed.Message+e.RetryAfter.String())
			assert.Equal(t, e.Retryable, parsed.Retryable)
			assert.Equal(t, toolerr.CategoryOf(err), toolerr.CategoryOf(parsed))
			return err
		},
		"logged": func(err error) error {
			e, _ := kind.From(err)
			return e.WithLogged()
		},
		"OnError": func(err error) error { return hook(t.Context(), "m", err) },
		"Catch": func(err error) (caught error) {
			defer classify.Op{Name: "op", Kind: kind.Database, Logger: quiet}.Catch(t.Context(), &caught)
			return err
		},
		"own type": func(err error) error { return &ownWire{wireOf(err)} },
	}
}

var pathMode = contract.New("paths").Declare(contract.Mode{
	Reason: "queue_full", Kind: kind.RateLimited, When: "The queue is full.", Recovery: "Ask for fewer articles at once.", Retryable: true,
})

// failures are errors with facts of their own, from every place that builds one.
func failures() []error {
	all := []error{
		rpcerr.AuthRequired(nil), rpcerr.InvalidParams(map[string]any{"_errors": []string{"x"}}), rpcerr.MethodNotFound("x"),
		rpcerr.SessionNotFound("s1"), rpcerr.New(-31234, "odd", map[string]any{"reason": 5, "retryAfterMs": 1.5}), rpcerr.New(7, "odd", "text"),
		rpcerr.New(-32603, "Internal error", map[string]any{"errorId": "abc"}), kind.NotFound, kind.Timeout,
		toolerr.Auth("m"), toolerr.NotFound("m"), toolerr.RateLimited("m", 2*time.Second), toolerr.Validation("m"), toolerr.Timeout("m"),
		toolerr.Internal("m"), toolerr.New("X", "", "m"), toolerr.Auth("m").WithCode("OWN").WithHint("h"), toolerr.Timeout("m").WithNoDelay(),
		pathMode.Fail("m"), pathMode.Fail("m").WithHint("h").WithRetryAfter(time.Second).With("n", 1),
		kind.Upstream("m", 401), kind.Upstream("m", 503), kind.UpstreamRateLimit("m", time.Minute), kind.NotFound.New(""),
		kind.ContextRequired.New("m"), classify.Error(errors.New("not found")), classify.Error(errors.New("x")),
	}
	for _, code := range []toolcode.Code{toolcode.InvalidInput, toolcode.NotFound, toolcode.NotAFile, toolcode.IsBinary, toolcode.NoMatch, toolcode.AmbiguousMatch,
		toolcode.PatchFailed, toolcode.Timeout, toolcode.OutputLimit, toolcode.TooLarge, toolcode.PathEscape, toolcode.IOError, toolcode.Internal} {
		all = append(all, code.New("m"))
	}
	for _, k := range kind.All() {
		e := k.New("m").WithHint("h")
		all = append(all, e, e.WithRetryAfter(1500*time.Millisecond).WithReason("r"), e.WithNoDelay().WithCode("C").With("reason", "mine"),
			e.WithRetryable(!e.Retryable).WithStatus(418), e.WithNumber(-31500))
	}
	return all
}

// Code, kind, retryable, the time to wait, reason and hint are the same after every order of
// conversions, whatever lies between: JSON, proxies, tool calls, types of the program.
func TestFactsSurviveEveryPath(t *testing.T) {
	all := steps(t)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	walked := 0
	along := func(start error, path ...string) {
		walked++
		want, ok := factsOf(start)
		require.True(t, ok, "%v", start)
		err := start
		for _, name := range path {
			err = all[name](err)
		}
		got, ok := factsOf(err)
		if !ok || got != want {
			assert.Equal(t, want, got, "%#v along %q", start, path)
		}
	}
	starts := failures()
	if !*allPaths {
		for range 3000 {
			pick := func() string { return names[rand.IntN(len(names))] }
			along(starts[rand.IntN(len(starts))], pick(), pick(), pick())
		}
		return
	}
	for _, start := range starts {
		for _, a := range names {
			for _, b := range names {
				for _, c := range names {
					along(start, a, b, c)
				}
			}
		}
	}
	t.Logf("%d paths", walked)
}
