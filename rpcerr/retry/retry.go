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

// Options tune how often and how patiently to try. Zero values mean the defaults.
type Options struct {
	// Attempts is how often to call in all. Default 5; less than 0 means as long as ctx
	// lives.
	Attempts int
	// FirstPause is the pause behind the first failure, MaxPause the longest of the
	// growing pauses, both before jitter of up to a half in either direction.
	// Defaults: 500 ms and 30 s.
	FirstPause, MaxPause time.Duration
	// MaxRetryAfter is the longest wait that an error may ask for; one that asks for
	// more is returned at once. Default 5 min.
	MaxRetryAfter time.Duration
	// Classify finds out what an error is. Default: classify.Error.
	Classify func(error) *kind.Error
	// OnRetry, when set, is told before each pause which attempt failed (from 1),
	// why, and how long the pause is.
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
// called often enough. It returns f's last error, with what was tried around
// it when there was more than one attempt. When ctx ends during a pause, the result
// wraps both the ctx error and f's. When ctx would end before the pause does, Do
// returns at once. A nil opts means the defaults.
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
		// A ctx that has ended is the reason for whatever f says now.
		e := o.Classify(err)
		if ctx.Err() != nil || e == nil || !e.Retryable || attempt >= o.Attempts || e.RetryAfter > o.MaxRetryAfter {
			return v, told(attempt, err)
		}
		pause := max(e.RetryAfter, pauses.NextBackOff())
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return v, told(attempt, err)
		}
		if o.OnRetry != nil {
			o.OnRetry(attempt, err, pause)
		}
		if ended := sleep(ctx, pause); ended != nil {
			return v, fmt.Errorf("waiting to try again: %w (attempt %d: %w)", ended, attempt, err)
		}
	}
}

func told(attempt int, err error) error {
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
