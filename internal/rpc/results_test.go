package rpc_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/reserve"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

const longResult = 256 << 10

var longText = strings.Repeat("x", longResult)

// loader is a handler that reserves room for a long result before it has it. It counts how
// many are in flight.
func loader(loaded *atomic.Int64) handle {
	return func(ctx context.Context, m *msg) (*msg, error) {
		if err := reserve.Result(ctx, longResult); err != nil {
			return nil, err
		}
		loaded.Add(1)
		return &msg{N: m.N, Text: longText}, nil
	}
}

// If a peer requests long results and does not read, a bounded number of them is in memory. The
// others wait in order and without a slot, and short results pass them. When the peer reads, it
// gets all.
func TestReservationsWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const n = 100
		var loaded, killed atomic.Int64
		_, p, s := startHeld(t, rpc.Config{
			Limits: rpc.Limits{Results: 5 * longResult, MaxHandlers: 3, StallTimeout: time.Hour},
			Entries: []*rpc.Entry{on(mEcho, loader(&loaded)), on(mAsk, func(ctx context.Context, m *msg) (*msg, error) {
				killed.Add(1)
				return m, reserve.Result(ctx, reserve.Small-1)
			})},
		})
		for id := range n {
			p.request(id, "t/echo", id)
			synctest.Wait()
		}
		assert.EqualValues(t, 2, loaded.Load(), "each counts in memory and encoded")
		p.request(n, "t/ask", 1)
		synctest.Wait()
		assert.EqualValues(t, 1, killed.Load())
		close(s.gate)
		for place := range n + 1 {
			synctest.Wait() // so that no goroutine is overtaken by those of the messages after it
			m := p.Next()
			id, err := strconv.Atoi(string(m.ID))
			require.NoError(t, err)
			if id < n {
				assert.InDelta(t, place, id, 10, "first come, first served, and those that are encoded together in any order")
				assert.Contains(t, m.Raw, longText)
			}
		}
		assert.EqualValues(t, n, loaded.Load())
	})
}

// A reservation waits as long as the request and the connection last.
func TestEndsOfAReservation(t *testing.T) {
	for name, end := range map[string]func(c *rpc.Conn, p peer){
		"cancel": func(_ *rpc.Conn, p peer) {
			p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':9}}`)
		},
		"close": func(c *rpc.Conn, _ peer) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ended := make(chan error, 1)
				c, p, _ := startHeld(t, rpc.Config{
					Limits: rpc.Limits{Results: 1, StallTimeout: time.Hour},
					Entries: []*rpc.Entry{on(mEcho, loader(new(atomic.Int64))), on(mAsk, func(ctx context.Context, m *msg) (*msg, error) {
						err := reserve.Result(context.WithoutCancel(ctx), longResult)
						ended <- err
						return nil, err
					})},
				})
				p.request(1, "t/echo", 1)
				synctest.Wait()
				p.request(9, "t/ask", 1)
				synctest.Wait()
				require.Empty(t, ended)
				end(c, p)
				require.ErrorIs(t, <-ended, context.Canceled)
			})
		})
	}
}

// Outside of a request handler, and after it has returned, nothing is reserved.
func TestReservationsOutsideARequest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		after, note := make(chan error), make(chan error, 1)
		_, p := start(t, rpc.Config{Limits: rpc.Limits{Results: 1}, Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				ctx = rpc.Detach(ctx)
				rpc.AfterResponse(ctx, func() { after <- errors.Join(reserve.Result(ctx, 1<<30), reserve.Result(ctx, 1<<30)) })
				return m, nil
			}),
			on(mNote, func(ctx context.Context, _ *msg) (*msg, error) {
				note <- errors.Join(reserve.Result(ctx, 1<<30), reserve.Result(ctx, 1<<30))
				return nil, nil
			}),
		}})
		p.request(1, "t/echo", 1)
		require.NoError(t, <-after)
		p.Next()
		p.note(1)
		require.NoError(t, <-note)
		require.NoError(t, reserve.Result(t.Context(), 1<<30))
	})
}

// While a notification handler waits for the peer, the requests that the peer may make for
// its response do not wait.
func TestReservationsInsideANotificationHandler(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var loaded, other atomic.Int64
		done := make(chan error, 1)
		var c *rpc.Conn
		c, p, s := startHeld(t, rpc.Config{
			Limits: rpc.Limits{Results: 5 * longResult, StallTimeout: time.Hour},
			Entries: []*rpc.Entry{
				on(mEcho, loader(&loaded)),
				on(mAsk, func(_ context.Context, m *msg) (*msg, error) { other.Add(1); return &msg{Text: longText}, nil }),
				on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
					_, err := c.Call(ctx, mAsk, m, nil)
					done <- err
					return nil, err
				}),
			},
		})
		for id := range 5 {
			p.request(10+id, "t/echo", id)
			p.request(20+id, "t/ask", id)
			synctest.Wait()
		}
		loadedBefore, otherBefore := loaded.Load(), other.Load()
		require.Less(t, loadedBefore, int64(5))
		require.Less(t, otherBefore, int64(5))
		p.note(1)
		synctest.Wait()
		p.request(30, "t/echo", 1)
		p.request(31, "t/ask", 1)
		synctest.Wait()
		assert.Equal(t, loadedBefore+1, loaded.Load())
		assert.Equal(t, otherBefore+1, other.Load())
		p.answer(1, 1)
		require.NoError(t, <-done)
		close(s.gate)
	})
}

// A handler that calls the peer holds no reservation meanwhile: the peer may need those of
// others for its response.
func TestNoReservationDuringACall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Limits: rpc.Limits{Results: 2 * longResult}, Entries: []*rpc.Entry{
			on(mEcho, loader(new(atomic.Int64))),
			on(mAsk, func(ctx context.Context, m *msg) (*msg, error) {
				if err := reserve.Result(ctx, longResult); err != nil {
					return nil, err
				}
				_, err := c.Call(ctx, mAsk, m, nil)
				return m, err
			}),
		}})
		p.request(1, "t/ask", 1)
		p.Expect("t/ask")
		p.request(2, "t/echo", 2)
		assert.Contains(t, p.Next().Raw, `"id":2`)
		p.answer(1, 1)
		assert.Contains(t, p.Next().Raw, `"id":1`)
	})
}

// Handlers that reserve nothing cannot be made to wait. While their results exceed the
// budget no more of them are started, but those that count for no limit, and all are when
// the peer has read enough.
func TestNoHandlerIsStartedWhileResultsExceedTheBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const n = 100
		var served, prompts atomic.Int64
		_, p, s := startHeld(t, rpc.Config{
			Limits: rpc.Limits{Results: 4 * longResult, StallTimeout: time.Hour},
			Entries: []*rpc.Entry{
				on(mEcho, func(_ context.Context, m *msg) (*msg, error) { served.Add(1); return &msg{Text: longText}, nil }),
				on(mWaits, func(_ context.Context, m *msg) (*msg, error) { prompts.Add(1); return m, nil }),
			},
		})
		for id := range n {
			p.request(id, "t/echo", id)
			synctest.Wait()
		}
		assert.LessOrEqual(t, served.Load(), int64(3), "each counts in memory and encoded")
		p.request(n, "t/waits", 1)
		synctest.Wait()
		assert.EqualValues(t, 1, prompts.Load())
		close(s.gate)
		for range n + 1 {
			assert.Contains(t, p.Next().Raw, `"result"`)
		}
	})
}

// Two ends request long results from each other, from all kinds of handlers, and read late. Both
// get all results.
func TestBothEndsSendLongResultsAndReadLate(t *testing.T) {
	for name, budget := range map[string]*reserve.Budget{"a budget each": nil, "one budget": new(reserve.Budget)} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var conns [2]*rpc.Conn
				var loaded atomic.Int64
				config := func(i int, s stream.Stream) rpc.Config {
					return rpc.Config{
						Stream: &fake{Stream: s, read: func() ([]byte, error) { time.Sleep(20 * time.Second); return s.Read() }}, Results: budget,
						Limits: rpc.Limits{Results: 2 * longResult, MaxHandlers: 2, SendQueue: longResult, Backlog: 1000, StallTimeout: time.Hour},
						Entries: []*rpc.Entry{
							on(mEcho, loader(&loaded)),
							ignore(mOther),
							on(mAsk, func(ctx context.Context, m *msg) (*msg, error) { // asks back first
								if m.N > 0 {
									if _, err := conns[i].Call(ctx, mAsk, &msg{N: m.N - 1}, nil); err != nil {
										return nil, err
									}
								}
								if _, err := conns[i].Call(ctx, mEcho, m, nil); err != nil {
									return nil, err
								}
								return loader(&loaded)(ctx, m)
							}),
							on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
								_, err := conns[i].Call(ctx, mAsk, &msg{N: 2}, nil)
								assert.NoError(t, err)
								return nil, err
							}),
						},
					}
				}
				near, far := stream.Pipe()
				conns[0], conns[1] = startOn(t, config(0, near)), startOn(t, config(1, far))
				var wg sync.WaitGroup
				for _, c := range conns {
					for n := range 12 {
						wg.Go(func() {
							assert.NoError(t, c.Notify(t.Context(), mNote, &msg{}))
							method := []*wire.Method{mEcho, mAsk}[n%2]
							res, err := c.Call(t.Context(), method, &msg{N: n % 4}, nil)
							if assert.NoError(t, err) {
								assert.Len(t, res.(*msg).Text, longResult)
							}
						})
					}
				}
				wg.Wait()
				time.Sleep(24 * time.Hour) // the notification handlers
				synctest.Wait()
				for _, c := range conns {
					require.NoError(t, c.Shutdown(t.Context()))
				}
			})
		})
	}
}
