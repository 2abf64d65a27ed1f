package classify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

// recorder is a logger that keeps its lines.
type recorder struct{ bytes.Buffer }

func (r *recorder) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (r *recorder) lines(t *testing.T) []map[string]any {
	var lines []map[string]any
	for line := range strings.Lines(r.String()) {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		lines = append(lines, m)
	}
	return lines
}

// do runs f as the operation.
func do[T any](ctx context.Context, op classify.Op, f func(context.Context) (T, error)) (result T, err error) {
	defer op.Catch(ctx, &err)
	return f(ctx)
}

func TestCatch(t *testing.T) {
	var log recorder
	op := classify.Op{Name: "Store.Load", Attrs: []slog.Attr{slog.String("id", "d1")}, Logger: log.logger()}
	load := func(fail error) (err error) {
		defer op.Catch(t.Context(), &err)
		return fail
	}
	require.NoError(t, load(nil))
	assert.Empty(t, log.String(), "nothing happened")

	err := load(&fs.PathError{Op: "open", Path: "/d1", Err: fs.ErrNotExist})
	e, ok := errors.AsType[*kind.Error](err)
	require.True(t, ok)
	assert.Equal(t, kind.NotFound, e.Kind)
	assert.ErrorIs(t, err, fs.ErrNotExist, "the cause is kept")
	lines := log.lines(t)
	require.Len(t, lines, 1)
	assert.Equal(t, "operation failed", lines[0]["msg"])
	assert.Equal(t, "ERROR", lines[0]["level"])
	assert.Equal(t, "Store.Load", lines[0]["operation"])
	assert.Equal(t, "d1", lines[0]["id"])
	assert.Contains(t, lines[0]["error"], "cause")
	assert.NotContains(t, lines[0], "stack")
}

func TestCatchLogsOnce(t *testing.T) {
	var log recorder
	inner := classify.Op{Name: "inner", Logger: log.logger()}
	outer := classify.Op{Name: "outer", Logger: log.logger()}
	_, err := do(t.Context(), outer, func(ctx context.Context) (int, error) {
		_, err := do(ctx, inner, func(context.Context) (int, error) { return 0, kind.Conflict.New("taken") })
		return 0, fmt.Errorf("around it: %w", err)
	})
	assert.ErrorIs(t, err, kind.Conflict)
	e, _ := kind.From(err)
	logged, ok := errors.AsType[interface {
		error
		Logged() bool
	}](err)
	assert.True(t, ok && logged.Logged())
	assert.Equal(t, "taken", e.Message)
	assert.ErrorContains(t, errors.Unwrap(err), "around it", "what was wrapped is not lost")
	_, err = do(t.Context(), outer, func(context.Context) (int, error) {
		return 0, toolerr.Internal("The tool is broken").WithCause(fmt.Errorf("w: %w", kind.Fatal.New("m").WithCause(err)))
	})
	assert.ErrorIs(t, err, kind.Internal, "another error built upon it")
	lines := log.lines(t)
	require.Len(t, lines, 1)
	assert.Equal(t, "inner", lines[0]["operation"])
}

func TestCatchOptions(t *testing.T) {
	var log recorder
	boom := errors.New("boom")
	run := func(op classify.Op, err error) error {
		op.Logger = log.logger()
		_, err = do(t.Context(), op, func(context.Context) (int, error) { return 1, err })
		return err
	}
	assert.ErrorIs(t, run(classify.Op{Name: "a", Kind: kind.Configuration}, boom), kind.Configuration)
	assert.ErrorIs(t, run(classify.Op{Name: "a", Kind: kind.Configuration}, kind.Timeout.New("m")), kind.Timeout, "explicit errors stay")
	assert.ErrorIs(t, run(classify.Op{Name: "a", Kind: kind.Configuration}, context.Canceled), kind.Cancelled)
	assert.ErrorIs(t, run(classify.Op{Name: "a", Kind: "typo"}, boom), kind.ErrBadUse)
	assert.ErrorIs(t, run(classify.Op{Name: "a", Kind: "typo"}, boom), boom)
	assert.ErrorIs(t, run(classify.Op{Classifier: classify.New(classify.Is(boom, kind.Conflict))}, boom), kind.Conflict)
	hinted := run(classify.Op{Name: "a", Map: func(e *kind.Error) *kind.Error { return e.WithHint("h") }}, boom)
	e, _ := kind.From(hinted)
	assert.Equal(t, "h", e.Hint)
	replaced := run(classify.Op{Name: "a", Map: func(*kind.Error) *kind.Error { return kind.Conflict.New("other") }}, boom)
	assert.ErrorIs(t, replaced, kind.Conflict)
	assert.ErrorIs(t, replaced, boom)
	assert.ErrorIs(t, run(classify.Op{Name: "a", Map: func(*kind.Error) *kind.Error { return nil }}, boom), boom)

	log.Reset()
	_ = run(classify.Op{Name: "a", Critical: true, Stack: true}, boom)
	_ = run(classify.Op{}, context.Canceled)
	lines := log.lines(t)
	require.Len(t, lines, 2)
	assert.Equal(t, "ERROR+4", lines[0]["level"])
	assert.Contains(t, lines[0]["stack"], "TestCatchOptions")
	assert.Equal(t, "DEBUG", lines[1]["level"], "giving up is no fault")
	assert.Equal(t, "(unnamed operation)", lines[1]["operation"])
}

func TestCatchPanic(t *testing.T) {
	for name, value := range map[string]any{
		"text":           "password hunter2",
		"an error":       fs.ErrNotExist,
		"explicit error": rpcerr.AuthRequired("hunter2"),
		"a request":      &acp.PromptRequest{SessionID: "canary"},
		"a number":       7,
	} {
		t.Run(name, func(t *testing.T) {
			var log recorder
			v, err := do(t.Context(), classify.Op{Name: "a", Logger: log.logger()}, func(context.Context) (int, error) { panic(value) })
			assert.Zero(t, v)
			wire := wireOf(err)
			assert.Equal(t, rpcerr.CodeInternalError, wire.Code)
			assert.Equal(t, "Internal error", wire.Message)
			b, merr := json.Marshal(wire)
			require.NoError(t, merr)
			assert.NotContains(t, string(b), "hunter2")
			if cause, ok := value.(error); ok {
				assert.ErrorIs(t, err, cause)
			}
			lines := log.lines(t)
			require.Len(t, lines, 1)
			assert.Contains(t, lines[0]["stack"], "TestCatchPanic")
			assert.NotContains(t, log.String(), "canary", "content stays out of the log")
			assert.ErrorContains(t, errors.Unwrap(errors.Unwrap(err)), map[string]string{"text": "password", "a request": "*acp.PromptRequest", "a number": "7"}[name])
		})
	}
}

// Op.Kind replaces the result of the tables, but not that of an adapter or of a deadline.
func TestOpKind(t *testing.T) {
	boom := errors.New("boom")
	op := classify.Op{Name: "op", Kind: kind.Database, Classifier: classify.New(classify.Is(boom, kind.Conflict)), Logger: new(recorder).logger()}
	for _, c := range []struct {
		err  error
		want kind.Kind
	}{
		{boom, kind.Conflict},
		{errors.New("other"), kind.Database},
		{fs.ErrNotExist, kind.Database},
		{fmt.Errorf("w: %w", context.DeadlineExceeded), kind.Timeout},
		{os.ErrDeadlineExceeded, kind.Timeout},
		{context.Canceled, kind.Cancelled},
	} {
		_, err := do(t.Context(), op, func(context.Context) (int, error) { return 0, c.err })
		assert.Equal(t, c.want, kind.Of(err), "%v", c.err)
	}
}

// A command that its ctx killed is a timeout or cancelled. A signal alone is neither.
func TestKilledCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals: a killed process exits with status 1")
	}
	run := func(ctx context.Context, args ...string) error {
		return exec.CommandContext(ctx, args[0], args[1:]...).Run()
	}
	var late context.Context
	killed := context.DeadlineExceeded
	for limit := 20 * time.Millisecond; killed == context.DeadlineExceeded; limit *= 2 { // it was not started within the limit before
		ctx, stop := context.WithTimeout(t.Context(), limit)
		defer stop()
		late, killed = ctx, run(ctx, "sleep", "60")
	}
	require.EqualError(t, killed, "signal: killed")

	gone, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the user pressed a key")
	cancel(reason)

	assert.Equal(t, killed, classify.WithContext(t.Context(), killed), "its ctx lives")
	assert.Equal(t, kind.Internal, kind.Of(classify.Error(killed)), "a signal alone is not guessed at")
	for _, c := range []struct {
		ctx  context.Context
		want kind.Kind
		is   error
	}{{late, kind.Timeout, context.DeadlineExceeded}, {gone, kind.Cancelled, reason}} {
		err := classify.WithContext(c.ctx, killed)
		assert.ErrorIs(t, err, c.is)
		assert.ErrorIs(t, err, killed)
		assert.Equal(t, c.want, kind.Of(classify.Error(err)))
		assert.Equal(t, toolcode.Timeout, toolcode.Of(err, new(recorder).logger()).Error)
		assert.Same(t, err, classify.WithContext(c.ctx, err), "said already")

		op := classify.Op{Name: "op", Kind: kind.Database, Logger: new(recorder).logger()}
		_, err = do(c.ctx, op, func(context.Context) (int, error) { return 0, killed })
		assert.Equal(t, c.want, kind.Of(err))
		assert.Equal(t, toolcode.Timeout, toolcode.Of(err, new(recorder).logger()).Error)

		returned := classify.OnError(&classify.OnErrorOptions{Logger: new(recorder).logger()})(c.ctx, "tool call t", killed)
		assert.Equal(t, c.want, kind.Of(rpcerr.From(returned)))
	}
	// A command that ended by itself did not end because of its ctx, even if the ctx is done.
	failed := run(t.Context(), "sh", "-c", "exit 3")
	assert.Equal(t, failed, classify.WithContext(late, failed))
	assert.Equal(t, &exec.ExitError{}, classify.WithContext(late, &exec.ExitError{}))
	_, missing := os.Open(filepath.Join(t.TempDir(), "none"))
	assert.Equal(t, missing, classify.WithContext(late, missing))
	assert.NoError(t, classify.WithContext(late, nil))
}
