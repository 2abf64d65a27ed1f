// Package retry makes a call again if its error is retryable, and waits as long as the error
// requires. Experimental: it may change in any release.
//
//	resp, err := retry.Value(ctx, func(ctx context.Context) (*acp.NewSessionResponse, error) {
//		return conn.NewSession(ctx, req)
//	}, nil)
//
// An error that carries no kind is classified first, so that a refused connection is tried
// again and a missing file is not. The words in a text are no reason to call again. If the
// error does not contain a time to wait, the pauses grow exponentially, with jitter.
//
// Retry only what may be done twice: not tool calls with side effects, and so not prompts.
package retry

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// The longest of the growing pauses, before jitter of up to a half in either direction.
const maxPause = 30 * time.Second

// Options configure [Do] and [Value]. The zero value selects the defaults.
type Options struct {
	// Attempts is the maximum number of calls. A negative number means until ctx is done.
	// Default: 5.
	Attempts int
	// FirstPause is the pause after the first failure if the error does not contain a time to
	// wait. The pauses after it grow to 30 s, or are all FirstPause if that is longer.
	// Default: 500 ms.
	FirstPause time.Duration
	// MaxRetryAfter is the longest wait that an error may ask for. An error that asks for
	// more is returned at once. Default: 5 min.
	MaxRetryAfter time.Duration
	// OnRetry, if not nil, is called before each pause with the number of the attempt that
	// failed (from 1), its error and the length of the pause.
	OnRetry func(attempt int, err error, pause time.Duration)
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Attempts = cmp.Or(c.Attempts, 5)
	if c.Attempts < 0 {
		c.Attempts = math.MaxInt
	}
	if c.FirstPause <= 0 {
		c.FirstPause = 500 * time.Millisecond
	}
	c.FirstPause = min(c.FirstPause, math.MaxInt64/2) // room for the jitter
	if c.MaxRetryAfter <= 0 {
		c.MaxRetryAfter = 5 * time.Minute
	}
	return c
}

// Do calls f until it succeeds, fails with an error that is not retryable, or was called
// often enough. It returns the last error of f, with the number of attempts if there was more
// than one. If ctx is done during a pause, the result wraps the error of ctx and that of f, and
// its kind is cancelled. Do does not begin a pause that outlasts the deadline of ctx.
func Do(ctx context.Context, f func(ctx context.Context) error, opts *Options) error {
	_, err := Value(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) }, opts)
	return err
}

// Value is [Do] for a function with a result.
func Value[T any](ctx context.Context, f func(ctx context.Context) (T, error), opts *Options) (T, error) {
	o := opts.withDefaults()
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: o.FirstPause, MaxInterval: max(o.FirstPause, maxPause),
		Multiplier: 2, RandomizationFactor: backoff.DefaultRandomizationFactor,
	}
	for attempt := 1; ; attempt++ {
		v, err := f(ctx)
		if err == nil {
			return v, nil
		}
		e, _ := kind.From(classify.Error(err))
		if ctx.Err() != nil || !e.Retryable || attempt >= o.Attempts || e.RetryAfter > o.MaxRetryAfter {
			return v, counted(attempt, err)
		}
		pause := e.RetryAfter
		if pause <= 0 && !e.NoDelay {
			pause = pauses.NextBackOff()
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return v, counted(attempt, err)
		}
		if o.OnRetry != nil {
			o.OnRetry(attempt, err, pause)
		}
		if ended := sleep(ctx, pause); ended != nil {
			// The end of ctx stands first and has a kind, so that the whole is not retryable.
			stopped := kind.Cancelled.New(kind.Cancelled.Message()).WithCause(ended)
			return v, fmt.Errorf("waiting to try again: %w (attempt %d: %w)", stopped, attempt, err)
		}
	}
}

func counted(attempt int, err error) error {
	if attempt == 1 {
		return err
	}
	return fmt.Errorf("after %d attempts: %w", attempt, err)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		if cause := context.Cause(ctx); cause != ctx.Err() {
			return fmt.Errorf("%w: %w", ctx.Err(), cause)
		}
		return ctx.Err()
	}
}
