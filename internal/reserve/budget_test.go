package reserve_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/reserve"
)

const mib = 1 << 20

// request is one that reserves room.
type request struct {
	share  *reserve.Share
	claim  reserve.Claim
	size   int64
	cancel context.CancelFunc
	life   chan struct{}
	done   chan struct{} // closed when err is set
	err    error
}

// ask begins a request that reserves room for a result of the size.
func ask(t *testing.T, s *reserve.Share, size int64) *request {
	r := &request{share: s, size: size, life: make(chan struct{}), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	r.cancel = cancel
	go func() { // ends with the wait
		defer close(r.done)
		if !s.TryReserve(&r.claim, size, false) {
			r.err = s.Reserve(ctx, r.life, &r.claim, size)
		}
	}()
	synctest.Wait()
	return r
}

func (r *request) waits() bool {
	synctest.Wait()
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// written ends a request: its handler returns, and its response is written.
func (r *request) written() {
	frame := r.share.Count(&r.claim, r.size, r.size)
	synctest.Wait()
	frame.Release()
}

func TestWhatEndsTheWait(t *testing.T) {
	for name, end := range map[string]func(*request){
		"ctx":        func(r *request) { r.cancel() },
		"the scope":  func(r *request) { close(r.life) },
		"connection": func(r *request) { r.share.End() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b reserve.Budget
				s, other := b.Share(4*mib, func() {}), b.Share(4*mib, func() {})
				before, beside := ask(t, s, mib/2), ask(t, other, mib/2)
				r, behind := ask(t, s, 4*mib), ask(t, other, mib/2)
				require.True(t, r.waits() && behind.waits())
				end(r)
				require.False(t, r.waits() || behind.waits())
				require.ErrorIs(t, r.err, context.Canceled)
				require.NoError(t, behind.err)
				for _, r := range []*request{before, beside, r, behind} {
					r.written()
				}
				all := ask(t, other, 2*mib)
				assert.False(t, all.waits() || ask(t, other, 100).waits(), "everything was given back")
			})
		})
	}
}

// A connection whose peer does not read fills the budget. The others can still load one
// result at a time, and its end gives everything back.
func TestConnectionsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b reserve.Budget
		s, other := b.Share(4*mib, func() {}), b.Share(4*mib, func() {})
		for range 2 {
			require.False(t, ask(t, s, mib).waits())
		}
		require.True(t, ask(t, s, mib).waits())
		for range 10 {
			one, two := ask(t, other, mib), ask(t, other, mib)
			require.False(t, one.waits())
			require.True(t, two.waits())
			one.written()
			require.False(t, two.waits())
			two.written()
		}
		s.End()
		one, two := ask(t, other, mib), ask(t, other, mib)
		require.False(t, one.waits() || two.waits())
	})
}

// Results without a reservation are counted. While they make the budget
// exceeded no handlers are to be started; reservations alone do not have that effect.
func TestExceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b reserve.Budget
		resumed := 0
		s := b.Share(4*mib, func() { resumed++ })
		large := ask(t, s, 10*mib)
		assert.False(t, s.Exceeded())
		var handler reserve.Claim
		loose := s.Count(&handler, mib, mib)
		assert.True(t, s.Exceeded())
		assert.True(t, s.Exceeded())
		large.written()
		assert.Equal(t, 1, resumed)
		assert.False(t, s.Exceeded())
		r := ask(t, s, 2*mib)
		require.True(t, r.waits(), "what was not reserved takes room")
		r.cancel()
		require.False(t, r.waits())
		loose.Release()
		loose.Release() // gives back once
		var more [5]reserve.Claim
		for i := range more {
			var handler reserve.Claim
			more[i] = s.Count(&handler, mib/2, mib/2)
		}
		assert.True(t, s.Exceeded())
		more[0].Release()
		assert.False(t, s.Exceeded())
		assert.Equal(t, 2, resumed)
	})
}

// A claim that was settled, or whose connection has ended, reserves nothing that no one
// would give back.
func TestTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b reserve.Budget
		s := b.Share(2*mib, func() {})
		r := ask(t, s, mib)
		r.written()
		require.True(t, s.TryReserve(&r.claim, 100*mib, false))
		again := ask(t, s, mib)
		require.False(t, again.waits())
		s.End()
		s.End()
		again.written()
		require.True(t, s.TryReserve(new(reserve.Claim), 100*mib, false))
		other := b.Share(2*mib, func() {})
		for n := range 3 {
			require.Equal(t, n == 2, ask(t, other, mib/2).waits())
		}
		other.End()
	})
}

// Whatever happens: what is admitted is within the limit, but for the first large result of
// each connection; each connection gets its reservations in their order; no one waits when
// nothing is in flight; and in the end everything is given back.
func TestRandom(t *testing.T) {
	for n := range uint64(100) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(n, 0))
				var b reserve.Budget
				const limit = 8 * mib
				shares := []*reserve.Share{b.Share(limit, func() {}), b.Share(limit, func() {}), b.Share(limit, func() {})}
				var waiting, running []*request
				check := func() {
					t.Helper()
					synctest.Wait()
					passed := map[*reserve.Share]bool{}
					var still []*request
					for _, r := range waiting {
						switch {
						case r.waits():
							passed[r.share] = true
							still = append(still, r)
						case r.err == nil:
							require.False(t, passed[r.share] && r.size >= reserve.Small, "one was passed")
							running = append(running, r)
						}
					}
					waiting = still
					used, busy := int64(0), map[*reserve.Share]int64{}
					for _, r := range running {
						if r.size >= reserve.Small {
							used += 2 * r.size
							busy[r.share] = max(busy[r.share], 2*r.size)
						}
					}
					for _, largest := range busy {
						used -= largest
					}
					require.LessOrEqual(t, used, int64(limit))
					for _, r := range waiting {
						require.NotZero(t, busy[r.share], "one waits for nothing")
					}
				}
				for range 200 {
					switch n := rnd.IntN(10); {
					case n < 5:
						size := rnd.Int64N(6 * mib)
						if n == 0 {
							size = rnd.Int64N(reserve.Small)
						}
						waiting = append(waiting, ask(t, shares[rnd.IntN(len(shares))], size))
					case n < 9 && len(running) > 0:
						i := rnd.IntN(len(running))
						running[i].written()
						running = append(running[:i], running[i+1:]...)
					case len(waiting) > 0:
						waiting[rnd.IntN(len(waiting))].cancel()
					}
					check()
				}
				for len(running) > 0 {
					running[0].written()
					running = running[1:]
					check()
				}
				require.Empty(t, waiting)
				last := []*request{ask(t, shares[0], mib), ask(t, shares[0], limit/2-mib)}
				require.False(t, last[0].waits() || last[1].waits())
			})
		})
	}
}
