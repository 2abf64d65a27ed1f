package rpc_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// An expectation fails when the connection ends, after what was read before, and Shutdown
// waits for it.
func TestExpect(t *testing.T) {
	t.Run("end of input", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var ev events
			c, p := start(t, rpc.Config{Entries: version(&ev, 1)})
			_, err := c.Expect(mPrompt, "s", func(err error) {
				assert.ErrorIs(t, err, wire.ErrClosed)
				ev.add("failed")
			})
			require.NoError(t, err)
			p.note(1)
			p.Close()
			synctest.Wait()
			assert.Equal(t, []string{"version 1: note 1", "failed"}, ev.list())
			_, err = c.Expect(mPrompt, "s", func(error) { t.Error("called") })
			assert.ErrorIs(t, err, wire.ErrClosed)
		})
	})
	t.Run("met", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			c, _ := start(t, rpc.Config{})
			e, err := c.Expect(mPrompt, "s", func(error) { t.Error("called") })
			require.NoError(t, err)
			down := make(chan error, 1)
			go func() { down <- c.Shutdown(t.Context()) }() // ends when it is met
			time.Sleep(time.Minute)
			require.Empty(t, down)
			assert.True(t, e.Met())
			assert.False(t, e.Met())
			assert.NoError(t, <-down)
		})
	})
	t.Run("a response of its id", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			c, p := start(t, rpc.Config{})
			e, err := c.Expect(mPrompt, "s", func(error) { t.Error("called") })
			require.NoError(t, err)
			for _, id := range []string{"0", "1", "9223372036854775808", "9223372036854775809"} {
				p.Send(`{'jsonrpc':'2.0','id':%s,'result':{}}`, id)
			}
			synctest.Wait()
			assert.True(t, e.Met())
		})
	})
	t.Run("a session is lost", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			n, _ := newNetwork()
			c := startOn(t, rpc.Config{Stream: n})
			why := errors.New("503")
			failed := make(chan error, 1)
			_, err := c.Expect(mPrompt, "a", func(err error) { failed <- err })
			require.NoError(t, err)
			other, err := c.Expect(mPrompt, "b", func(error) { t.Error("called") })
			require.NoError(t, err)
			n.in <- &stream.LostError{SessionID: "a", Err: why}
			assert.ErrorIs(t, <-failed, why)
			_, err = c.Expect(mPrompt, "a", func(error) { t.Error("called") })
			assert.ErrorIs(t, err, why)
			assert.True(t, other.Met())
		})
	})
}
