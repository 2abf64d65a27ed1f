package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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

func TestEndOfInputRespondsToPendingRequests(t *testing.T) {
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
		pending := calling(t.Context(), c, mAsk, &msg{}, nil)
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
		{"obeys its ctx", func(ctx context.Context, _ *msg) (*msg, error) { <-ctx.Done(); return nil, nil }, `{'jsonrpc':'2.0','id':1,'result':{}}`, 5 * time.Second, false},
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

func TestWriteError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		broken := errors.New("broken pipe")
		s := &held{Stream: near, gate: make(chan struct{}), err: broken}
		c := startOn(t, rpc.Config{Stream: s})
		p := newPeer(t, far)
		answered, pending := calling(t.Context(), c, mAsk, &msg{}, nil), calling(t.Context(), c, mAsk, &msg{}, nil)
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

// After its end, all methods of a connection return the same error.
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
				c := newConn(rpc.Config{Stream: s, Logger: slog.New(slog.DiscardHandler), Entries: []*rpc.Entry{on(mEcho, func(context.Context, *msg) (*msg, error) { <-time.After(time.Second); return nil, nil })}})
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

// A connection may end in any way during traffic: every call returns, and no goroutine is left.
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
					conns[0] = newConn(rpc.Config{Stream: s, Entries: entries(0), Logger: (&logs{}).logger()})
					conns[1] = newConn(rpc.Config{Stream: far, Entries: entries(1), Logger: (&logs{}).logger()})
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

// A handler that returns because the connection has ended is not logged as an error.
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

// If the connection was closed before the notifications of a call were handled, the call returns
// its result and an error.
func TestResponseAfterLostNotifications(t *testing.T) {
	for name, m := range map[string]*wire.Method{"stream": mPrompt, "other": mEcho} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				gate := make(chan struct{})
				c, p := start(t, rpc.Config{Entries: []*rpc.Entry{echoAfter(gate, mNote)}})
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

// A handler whose ctx is done tells by Ending whether its request was cancelled or the connection ends.
func TestEndingIsClosedBeforeContextsEnd(t *testing.T) {
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		near, far := stream.Pipe()
		entered, ending := make(chan struct{}), make(chan bool, 1)
		var c *rpc.Conn
		c = newConn(rpc.Config{Stream: near, Entries: []*rpc.Entry{on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
			close(entered)
			<-ctx.Done()
			select {
			case <-c.Ending():
				ending <- true
			default:
				ending <- false
			}
			return m, nil
		})}})
		require.NoError(t, c.Start(ctx))
		newPeer(t, far).request(1, "t/echo", 1)
		<-entered
		cancel()
		require.True(t, <-ending)
		require.ErrorIs(t, c.Wait(), context.Canceled)
	}
}

// A call whose ctx is that of the connection fails because the connection ends.
func TestCallWithTheCtxOfTheConnection(t *testing.T) {
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		near, far := stream.Pipe()
		c := newConn(rpc.Config{Stream: near})
		require.NoError(t, c.Start(ctx))
		p := newPeer(t, far)
		pending := calling(ctx, c, mAsk, &msg{}, nil)
		p.Next()
		cancel()
		err := <-pending
		require.ErrorIs(t, err, wire.ErrClosed)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, c.Wait(), context.Canceled)
	}
}
