package retry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/retry"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// failing returns a function that fails with the errors in turn and then succeeds.
func failing(calls *int, errs ...error) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		*calls++
		if *calls <= len(errs) {
			return 0, errs[*calls-1]
		}
		return *calls, nil
	}
}

// lost returns the error of a call whose request was not delivered.
func lost(err error) error {
	return &stream.LostError{ID: json.RawMessage("1"), Err: fmt.Errorf("streamhttp: posting: %w", err)}
}

func TestObeys(t *testing.T) {
	busy := kind.ServiceUnavailable.New("busy")
	for name, c := range map[string]struct {
		errs     []error
		opts     *retry.Options
		calls    int
		err      error
		min, max time.Duration // spent
	}{
		"success at once":         {calls: 1},
		"retryable":               {errs: []error{busy, busy}, calls: 3, min: 750 * time.Millisecond, max: 2250 * time.Millisecond},
		"not retryable":           {errs: []error{kind.NotFound.New("m")}, calls: 1, err: kind.NotFound},
		"becomes fatal":           {errs: []error{busy, kind.Fatal.New("m")}, calls: 2, err: kind.Fatal, min: 1, max: time.Second},
		"told not to":             {errs: []error{busy.WithRetryable(false)}, calls: 1, err: kind.ServiceUnavailable},
		"five attempts":           {errs: []error{busy, busy, busy, busy, busy, busy}, calls: 5, err: kind.ServiceUnavailable, min: 3750 * time.Millisecond, max: 12 * time.Second},
		"two attempts":            {errs: []error{busy, busy}, opts: &retry.Options{Attempts: 2}, calls: 2, err: kind.ServiceUnavailable, min: 1, max: time.Second},
		"no limit":                {errs: []error{busy, busy, busy, busy, busy, busy, busy}, opts: &retry.Options{Attempts: -1}, calls: 8, min: 1, max: time.Hour},
		"waits as told":           {errs: []error{busy.WithRetryAfter(time.Minute)}, calls: 2, min: time.Minute, max: time.Minute},
		"told a short wait":       {errs: []error{busy.WithRetryAfter(20 * time.Millisecond)}, calls: 2, min: 20 * time.Millisecond, max: 20 * time.Millisecond},
		"told not to wait":        {errs: []error{busy.WithNoDelay(), busy.WithNoDelay()}, calls: 3},
		"a guess":                 {errs: []error{errors.New("service unavailable")}, calls: 1},
		"a guess of a peer":       {errs: []error{rpcerr.From(classify.Error(errors.New("status code 503")))}, calls: 1},
		"a status is no guess":    {errs: []error{kind.Upstream("m", 500)}, calls: 2, min: 1, max: time.Second},
		"told to wait for age":    {errs: []error{busy.WithRetryAfter(time.Hour)}, calls: 1, err: kind.ServiceUnavailable},
		"may wait an hour":        {errs: []error{busy.WithRetryAfter(time.Hour)}, opts: &retry.Options{MaxRetryAfter: time.Hour}, calls: 2, min: time.Hour, max: time.Hour},
		"may have been processed": {errs: []error{lost(fmt.Errorf("%w: %w", streamhttp.ErrUncertain, syscall.ECONNRESET)), busy}, calls: 1, err: streamhttp.ErrUncertain},
		"too late to be sure":     {errs: []error{lost(fmt.Errorf("%w: %w", streamhttp.ErrUncertain, os.ErrDeadlineExceeded))}, calls: 1, err: os.ErrDeadlineExceeded},
		"a proxy's 504":           {errs: []error{lost(fmt.Errorf("posting: %w", &stream.StatusError{Code: 504}))}, calls: 1},
		"a session is lost":       {errs: []error{&stream.LostError{SessionID: "s", Err: syscall.ECONNRESET}}, calls: 1, err: syscall.ECONNRESET},
		"not accepted":            {errs: []error{lost(fmt.Errorf("%w: %w", streamhttp.ErrNotAccepted, &stream.StatusError{Code: 429})), lost(fmt.Errorf("%w: no token", streamhttp.ErrNotAccepted))}, calls: 3, min: 1, max: 3 * time.Second},
		"not accepted at the end": {errs: []error{fmt.Errorf("%w: %w", acp.ErrClosed, streamhttp.ErrNotAccepted)}, calls: 1, err: acp.ErrClosed},
		"cancelled first":         {errs: []error{fmt.Errorf("%w: %w", streamhttp.ErrNotAccepted, context.Canceled)}, calls: 1, err: context.Canceled},
		"refused at first":        {errs: []error{&stream.StatusError{Code: 503}}, calls: 2, min: 1, max: time.Second},
		"wrapped":                 {errs: []error{fmt.Errorf("w: %w", busy)}, calls: 2, min: 1, max: time.Second},
		"a peer's answer":         {errs: []error{busy.RequestError()}, calls: 2, min: 1, max: time.Second},
		"a peer's refusal":        {errs: []error{rpcerr.AuthRequired(nil)}, calls: 1, err: rpcerr.ErrAuthRequired},
		"refused connection":      {errs: []error{syscall.ECONNREFUSED}, calls: 2, min: 1, max: time.Second},
		"missing file":            {errs: []error{fs.ErrNotExist}, calls: 1, err: fs.ErrNotExist},
		"own bug":                 {errs: []error{errors.New("x")}, calls: 1},
		"own classification":      {errs: []error{classify.New(classify.Is(fs.ErrNotExist, kind.Transient)).Error(fs.ErrNotExist)}, calls: 2, min: 1, max: time.Second},
		"pauses are bounded":      {errs: []error{busy, busy, busy, busy}, opts: &retry.Options{FirstPause: time.Minute}, calls: 5, min: 2 * time.Minute, max: 6 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls, began := 0, time.Now()
				v, err := retry.Value(t.Context(), failing(&calls, c.errs...), c.opts)
				spent := time.Since(began)
				assert.Equal(t, c.calls, calls)
				assert.GreaterOrEqual(t, spent, c.min)
				assert.LessOrEqual(t, spent, c.max)
				if c.calls > len(c.errs) {
					require.NoError(t, err)
					assert.Equal(t, calls, v)
					return
				}
				require.Error(t, err)
				if c.err != nil {
					assert.ErrorIs(t, err, c.err)
				}
				if calls > 1 {
					assert.ErrorContains(t, err, fmt.Sprintf("after %d attempts", calls))
				} else {
					assert.Equal(t, c.errs[0], err, "unchanged when it was tried once")
				}
			})
		})
	}
}

func TestBoundedByContext(t *testing.T) {
	busy := kind.ServiceUnavailable.New("busy").WithRetryAfter(time.Minute)
	synctest.Test(t, func(t *testing.T) { // no time left: do not even begin to wait
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		calls, began := 0, time.Now()
		_, err := retry.Value(ctx, failing(&calls, busy, busy), nil)
		assert.Same(t, busy, err)
		assert.Zero(t, time.Since(began))
	})
	synctest.Test(t, func(t *testing.T) { // cancelled during the pause
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stop) })
		calls, began := 0, time.Now()
		_, err := retry.Value(ctx, failing(&calls, busy, busy), nil)
		assert.ErrorIs(t, err, stop)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, kind.ServiceUnavailable)
		assert.Equal(t, kind.Cancelled, kind.Of(err), "the caller does not want another attempt")
		assert.Equal(t, kind.ActionGiveUp, kind.AdviceFor(err).Action)
		assert.Equal(t, time.Second, time.Since(began))
		assert.Equal(t, 1, calls)
	})
	synctest.Test(t, func(t *testing.T) { // ended during the call: not a reason to call again
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := retry.Do(ctx, func(context.Context) error { calls++; cancel(); return busy }, nil)
		assert.Same(t, busy, err)
		assert.Equal(t, 1, calls)
	})
}

func TestOnRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := kind.RateLimited.New("busy").WithRetryAfter(3 * time.Second)
		var told []string
		calls := 0
		_, err := retry.Value(t.Context(), failing(&calls, busy, busy), &retry.Options{
			OnRetry: func(attempt int, err error, pause time.Duration) {
				told = append(told, fmt.Sprint(attempt, " ", err, " ", pause))
			},
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"1 busy 3s", "2 busy 3s"}, told)
	})
}

func TestHugePauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		calls := 0
		_, err := retry.Value(ctx, failing(&calls, kind.Timeout), &retry.Options{FirstPause: math.MaxInt64, MaxRetryAfter: math.MaxInt64})
		assert.ErrorIs(t, err, kind.Timeout)
	})
}

func Example() {
	calls := 0
	search := func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", kind.UpstreamRateLimit("The index is busy.", time.Millisecond)
		}
		return "found", nil
	}
	result, err := retry.Value(context.Background(), search, &retry.Options{FirstPause: time.Millisecond})
	fmt.Println(result, err, calls)
	// Output: found <nil> 3
}
