package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
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

// calling starts a call and returns where its error goes.
func calling(c *rpc.Conn, m *wire.Method, opts *rpc.CallOptions) chan error {
	done := make(chan error, 1)
	go func() { // ends with the call
		_, err := c.Call(context.Background(), m, &msg{}, opts)
		done <- err
	}()
	return done
}

func TestEndOfInputAnswersWhatWasAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		near, far := stream.Pipe()
		s := &halfOpen{Stream: near, eof: make(chan struct{})}
		c := startOn(t, rpc.Config{Stream: s, Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				time.Sleep(4 * time.Second)
				assert.NoError(t, ctx.Err())
				return m, nil
			}),
			on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
				time.Sleep(time.Second)
				ev.add("note %d", m.N)
				return nil, nil
			}),
		}})
		p := newPeer(t, far)
		begun := time.Now()
		pending := calling(c, mAsk, nil)
		p.Next()
		p.request(1, "t/echo", 1)
		p.note(1)
		p.note(2)
		synctest.Wait()
		close(s.eof)
		synctest.Wait()
		_, err := c.Call(t.Context(), mAsk, &msg{}, nil)
		require.ErrorIs(t, err, wire.ErrClosed, "new calls fail at once")
		require.ErrorIs(t, err, io.EOF)
		require.ErrorIs(t, <-pending, wire.ErrClosed)
		ev.add("call")
		assert.Equal(t, []string{"note 1", "note 2", "call"}, ev.list())
		assert.Equal(t, 2*time.Second, time.Since(begun))
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'n':1}}`)
		require.NoError(t, c.Wait())
		assert.Equal(t, 4*time.Second, time.Since(begun))
		p.ExpectEnd()
		require.ErrorIs(t, c.Err(), wire.ErrClosed)
	})
}

// halfOpen is a stream whose reading side can end alone.
type halfOpen struct {
	stream.Stream
	eof  chan struct{}
	once sync.Once
	msgs chan []byte
	err  error // in place of io.EOF
}

func (s *halfOpen) Read() ([]byte, error) {
	s.once.Do(func() {
		s.msgs = make(chan []byte)
		go func() { // ends with the stream
			for {
				b, err := s.Stream.Read()
				if err != nil {
					close(s.msgs)
					return
				}
				s.msgs <- b
			}
		}()
	})
	select {
	case b, ok := <-s.msgs:
		if ok {
			return b, nil
		}
		return nil, io.EOF
	case <-s.eof:
		select {
		case b, ok := <-s.msgs:
			if ok {
				return b, nil
			}
		default:
		}
		if s.err != nil {
			return nil, s.err
		}
		return nil, io.EOF
	}
}

func TestHandlersAtEndOfInput(t *testing.T) {
	tests := []struct {
		name   string
		handle handle
		answer string
		took   time.Duration
		stuck  bool
	}{
		{"obeys its ctx", untilDone(func(context.Context) error { return nil }), `{'jsonrpc':'2.0','id':1,'result':{}}`, 5 * time.Second, false},
		{"is slow to obey", func(ctx context.Context, _ *msg) (*msg, error) {
			<-ctx.Done()
			time.Sleep(4 * time.Second)
			return nil, nil
		}, `{'jsonrpc':'2.0','id':1,'result':{}}`, 9 * time.Second, false},
		{"ignores its ctx", func(context.Context, *msg) (*msg, error) { time.Sleep(time.Hour); return nil, nil }, "", 10 * time.Second, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				near, far := stream.Pipe()
				s := &halfOpen{Stream: near, eof: make(chan struct{})}
				c := startOn(t, rpc.Config{Stream: s, Entries: []*rpc.Entry{on(mEcho, tt.handle)}})
				p := newPeer(t, far)
				p.request(1, "t/echo", 1)
				synctest.Wait()
				begun := time.Now()
				close(s.eof)
				err := c.Wait()
				assert.Equal(t, tt.took, time.Since(begun))
				if tt.stuck {
					require.ErrorIs(t, err, wire.ErrHandlerStuck)
					assert.ErrorContains(t, err, "t/echo")
					time.Sleep(time.Hour)
				} else {
					require.NoError(t, err)
					p.ExpectJSON(tt.answer)
				}
				p.ExpectEnd()
			})
		})
	}
}

func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ended := make(chan error, 1)
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return m, nil
			}),
		}})
		pending := calling(c, mAsk, nil)
		p.Next()
		p.request(1, "t/echo", 1)
		synctest.Wait()
		for range 50 {
			require.NoError(t, c.Notify(t.Context(), mNote, &msg{N: 1}))
		}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { assert.NoError(t, c.Close()) })
		}
		wg.Wait()
		require.ErrorIs(t, <-pending, wire.ErrClosed)
		require.ErrorIs(t, <-ended, wire.ErrClosed)
		require.NoError(t, c.Wait())
		require.NoError(t, c.Close())
		for range 50 {
			assert.Contains(t, p.Next().Raw, "t/note", "what was accepted is written")
		}
		_, err := c.Call(t.Context(), mAsk, &msg{}, nil)
		require.ErrorIs(t, err, wire.ErrClosed)
		require.ErrorIs(t, c.Notify(t.Context(), mNote, &msg{}), wire.ErrClosed)
		require.ErrorIs(t, c.Start(t.Context()), wire.ErrClosed)
		<-c.Done()
	})
}

func TestCloseInHandlers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mNote, func(_ context.Context, m *msg) (*msg, error) {
				ev.add("note %d", m.N)
				return nil, c.Close()
			}),
		}})
		// All at once, because the first one closes.
		const line = `{"jsonrpc":"2.0","method":"t/note","params":{"n":1}}`
		p.SendBatch(line, line, line)
		require.NoError(t, c.Wait())
		assert.Len(t, ev.list(), 1)
	})
	bubble(t, func(t *testing.T) {
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) { return nil, c.Close() }),
		}})
		p.request(1, "t/echo", 1)
		require.NoError(t, c.Wait())
	})
}

func TestFlushGrace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, _ := stream.Pipe()
		s := &held{Stream: near, gate: make(chan struct{})}
		c := startOn(t, rpc.Config{Stream: s})
		require.NoError(t, c.Notify(t.Context(), mNote, &msg{N: 1}))
		begun := time.Now()
		require.NoError(t, c.Close())
		assert.Equal(t, 2*time.Second, time.Since(begun))
		require.NoError(t, c.Wait())
	})
}

// An answer that was read reaches its caller, even behind a handler that hangs.
func TestCloseKeepsAnswersThatWereRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mNote, func(context.Context, *msg) (*msg, error) { time.Sleep(3 * time.Second); return nil, nil }),
		}})
		at := make(chan error, 2)
		answered := calling(c, mAsk, &rpc.CallOptions{AtResponse: func(err error) { at <- err }})
		p.Next()
		pending := calling(c, mEcho, nil)
		p.Next()
		p.note(1)
		p.answer(1, 1)
		synctest.Wait()
		begun := time.Now()
		require.NoError(t, c.Close())
		require.NoError(t, <-answered)
		require.NoError(t, <-at)
		require.ErrorIs(t, <-pending, wire.ErrClosed)
		assert.Zero(t, time.Since(begun))
		require.NoError(t, c.Wait())
		assert.Empty(t, at)
	})
}

func TestAnswerJustBeforeTheEnd(t *testing.T) {
	for _, bad := range []error{nil, errors.New("reset")} {
		bubble(t, func(t *testing.T) {
			near, far := stream.Pipe()
			s := &halfOpen{Stream: near, eof: make(chan struct{}), err: bad}
			c := startOn(t, rpc.Config{Stream: s, Entries: []*rpc.Entry{
				on(mNote, func(context.Context, *msg) (*msg, error) { time.Sleep(time.Second); return nil, nil }),
			}})
			p := newPeer(t, far)
			answered, pending := calling(c, mAsk, nil), calling(c, mAsk, nil)
			p.Next()
			p.Next()
			p.note(1)
			p.answer(1, 1)
			synctest.Wait()
			close(s.eof)
			a, b := <-answered, <-pending
			if a != nil {
				a, b = b, a
			}
			require.NoError(t, a)
			require.ErrorIs(t, b, wire.ErrClosed)
			if bad != nil {
				require.ErrorIs(t, b, bad)
				require.ErrorIs(t, c.Wait(), bad)
			} else {
				require.NoError(t, c.Wait())
			}
		})
	}
}

func TestWriteError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		broken := errors.New("broken pipe")
		s := &held{Stream: near, gate: make(chan struct{}), err: broken}
		c := startOn(t, rpc.Config{Stream: s})
		p := newPeer(t, far)
		answered, pending := calling(c, mAsk, nil), calling(c, mAsk, nil)
		synctest.Wait()
		close(s.gate)
		time.Sleep(100 * time.Millisecond)
		p.answer(1, 1) // the peer answered something before it died
		a, b := <-answered, <-pending
		if a != nil {
			a, b = b, a
		}
		require.NoError(t, a)
		require.ErrorIs(t, b, wire.ErrClosed)
		require.ErrorIs(t, b, broken)
		err := c.Wait()
		require.ErrorIs(t, err, broken)
		require.ErrorIs(t, err, wire.ErrClosed)
		require.ErrorIs(t, c.Notify(t.Context(), mNote, &msg{}), broken)
	})
}

func TestContextOfStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, _ := stream.Pipe()
		c := rpc.New(rpc.Config{Stream: near})
		ctx, cancel := context.WithCancelCause(t.Context())
		require.NoError(t, c.Start(ctx))
		require.ErrorContains(t, c.Start(ctx), "already started")
		pending := calling(c, mAsk, nil)
		synctest.Wait()
		why := errors.New("why")
		cancel(why)
		require.ErrorIs(t, <-pending, wire.ErrClosed)
		require.Equal(t, why, c.Wait())
	})
}

func TestStuckHandlers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		hang := func(context.Context, *msg) (*msg, error) { <-gate; return nil, nil }
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{on(mNote, hang), on(mEcho, hang), on(mAsk, hang)}})
		p.request(1, "t/ask", 1)
		p.request(2, "t/echo", 1)
		p.request(3, "t/echo", 1)
		p.note(1)
		synctest.Wait()
		begun := time.Now()
		require.NoError(t, c.Close())
		assert.Zero(t, time.Since(begun))
		err := c.Wait()
		assert.Equal(t, 5*time.Second, time.Since(begun))
		require.ErrorIs(t, err, wire.ErrHandlerStuck)
		require.EqualError(t, err, "acp: handler did not return: t/ask, t/echo, t/note")
		close(gate)
	})
}

func TestShutdown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				time.Sleep(time.Second)
				_, err := c.Call(ctx, mAsk, m, nil) // still allowed
				return m, err
			}),
		}})
		pending := calling(c, mAsk, nil)
		p.Next()
		p.request(1, "t/echo", 1)
		synctest.Wait()
		down := make(chan error, 1)
		go func() { down <- c.Shutdown(context.Background()) }() // ends with the connection
		synctest.Wait()
		p.request(2, "t/echo", 2)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':2,'error':{'code':-32603,'message':'Internal error: connection is shutting down'}}`)
		_, err := c.Call(t.Context(), mAsk, &msg{}, nil)
		require.ErrorIs(t, err, wire.ErrClosed)
		p.Next()
		p.answer(2, 1)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'n':1}}`)
		time.Sleep(time.Minute)
		assert.Empty(t, down, "a call of ours is not over")
		p.answer(1, 1)
		require.NoError(t, <-pending)
		require.NoError(t, <-down)
		p.ExpectEnd()
	})
	bubble(t, func(t *testing.T) {
		c, p := start(t, rpc.Config{})
		pending := calling(c, mAsk, nil)
		p.Next()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Equal(t, context.DeadlineExceeded, c.Shutdown(ctx))
		require.ErrorIs(t, <-pending, wire.ErrClosed)
	})
}

// Whatever is asked of a connection that has ended, the answer is the same.
func TestOneErrorAfterTheEnd(t *testing.T) {
	for name, end := range map[string]func(*rpc.Conn, peer, *held, context.CancelCauseFunc){
		"Close":        func(c *rpc.Conn, _ peer, _ *held, _ context.CancelCauseFunc) { c.Close() },
		"Shutdown":     func(c *rpc.Conn, _ peer, _ *held, _ context.CancelCauseFunc) { _ = c.Shutdown(t.Context()) },
		"ctx":          func(_ *rpc.Conn, _ peer, _ *held, cancel context.CancelCauseFunc) { cancel(errors.New("enough")) },
		"end of input": func(_ *rpc.Conn, p peer, _ *held, _ context.CancelCauseFunc) { p.Close() },
		"write error": func(c *rpc.Conn, _ peer, s *held, _ context.CancelCauseFunc) {
			s.fail(errors.New("broken"))
			_ = c.Notify(t.Context(), mNote, &msg{})
		},
		"write error behind end of input": func(_ *rpc.Conn, p peer, s *held, _ context.CancelCauseFunc) {
			s.fail(errors.New("broken"))
			p.request(1, "t/echo", 1)
			p.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				near, far := stream.Pipe()
				s := &held{Stream: near, gate: make(chan struct{})}
				close(s.gate)
				c := rpc.New(rpc.Config{Stream: s, Logger: slog.New(slog.DiscardHandler), Entries: []*rpc.Entry{
					on(mEcho, func(context.Context, *msg) (*msg, error) { <-time.After(time.Second); return nil, nil }),
				}})
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				require.NoError(t, c.Start(ctx))
				synctest.Wait()
				end(c, newPeer(t, far), s, cancel)
				_ = c.Wait()
				want := c.Err()
				require.ErrorIs(t, want, wire.ErrClosed)
				_, call := c.Call(t.Context(), mEcho, &msg{}, nil)
				_, extension := c.CallExtension(t.Context(), "_x", nil)
				for what, err := range map[string]error{
					"Call": call, "CallExtension": extension, "Start": c.Start(t.Context()),
					"Notify": c.Notify(t.Context(), mNote, &msg{}), "NotifyExtension": c.NotifyExtension(t.Context(), "_x", nil),
				} {
					assert.EqualError(t, err, want.Error(), what)
				}
				far.Close()
			})
		})
	}
}

// A connection that is closed while it starts does not stay in memory as long as the ctx.
func TestCloseDuringStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, _ := stream.Pipe()
		c := rpc.New(rpc.Config{Stream: near})
		ctx := &hooked{Context: t.Context(), hook: func() { c.Close() }}
		require.NoError(t, c.Start(ctx))
		require.NoError(t, c.Wait())
		assert.Zero(t, ctx.waiting)
	})
}

// hooked is a ctx that counts what waits for its end, and calls hook when the second
// begins to.
type hooked struct {
	context.Context
	hook             func()
	waiting, waiters int
}

func (h *hooked) Done() <-chan struct{} { return make(chan struct{}) }

func (h *hooked) AfterFunc(func()) (stop func() bool) {
	h.waiting++
	if h.waiters++; h.waiters == 2 {
		h.hook()
	}
	return func() bool { h.waiting--; return true }
}

func TestBeforeStart(t *testing.T) {
	near, far := stream.Pipe()
	c := rpc.New(rpc.Config{Stream: near})
	_, err := c.Call(t.Context(), mAsk, &msg{}, nil)
	require.ErrorContains(t, err, "not started")
	require.ErrorContains(t, c.Notify(t.Context(), mNote, &msg{}), "not started")
	require.ErrorContains(t, c.Wait(), "not started")
	require.ErrorContains(t, c.Shutdown(t.Context()), "not started")
	require.NoError(t, c.Err())
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	require.NoError(t, c.Wait())
	require.ErrorIs(t, c.Start(t.Context()), wire.ErrClosed)
	_, err = far.Read()
	require.ErrorIs(t, err, io.EOF)

	wrong := errors.New("wrong")
	c = rpc.New(rpc.Config{Err: wrong})
	at := error(nil)
	_, err = c.Call(t.Context(), mAsk, &msg{}, &rpc.CallOptions{AtResponse: func(err error) { at = err }})
	require.Equal(t, wrong, err)
	require.Equal(t, wrong, at)
	require.Equal(t, wrong, c.Start(t.Context()))
	require.Equal(t, wrong, c.Run(t.Context()))
	require.NoError(t, c.Close())
	require.Error(t, rpc.New(rpc.Config{}).Run(t.Context()))
}

// A Conn can be handed out before it is configured: it refuses all but Done.
func TestBeforeConfigure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := new(rpc.Conn)
		done := c.Done()
		_, err := c.Call(t.Context(), mAsk, &msg{}, nil)
		at := make(chan error, 1)
		_, same := c.Call(t.Context(), mAsk, &msg{}, &rpc.CallOptions{AtResponse: func(err error) { at <- err }})
		_, raw := c.CallExtension(t.Context(), "_x", nil)
		for _, err := range []error{
			err, same, <-at, raw, c.Notify(t.Context(), mNote, &msg{}), c.NotifyExtension(t.Context(), "_x", nil),
			c.Start(t.Context()), c.Run(t.Context()), c.Wait(), c.Shutdown(t.Context()),
		} {
			require.ErrorContains(t, err, "not ready")
		}
		require.NoError(t, c.Err())
		require.NoError(t, c.Close())
		assert.False(t, c.Started())
		near, _ := stream.Pipe()
		c.Configure(rpc.Config{Stream: near})
		require.NoError(t, c.Start(t.Context()))
		assert.True(t, c.Started())
		require.NoError(t, c.Close())
		<-done
		require.NoError(t, c.Wait())
	})
}

// An idle connection is small.
func TestIdleCost(t *testing.T) {
	const n = 200
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	g := runtime.NumGoroutine()
	conns := make([]*rpc.Conn, 2*n)
	for i := 0; i < 2*n; i += 2 {
		a, b := both(t, rpc.Config{Entries: []*rpc.Entry{on(mEcho, func(_ context.Context, m *msg) (*msg, error) { return m, nil })}}, rpc.Config{})
		_, err := b.Call(t.Context(), mEcho, &msg{}, nil)
		require.NoError(t, err)
		conns[i], conns[i+1] = a, b
	}
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / (2 * n)
	t.Logf("%d bytes and %.1f goroutines each", each, float64(runtime.NumGoroutine()-g)/(2*n))
	assert.Less(t, each, int64(32<<10))
	assert.LessOrEqual(t, runtime.NumGoroutine()-g, 4*2*n)
	runtime.KeepAlive(conns)
}

// Ends of every kind in the middle of traffic: every call returns, nothing is
// left behind.
func TestEndsUnderLoad(t *testing.T) {
	ways := map[string]func(a *rpc.Conn, cancel func(), s *held){
		"close":  func(a *rpc.Conn, _ func(), _ *held) { _ = a.Close() },
		"cancel": func(_ *rpc.Conn, cancel func(), _ *held) { cancel() },
		"write":  func(_ *rpc.Conn, _ func(), s *held) { s.fail(errors.New("broken pipe")) },
	}
	for name, end := range ways {
		t.Run(name, func(t *testing.T) {
			for i := range 20 {
				bubble(t, func(t *testing.T) {
					near, far := stream.Pipe()
					gate := make(chan struct{})
					close(gate)
					s := &held{Stream: near, gate: gate}
					var conns [2]*rpc.Conn
					var calls, returned atomic.Int64
					entries := func(i int) []*rpc.Entry {
						return []*rpc.Entry{
							on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
								_, err := conns[i].Call(ctx, mEcho, m, nil)
								return nil, err
							}),
							on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
								if m.N > 0 {
									time.Sleep(time.Duration(m.N) * time.Millisecond)
									_ = conns[i].Notify(ctx, mNote, &msg{N: m.N - 1})
									_, err := conns[i].Call(ctx, mEcho, &msg{N: m.N - 1}, nil)
									return m, err
								}
								return m, nil
							}),
						}
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					conns[0] = rpc.New(rpc.Config{Stream: s, Entries: entries(0), Logger: (&logs{}).logger()})
					conns[1] = rpc.New(rpc.Config{Stream: far, Entries: entries(1), Logger: (&logs{}).logger()})
					require.NoError(t, conns[0].Start(ctx))
					require.NoError(t, conns[1].Start(t.Context()))
					for n := range 40 {
						c := conns[n%2]
						calls.Add(1)
						go func() { // ends with the call
							_, err := c.Call(context.Background(), mEcho, &msg{N: n % 7}, &rpc.CallOptions{AtResponse: func(error) { returned.Add(1) }})
							if err != nil && !errors.Is(err, wire.ErrClosed) && !strings.Contains(err.Error(), "-32") {
								t.Error(err)
							}
							returned.Add(1)
						}()
					}
					time.Sleep(time.Duration(i) * time.Millisecond)
					end(conns[0], cancel, s)
					_ = conns[0].Wait()
					if err := conns[1].Wait(); err != nil { // it may have been writing
						require.ErrorIs(t, err, wire.ErrClosed)
					}
					synctest.Wait()
					assert.Equal(t, 2*calls.Load(), returned.Load())
				})
			}
		})
	}
}

// A handler that returns because the peer has left has made no mistake.
func TestHandlersThatEndWithTheConnectionAreNoErrors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l logs
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Logger: l.logger(), Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, _ *msg) (*msg, error) { <-ctx.Done(); return nil, ctx.Err() }),
			on(mAsk, func(ctx context.Context, m *msg) (*msg, error) {
				_, err := c.Call(ctx, mEcho, m, nil)
				return nil, fmt.Errorf("asking: %w", err)
			}),
			on(mNote, func(ctx context.Context, _ *msg) (*msg, error) { <-ctx.Done(); return nil, context.Cause(ctx) }),
		}})
		p.request(1, "t/ask", 1)
		p.request(2, "t/echo", 1)
		p.note(1)
		p.Next()
		p.Close()
		require.NoError(t, c.Wait())
		assert.NotContains(t, l.String(), "level=ERROR")
	})
}

// Wait waits for code of the user that runs on its own, and names what does not end.
func TestTrackedWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var long func()
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				time.AfterFunc(time.Second, rpc.Linger(ctx))
				return m, nil
			}),
			on(mAsk, func(ctx context.Context, m *msg) (*msg, error) { long = rpc.Linger(ctx); return m, nil }),
		}})
		p.request(1, "t/echo", 1)
		p.Next()
		p.request(2, "t/ask", 1)
		p.Next()
		require.NoError(t, c.Close())
		err := c.Wait()
		require.ErrorIs(t, err, wire.ErrHandlerStuck)
		assert.EqualError(t, err, wire.ErrHandlerStuck.Error()+": t/ask")
		long()
		long()
	})
}

// The result of a call whose notifications were lost, because the connection was closed,
// comes with the reason.
func TestResponseAfterLostNotifications(t *testing.T) {
	for name, m := range map[string]*wire.Method{"stream": mPrompt, "other": mEcho} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				gate := make(chan struct{})
				c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
					on(mNote, func(context.Context, *msg) (*msg, error) { <-gate; return nil, nil }),
				}})
				type outcome struct {
					res any
					err error
				}
				done := make(chan outcome, 1)
				atResponse := make(chan error, 1)
				go func() { // ends with the connection
					res, err := c.Call(t.Context(), m, &msg{}, &rpc.CallOptions{AtResponse: func(err error) { atResponse <- err }})
					done <- outcome{res, err}
				}()
				p.Next()
				p.note(1)
				p.note(2)
				p.answer(1, 7)
				synctest.Wait()
				require.NoError(t, c.Close())
				got := <-done
				assert.Equal(t, &msg{N: 7}, got.res)
				if name == "stream" {
					require.ErrorIs(t, got.err, wire.ErrClosed)
					require.ErrorIs(t, <-atResponse, wire.ErrClosed)
				} else {
					require.NoError(t, got.err)
					require.NoError(t, <-atResponse)
				}
				close(gate)
			})
		})
	}
}
