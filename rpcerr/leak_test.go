package rpcerr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"testing"

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

// canary is a text that must not leave the process.
const canary = "hunter2"

type upstream struct{}

func (upstream) Error() string   { return "refused: " + canary }
func (upstream) StatusCode() int { return 401 }

var leakMode = contract.New("leaks").Declare(contract.Mode{
	Reason: "no_match", Kind: kind.NotFound, When: "Nothing matches.", Recovery: "Search for something else than this.",
})

// secrets returns errors that contain the canary in a part that must not be sent.
func secrets() map[string]error {
	plain := errors.New(canary)
	path := &fs.PathError{Op: "open", Path: "/home/" + canary, Err: syscall.EACCES}
	all := map[string]error{
		"plain": plain, "path": path, "joined": errors.Join(plain, path), "upstream": upstream{},
		"not found":           &fs.PathError{Op: "open", Path: canary, Err: fs.ErrNotExist},
		"url":                 &url.Error{Op: "Get", URL: "https://a.b/c?key=" + canary, Err: plain},
		"number":              &strconv.NumError{Func: "Atoi", Num: canary, Err: strconv.ErrSyntax},
		"syntax":              json.Unmarshal([]byte(`"`+canary), new(any)),
		"cancelled":           fmt.Errorf("%s: %w", canary, context.Canceled),
		"late":                fmt.Errorf("%s: %w", canary, context.DeadlineExceeded),
		"closed":              fmt.Errorf("%s: %w", canary, acp.ErrClosed),
		"request error":       rpcerr.InvalidParams(nil).WithCause(plain),
		"request, wrapped":    fmt.Errorf("%s: %w", canary, rpcerr.AuthRequired(nil)),
		"request, joined":     errors.Join(plain, rpcerr.AuthRequired(nil)),
		"kind":                kind.NotFound.Newf(path, "no note"),
		"kind, cause":         kind.Fatal.New("m").WithCause(path),
		"kind, debug":         kind.Fatal.New("m").WithDebug(canary).WithAttrs(slog.String("k", canary)),
		"kind, wrapped":       fmt.Errorf("%s: %w", canary, kind.Conflict.New("m")),
		"kind, bare, wrapped": fmt.Errorf("%s: %w", canary, kind.Timeout),
		"internal":            kind.Internal.Newf(plain, "m"),
		"bad use":             kind.NotFound.New(canary).WithStatus(0),
		"no hint":             kind.ContextRequired.New(canary),
		"upstream, cause":     kind.Upstream("m", 500).WithCause(upstream{}),
		"response": classify.FromResponse(&http.Response{StatusCode: 401, Body: http.NoBody,
			Request: &http.Request{Method: "GET", URL: &url.URL{Host: "a.b", RawQuery: "key=" + canary}}}, nil),
		"tool error":        toolerr.Auth("m").WithCause(path),
		"tool error, cause": toolerr.Newf("X", toolerr.CategoryInternal, path, "m"),
		"tool, bad use":     toolerr.NotFound(canary).WithCode(""),
		"tool, wrapped":     fmt.Errorf("%s: %w", canary, toolerr.NotFound("m")),
		"contract":          leakMode.Failf(path, "m"),
		"contract, attrs":   leakMode.Fail("m").WithAttrs(slog.String("k", canary)),
		"envelope":          toolcode.PathEscape.Newf(path, "m"),
		"envelope internal": toolcode.Internal.New(canary),
		"classified":        classify.Error(path),
		"classified twice":  classify.Error(fmt.Errorf("%s: %w", canary, classify.Error(plain))),
	}
	for _, text := range []string{"invalid token", "status code 404", "connection refused", "permission", "duplicate", "rate limit", "aborted",
		"bad gateway", "rpc error: code = Unavailable", "context_length_exceeded"} {
		all["pattern "+text] = errors.New(text + " " + canary)
	}
	return all
}

// do runs f as the operation.
func do(ctx context.Context, op classify.Op, f func() error) (err error) {
	defer op.Catch(ctx, &err)
	return f()
}

// exits returns the ways in which an error leaves the process.
func exits(t *testing.T) map[string]func(error) any {
	quiet := slog.New(slog.DiscardHandler)
	hook := classify.OnError(&classify.OnErrorOptions{Logger: quiet})
	caught := func(err error) error {
		return do(t.Context(), classify.Op{Name: "op", Kind: kind.Database, Logger: quiet}, func() error { return err })
	}
	panicked := func(v error) error {
		return do(t.Context(), classify.Op{Name: "op", Logger: quiet}, func() error { panic(v) })
	}
	return map[string]func(error) any{
		"response":              func(err error) any { return rpcerr.From(err) },
		"response, OnError":     func(err error) any { return rpcerr.From(hook(t.Context(), "m", err)) },
		"response, caught":      func(err error) any { return rpcerr.From(caught(err)) },
		"response, panic":       func(err error) any { return rpcerr.From(panicked(err)) },
		"tool call":             func(err error) any { return acp.FailToolCall("t", err) },
		"tool call, OnError":    func(err error) any { return acp.FailToolCall("t", hook(t.Context(), "tool call t", err)) },
		"tool call, classified": func(err error) any { return acp.FailToolCall("t", classify.Error(err)) },
		"stored":                func(err error) any { return classify.Error(err) },
		"tool error":            func(err error) any { return recordOf(err).WithCode("C").FailedToolCall() },
		"tool error, text":      func(err error) any { return recordOf(err).Text() },
		"envelope":              func(err error) any { return toolcode.Of(err, quiet) },
		"envelope, classified":  func(err error) any { return toolcode.Of(classify.Error(err), quiet) },
		"envelope, caught":      func(err error) any { return toolcode.Of(caught(err), quiet) },
		"text for a person, elsewhere": func(err error) any {
			b, merr := json.Marshal(rpcerr.From(err))
			require.NoError(t, merr)
			return rpcerr.Explain(received(t, string(b)))
		},
	}
}

func TestNothingLeaks(t *testing.T) {
	for exit, leave := range exits(t) {
		for name, err := range secrets() {
			b, merr := json.Marshal(leave(err))
			require.NoError(t, merr)
			assert.NotContains(t, strings.ToLower(string(b)), canary, "%s leaves by %s", name, exit)
		}
	}
}

// pointed is an error type whose methods need a value.
type pointed struct {
	wire  *rpcerr.RequestError
	inner error
}

func (p *pointed) Error() string                      { return p.inner.Error() }
func (p *pointed) Unwrap() error                      { return p.inner }
func (p *pointed) Is(target error) bool               { return p.inner == target }
func (p *pointed) As(any) bool                        { return p.inner == nil }
func (p *pointed) Timeout() bool                      { return p.inner != nil }
func (p *pointed) RequestError() *rpcerr.RequestError { return p.wire }
func (p *pointed) FailedToolCall() *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{Title: p.inner.Error()}
}

// A nil pointer that became an error is an unexpected error. If it is joined with another error,
// the other one decides.
func TestNilPointersAreUnexpectedErrors(t *testing.T) {
	none := error((*pointed)(nil))
	for _, err := range []error{none, fmt.Errorf("w: %w", none), errors.Join(none, errors.New("x"))} {
		for exit, leave := range exits(t) {
			assert.NotPanics(t, func() { leave(err) }, exit)
		}
		assert.Equal(t, rpcerr.CodeInternalError, wireOf(err).Code)
		assert.NotPanics(t, func() { _ = rpcerr.Explain(err) })
		assert.Empty(t, rpcerr.Fields(err))
		assert.False(t, rpcerr.FromPeer(err))
		assert.Empty(t, kind.Of(err))
	}
	beside := errors.Join(none, kind.NotFound.New("m"))
	assert.Equal(t, rpcerr.CodeResourceNotFound, wireOf(beside).Code)
	assert.Equal(t, toolcode.NotFound, toolcode.Of(beside, slog.New(slog.DiscardHandler)).Error)
}

// recordOf returns the record that classify.Error returns as an error.
func recordOf(err error) *kind.Error {
	e, _ := errors.AsType[*kind.Error](classify.Error(err))
	return e
}
