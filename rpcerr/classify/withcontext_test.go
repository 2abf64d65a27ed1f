package classify_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
)

// A command that its ctx killed is a timeout or cancelled. A signal alone is neither.
func TestKilledCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals: a killed process exits with status 1")
	}
	run := func(ctx context.Context, args ...string) error {
		return exec.CommandContext(ctx, args[0], args[1:]...).Run()
	}
	late, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	killed := run(late, "sleep", "60")
	require.EqualError(t, killed, "signal: killed")

	gone, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the user pressed a key")
	cancel(reason)

	assert.Equal(t, killed, classify.WithContext(t.Context(), killed), "its ctx lives")
	assert.Equal(t, kind.Internal, classify.Error(killed).Kind, "a signal alone is not guessed at")
	for _, c := range []struct {
		ctx  context.Context
		want kind.Kind
		is   error
	}{{late, kind.Timeout, context.DeadlineExceeded}, {gone, kind.Cancelled, reason}} {
		err := classify.WithContext(c.ctx, killed)
		assert.ErrorIs(t, err, c.is)
		assert.ErrorIs(t, err, killed)
		assert.Equal(t, c.want, classify.Error(err).Kind)
		assert.Equal(t, toolcode.Timeout, toolcode.Of(err, new(recorder).logger()).Error)
		assert.Same(t, err, classify.WithContext(c.ctx, err), "said already")

		op := classify.Op{Name: "op", Kind: kind.Database, Logger: new(recorder).logger()}
		_, err = do(c.ctx, op, func(context.Context) (int, error) { return 0, killed })
		assert.Equal(t, c.want, kind.Of(err))
		assert.Equal(t, toolcode.Timeout, toolcode.Of(err, new(recorder).logger()).Error)

		returned := classify.OnError(&classify.OnErrorOptions{Logger: new(recorder).logger()})(c.ctx, "tool call t", killed)
		assert.Equal(t, c.want, kind.Of(rpcerr.From(returned)))
	}
	// What ended by itself under an ended ctx did not end because of it.
	failed := run(t.Context(), "sh", "-c", "exit 3")
	assert.Equal(t, failed, classify.WithContext(late, failed))
	assert.Equal(t, &exec.ExitError{}, classify.WithContext(late, &exec.ExitError{}))
	_, missing := os.Open(filepath.Join(t.TempDir(), "none"))
	assert.Equal(t, missing, classify.WithContext(late, missing))
	assert.NoError(t, classify.WithContext(late, nil))
}
