package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/guard"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

// run lets a handler fail with err and returns what leaves, and the log.
func run(t *testing.T, opts guard.Options, err error) (wire, log string, returned error) {
	t.Helper()
	var buf bytes.Buffer
	opts.Logger = slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h := guard.Middleware(&opts)(func(context.Context, string, any) (any, error) { return nil, err })
	_, returned = h(t.Context(), "session/new", json.RawMessage(`{"cwd":"/hunter2"}`))
	b, merr := json.Marshal(rpcerr.From(returned))
	require.NoError(t, merr)
	return string(b), buf.String(), returned
}

func TestMasking(t *testing.T) {
	for _, c := range []struct {
		err  error
		wire string
	}{
		{errors.New("secret"), `{"code":-32603,"message":"Internal error"}`},
		{&fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrNotExist}, `{"code":-32002,"message":"Resource not found","data":{"kind":"not_found","retryable":false}}`},
		{fmt.Errorf("secret: %w", acp.ErrClosed), `{"code":-31000,"message":"Service unavailable","data":{"kind":"service_unavailable","retryable":false}}`},
		// Explicit errors leave as they are, also those that know no record.
		{rpcerr.ResourceNotFound("/a"), `{"code":-32002,"message":"Resource not found: /a","data":{"uri":"/a"}}`},
		{fmt.Errorf("secret: %w", toolerr.Auth("Log in first")), `{"code":-32000,"message":"Log in first","data":{"code":"AUTH_ERROR","kind":"unauthorized","retryable":false}}`},
		{rpcerr.New(500, "own", "data"), `{"code":500,"message":"own","data":"data"}`},
	} {
		wire, log, returned := run(t, guard.Options{}, c.err)
		assert.JSONEq(t, c.wire, wire)
		assert.ErrorIs(t, returned, c.err)
		assert.Equal(t, 1, strings.Count(log, "\n"), "logged once")
		assert.Contains(t, log, "method=session/new")
		assert.NotContains(t, log, "hunter2", "no params in the log")
	}
	_, log, _ := run(t, guard.Options{}, errors.New("secret"))
	assert.Contains(t, log, "secret", "the log knows")
	assert.Contains(t, log, "level=ERROR")
	_, log, _ = run(t, guard.Options{}, rpcerr.InvalidParams("hunter3"))
	assert.Contains(t, log, "level=WARN")
	assert.NotContains(t, log, "hunter3", "no data in the log")
}

func TestCancelledIsLeftToTheConnection(t *testing.T) {
	err := fmt.Errorf("w: %w", context.Canceled)
	_, log, returned := run(t, guard.Options{}, err)
	assert.Equal(t, err, returned)
	assert.Contains(t, log, "level=DEBUG")
}

func TestMap(t *testing.T) {
	enrich := guard.Options{Map: func(_ context.Context, method string, e *kind.Error) *kind.Error { return e.With("method", method) }}
	wire, _, _ := run(t, enrich, rpcerr.ResourceNotFound("/a"))
	assert.JSONEq(t, `{"code":-32002,"message":"Resource not found: /a","data":{"uri":"/a","method":"session/new","kind":"not_found","retryable":false}}`, wire)

	replace := guard.Options{Map: func(context.Context, string, *kind.Error) *kind.Error { return kind.Timeout.New("other") }}
	boom := errors.New("boom")
	wire, _, returned := run(t, replace, boom)
	assert.JSONEq(t, `{"code":-31004,"message":"other","data":{"kind":"timeout","retryable":true}}`, wire)
	assert.ErrorIs(t, returned, boom)

	leave := guard.Options{Map: func(context.Context, string, *kind.Error) *kind.Error { return nil }}
	_, _, returned = run(t, leave, rpcerr.ErrAuthRequired)
	assert.ErrorIs(t, returned, rpcerr.ErrAuthRequired)
	assert.Same(t, rpcerr.ErrAuthRequired, rpcerr.From(returned), "untouched")

	adapt := guard.Options{Classifier: classify.New(classify.Is(boom, kind.RateLimited))}
	_, _, returned = run(t, adapt, boom)
	assert.ErrorIs(t, returned, kind.RateLimited)
}

func TestLogsOnlyWhatIsNew(t *testing.T) {
	_, log, _ := run(t, guard.Options{}, fmt.Errorf("w: %w", kind.Conflict.New("m").WithLogged()))
	assert.Empty(t, log)
}

func TestDevelop(t *testing.T) {
	wire, _, _ := run(t, guard.Options{Develop: true}, &fs.PathError{Op: "open", Path: "/a", Err: fs.ErrNotExist})
	assert.JSONEq(t, `{"code":-32002,"message":"open /a: file does not exist","data":{"kind":"not_found","retryable":false,
		"debug":{"error":"open /a: file does not exist","message":"classified by fs.ErrNotExist","causes":["open /a: file does not exist","file does not exist"]}}}`, wire)
	wire, _, _ = run(t, guard.Options{Develop: true}, kind.Fatal.New("m").WithDebug("no key"))
	assert.JSONEq(t, `{"code":-31101,"message":"m","data":{"kind":"fatal","retryable":false,"debug":{"error":"m","message":"no key"}}}`, wire)
	wire, _, _ = run(t, guard.Options{Develop: true}, rpcerr.New(500, "own", "data"))
	assert.JSONEq(t, `{"code":500,"message":"own","data":{"kind":"unknown","retryable":false,"data":"data"}}`, wire)
}

func TestSuccessPasses(t *testing.T) {
	h := guard.Middleware(nil)(func(_ context.Context, _ string, params any) (any, error) { return params, nil })
	got, err := h(t.Context(), "m", 5)
	require.NoError(t, err)
	assert.Equal(t, 5, got)
}
