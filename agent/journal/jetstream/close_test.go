package jetstream_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/natsserver"
)

// Whoever waits for servers that do not answer, or begins to, goes on when the store is closed, or the log.
func TestCloseEndsWaits(t *testing.T) {
	for name, opening := range map[string]bool{"at once": false, "while sessions are being opened": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			closeEndsWaits(t, opening)
		})
	}
}

func closeEndsWaits(t *testing.T, opening bool) {
	c := natsserver.Start(t, natsserver.Options{})
	s := open(t, c.URL(), name(), "a")
	l, err := s.Create(t.Context(), "s", journal.Meta{})
	require.NoError(t, err)
	other, err := s.Create(t.Context(), "other", journal.Meta{})
	require.NoError(t, err)
	c.Kill(0)
	waits := map[string]func() error{
		"Append":    func() error { _, err := l.Append(number(1)); return err },
		"SetMeta":   func() error { return l.SetMeta(func(*journal.Meta) {}) },
		"Log.Close": other.Close,
		"Open":      func() error { _, err := s.Open(t.Context(), "x"); return err },
		"Create":    func() error { _, err := s.Create(t.Context(), "y", journal.Meta{}); return err },
		"Delete":    func() error { return s.Delete(t.Context(), "z") },
		"Meta":      func() error { _, err := s.Meta(t.Context(), "z"); return err },
		"List":      func() error { _, _, err := s.List(t.Context(), journal.Query{}); return err },
	}
	type result struct {
		wait string
		err  error
	}
	ended := make(chan result, len(waits))
	for wait, f := range waits {
		go func() { ended <- result{wait, f()} }() // ends with the store
	}
	if opening {
		require.Eventually(t, func() bool { return s.Stats().Held == 5 }, 4*time.Second, time.Millisecond)
	}
	begun := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, s.Close(ctx))
	for range waits {
		r := <-ended
		if r.wait != "Log.Close" {
			assert.ErrorIs(t, r.err, journal.ErrClosed, r.wait)
		}
	}
	assert.Less(t, time.Since(begun), 10*time.Second) // and not the 30 of a heartbeat
}
