package retry

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Options configure [Do] and [Value]. The zero value selects the defaults.
type Options struct {
	// Attempts is the maximum number of calls. Default 5; a negative number means until ctx is
	// done.
	Attempts int
	// FirstPause is the pause after the first failure, MaxPause the longest of the
	// growing pauses, both before jitter of up to a half in either direction. An error
	// that says when to try again has no such pause. Defaults: 500 ms and 30 s.
	FirstPause, MaxPause time.Duration
	// MaxRetryAfter is the longest wait that an error may ask for. An error that asks for
	// more is returned at once. Default 5 min.
	MaxRetryAfter time.Duration
	// Classify converts an error to a kind.Error. Default: classify.Error.
	Classify func(error) *kind.Error
	// OnRetry, if not nil, is called before each pause with the number of the attempt that
	// failed (from 1), its error and the length of the pause.
	OnRetry func(attempt int, err error, pause time.Duration)
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Attempts == 0 {
		c.Attempts = 5
	}
	if c.Attempts < 0 {
		c.Attempts = math.MaxInt
	}
	if c.FirstPause <= 0 {
		c.FirstPause = 500 * time.Millisecond
	}
	if c.MaxPause <= 0 {
		c.MaxPause = max(30*time.Second, c.FirstPause)
	}
	c.MaxPause = min(c.MaxPause, math.MaxInt64/2) // room for the jitter
	c.FirstPause = min(c.FirstPause, c.MaxPause)
	if c.MaxRetryAfter <= 0 {
		c.MaxRetryAfter = 5 * time.Minute
	}
	if c.Classify == nil {
		c.Classify = classify.Error
	}
	return c
}

// Do calls f until it succeeds, fails with an error that is not retryable, or was
// called often enough. It returns the last error of f, wrapped with the number of attempts
// if there was more than one. If ctx is done during a pause, the result wraps the error of
// ctx and the error of f, and its kind is cancelled. If the deadline of ctx lies before the
// end of the pause, Do returns at once. Nil options mean the defaults.
func Do(ctx context.Context, f func(ctx context.Context) error, opts *Options) error {
	_, err := Value(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) }, opts)
	return err
}

// Value is [Do] for a function with a result.
func Value[T any](ctx context.Context, f func(ctx context.Context) (T, error), opts *Options) (T, error) {
	o := opts.withDefaults()
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: o.FirstPause, MaxInterval: o.MaxPause,
		Multiplier: 2, RandomizationFactor: backoff.DefaultRandomizationFactor,
	}
	for attempt := 1; ; attempt++ {
		v, err := f(ctx)
		if err == nil {
			return v, nil
		}
		// If ctx is done, that is the reason for whatever f returns now.
		e := o.Classify(err)
		if ctx.Err() != nil || e == nil || !e.Retryable || attempt >= o.Attempts || e.RetryAfter > o.MaxRetryAfter {
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
