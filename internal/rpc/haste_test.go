package rpc_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// Hasten is called when calls take long, and while it makes them faster.
func TestHastenIsCalledForSlowCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		var told atomic.Int64
		s := &fake{Stream: near, features: stream.Features{Hasten: func() { told.Add(1) }}}
		c, p := startOn(t, rpc.Config{Stream: s}), newPeer(t, far)
		// calls makes n calls, which take otherwise, or hastened if Hasten was called. It returns
		// for how many of them Hasten was called.
		id := 0
		calls := func(n int, m *wire.Method, otherwise, hastened time.Duration) int64 {
			before := told.Load()
			for range n {
				last := told.Load()
				done := make(chan struct{})
				go func() { // ends with the response
					defer close(done)
					_, err := c.Call(t.Context(), m, &msg{}, nil)
					assert.NoError(t, err)
				}()
				p.Next()
				synctest.Wait()
				if told.Load() > last {
					time.Sleep(hastened)
				} else {
					time.Sleep(otherwise)
				}
				id++
				p.answer(id, 1)
				<-done
			}
			return told.Load() - before
		}
		const quick, long = 500 * time.Microsecond, 10 * time.Millisecond
		assert.Zero(t, calls(1000, mAsk, quick, quick), "calls are quick anyway")
		assert.Zero(t, calls(10, mPrompt, long, long), "prompts are meant to take long")
		assert.Zero(t, calls(1, mAsk, long, quick), "the first one of many takes long")
		assert.EqualValues(t, 2998, calls(3000, mAsk, long, quick), "it helps")
		assert.Less(t, calls(1001, mAsk, quick, quick), int64(1001), "it is not needed any more")
		assert.Zero(t, calls(1000, mAsk, quick, quick))
		require.Zero(t, calls(1, mAsk, long, long))
		assert.Less(t, calls(1000, mAsk, long, long), int64(20), "it does not help")
	})
}

// Many calls in flight share the wait for the scheduler, so Hasten is called only for the first few
// of them.
func TestHastenIsCalledForFewCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		var told atomic.Int64
		s := &fake{Stream: near, features: stream.Features{Hasten: func() { told.Add(1) }}}
		c, p := startOn(t, rpc.Config{Stream: s}), newPeer(t, far)
		sent := 0
		send := func() {
			go func() { // ends with the response
				_, err := c.Call(t.Context(), mAsk, &msg{}, nil)
				assert.NoError(t, err)
			}()
			p.Next()
			synctest.Wait()
			sent++
		}
		send()
		time.Sleep(10 * time.Millisecond) // so that Hasten is called for the calls that follow
		p.answer(1, 1)
		synctest.Wait()
		for range 2 {
			told.Store(0)
			var counts []int64
			first := sent + 1
			for range 7 {
				send()
				counts = append(counts, told.Load())
			}
			assert.Equal(t, []int64{1, 2, 3, 4, 4, 4, 4}, counts)

			// When some of the calls have ended, Hasten is called again.
			for id := first; id < first+4; id++ {
				p.answer(id, 1)
			}
			synctest.Wait()
			send()
			assert.EqualValues(t, 5, told.Load(), "three are in flight")
			for id := first + 4; id <= sent; id++ {
				p.answer(id, 1)
			}
			synctest.Wait()
		}
	})
}
