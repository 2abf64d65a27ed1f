package classify_test

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
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

// leaving makes a request fail with err and returns the response and the log.
func leaving(t *testing.T, opts classify.OnErrorOptions, err error) (wire, log string, returned error) {
	t.Helper()
	var buf bytes.Buffer
	opts.Logger = slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug}))
	returned = classify.OnError(&opts)(t.Context(), "session/new", err)
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
		// Explicit errors are sent unchanged.
		{rpcerr.ResourceNotFound("/a"), `{"code":-32002,"message":"Resource not found: /a","data":{"uri":"/a"}}`},
		{fmt.Errorf("secret: %w", toolerr.Auth("Log in first")), `{"code":-31006,"message":"Log in first","data":{"code":"AUTH_ERROR","kind":"unauthorized","retryable":false}}`},
		{rpcerr.New(500, "own", "data"), `{"code":500,"message":"own","data":"data"}`},
	} {
		wire, log, returned := leaving(t, classify.OnErrorOptions{}, c.err)
		assert.JSONEq(t, c.wire, wire)
		assert.ErrorIs(t, returned, c.err)
		assert.Equal(t, 1, strings.Count(log, "\n"), "logged once")
		assert.Contains(t, log, "where=session/new")
	}
	_, log, _ := leaving(t, classify.OnErrorOptions{}, errors.New("secret"))
	assert.Contains(t, log, "secret", "the log knows")
	assert.Contains(t, log, "level=ERROR")
	_, log, _ = leaving(t, classify.OnErrorOptions{}, rpcerr.InvalidParams("hunter3"))
	assert.Contains(t, log, "level=WARN")
	assert.NotContains(t, log, "hunter3", "no data in the log")
}

func TestCancelledIsLeftToTheConnection(t *testing.T) {
	for _, cancelled := range []bool{true, false} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		level := "level=ERROR" // some other ctx ended, and the peer reads "Internal error"
		if cancelled {
			cancel()
			level = "level=DEBUG"
		}
		returned := classify.OnError(&classify.OnErrorOptions{Logger: logger})(ctx, "session/new", fmt.Errorf("w: %w", context.Canceled))
		assert.ErrorIs(t, returned, context.Canceled)
		assert.Equal(t, rpcerr.CodeRequestCancelled, wireOf(returned).Code)
		assert.Contains(t, log.String(), level)
	}
}

func TestMap(t *testing.T) {
	enrich := classify.OnErrorOptions{Map: func(_ context.Context, method string, e *kind.Error) *kind.Error { return e.With("method", method) }}
	wire, _, _ := leaving(t, enrich, rpcerr.ResourceNotFound("/a"))
	assert.JSONEq(t, `{"code":-32002,"message":"Resource not found: /a","data":{"uri":"/a","method":"session/new","kind":"not_found","retryable":false}}`, wire)

	replace := classify.OnErrorOptions{Map: func(context.Context, string, *kind.Error) *kind.Error { return kind.Timeout.New("other") }}
	boom := errors.New("boom")
	wire, _, returned := leaving(t, replace, boom)
	assert.JSONEq(t, `{"code":-31004,"message":"other","data":{"kind":"timeout","retryable":true}}`, wire)
	assert.ErrorIs(t, returned, boom)

	leave := classify.OnErrorOptions{Map: func(context.Context, string, *kind.Error) *kind.Error { return nil }}
	_, _, returned = leaving(t, leave, rpcerr.ErrAuthRequired)
	assert.ErrorIs(t, returned, rpcerr.ErrAuthRequired)
	assert.Same(t, rpcerr.ErrAuthRequired, rpcerr.From(returned), "untouched")

	adapt := classify.OnErrorOptions{Classifier: classify.New(classify.Is(boom, kind.RateLimited))}
	_, _, returned = leaving(t, adapt, boom)
	assert.ErrorIs(t, returned, kind.RateLimited)
}

func TestLogsOnlyWhatIsNew(t *testing.T) {
	_, log, _ := leaving(t, classify.OnErrorOptions{}, fmt.Errorf("w: %w", kind.Conflict.New("m").WithLogged()))
	assert.Empty(t, log)
}

// ownFailure is an acp.ToolFailure: it determines how a tool call ends.
type ownFailure struct{ update *acp.ToolCallUpdate }

func (ownFailure) Error() string                         { return "own: hunter2" }
func (o ownFailure) FailedToolCall() *acp.ToolCallUpdate { return o.update }

func TestToolFailureStaysAsItIs(t *testing.T) {
	own := ownFailure{&acp.ToolCallUpdate{Content: []acp.ToolCallContent{acp.ToolText("exit status 3")}}}
	_, log, returned := leaving(t, classify.OnErrorOptions{}, fmt.Errorf("w: %w", own))
	assert.Equal(t, own.update.Content, acp.FailToolCall("t", returned).Content)
	assert.Equal(t, 1, strings.Count(log, "hunter2"))
	_, _, returned = leaving(t, classify.OnErrorOptions{}, errors.Join(ownFailure{}, fs.ErrNotExist))
	assert.ErrorIs(t, returned, kind.NotFound, "nothing of its own to say")
}

func TestOnErrorOfNothing(t *testing.T) {
	assert.NoError(t, classify.OnError(nil)(t.Context(), "m", nil))
}

// quota embeds a RequestError, which errlint reports: its field hides the method of that name.
type quota struct {
	*rpcerr.RequestError
	limit int
}

// The response for such an error does not depend on words in its text or on its cause.
func TestEmbeddedErrorStaysInternal(t *testing.T) {
	quiet := classify.OnError(&classify.OnErrorOptions{Logger: slog.New(slog.DiscardHandler)})
	for _, err := range []error{
		&quota{rpcerr.ResourceNotFound("x"), 1}, quota{rpcerr.New(-31000, "rate limit", nil), 1},
		fmt.Errorf("w: %w", &quota{rpcerr.InvalidParams(nil).WithCause(fs.ErrNotExist), 1}),
	} {
		assert.Equal(t, rpcerr.CodeInternalError, wireOf(err).Code)
		sent := wireOf(quiet(t.Context(), "m", err))
		assert.Equal(t, rpcerr.CodeInternalError, sent.Code, "%v", err)
		assert.Nil(t, sent.Data, "%v", err)
		assert.Contains(t, recordOf(err).Debug, "give the field a name")
	}
	assert.Equal(t, 1, quota{limit: 1}.limit)
}

// wireOf returns the error that the peer receives for err.
func wireOf(err error) *rpcerr.RequestError {
	r, _ := errors.AsType[*rpcerr.RequestError](rpcerr.From(err))
	return r
}
