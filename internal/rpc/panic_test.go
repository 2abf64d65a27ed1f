package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// rude is an error one of whose methods does not return.
type rude struct {
	in  string // the name of the method
	how func()
}

func (e *rude) act(method string) {
	if e.in == method {
		e.how()
	}
}

func (e *rude) Error() string { e.act("Error"); return "rude" }
func (e *rude) Is(error) bool { e.act("Is"); return false }
func (e *rude) As(any) bool   { e.act("As"); return false }
func (e *rude) Unwrap() error { e.act("Unwrap"); return nil }
func (e *rude) Logged() bool  { e.act("Logged"); return false }
func (e *rude) LogValue() slog.Value {
	e.act("LogValue")
	return slog.StringValue("rude")
}

func (e *rude) RequestError() *rpcerr.RequestError {
	e.act("RequestError")
	return rpcerr.InternalError(e).WithCause(e)
}

func (e *rude) MarshalJSON() ([]byte, error) { e.act("MarshalJSON"); return []byte(`{}`), nil }

// rudeErrors are errors whose methods panic, as those of a nil pointer do that was taken for
// no error, or end the goroutine.
func rudeErrors() map[string]error {
	var path *fs.PathError
	errs := map[string]error{
		"typed nil":          path,
		"wrapped typed nil":  fmt.Errorf("w: %w", path),
		"joined typed nil":   errors.Join(errors.New("a"), path),
		"typed nil of ours":  (*rude)(nil),
		"cause is typed nil": rpcerr.InvalidParams(nil).WithCause(path),
	}
	for how, do := range map[string]func(){"panics": func() { panic("rude") }, "exits": runtime.Goexit} {
		for _, method := range []string{"Error", "Is", "As", "Unwrap", "Logged", "LogValue", "RequestError", "MarshalJSON"} {
			errs[method+" "+how] = &rude{method, do}
			errs[method+" "+how+" below"] = errors.Join(&rude{method, do})
		}
	}
	return errs
}

// An agent returns an error whose methods panic. The peer gets one response to its request,
// and the process and the connection go on, with and without the hooks that look at errors.
func TestErrorsWithRudeMethods(t *testing.T) {
	looks := func(_ context.Context, _ string, err error) error {
		_ = err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for name, rudeErr := range rudeErrors() {
		for _, onError := range []func(context.Context, string, error) error{nil, looks} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					var l logs
					fails := func(context.Context, *msg) (*msg, error) { return nil, rudeErr }
					cancel := ends(rpc.EndsForeground, ignore(mCancel))
					_, p := start(t, rpc.Config{Logger: l.logger(), ExposeErrors: true, OnError: onError, Entries: []*rpc.Entry{
						on(mEcho, fails), on(mNote, fails), cancel,
						ended(on(mPrompt, func(ctx context.Context, _ *msg) (*msg, error) { <-ctx.Done(); return nil, rudeErr })),
						on(mAsk, func(context.Context, *msg) (*msg, error) { return &msg{Text: "alive"}, nil }),
					}})
					p.note(1)
					p.request(1, "t/echo", 1)
					assert.Contains(t, p.Next().Raw, `"id":1,"error":{"code":-32603,"message":"Internal error"`)
					p.Send(`{"jsonrpc":"2.0","id":2,"method":"t/prompt","params":{"sessionId":"s"}}`)
					p.Send(`{"jsonrpc":"2.0","method":"t/cancel","params":{"sessionId":"s"}}`)
					assert.Contains(t, p.Next().Raw, `"id":2,"result":{"text":"cancelled"}`)
					p.request(3, "t/ask", 1)
					assert.Contains(t, p.Next().Raw, "alive")
					assert.Contains(t, l.String(), "t/echo")
				})
			})
		}
	}
}

// A stream, a ctx or a sending middleware returns an error whose methods panic. The methods of the
// error that the user of the connection gets do not.
func TestRudeErrorsThatAreKept(t *testing.T) {
	for name, rudeErr := range rudeErrors() {
		if strings.Contains(name, "Logged") || strings.Contains(name, "LogValue") || strings.Contains(name, "RequestError") || strings.Contains(name, "MarshalJSON") {
			continue // never asked for, and the user's own matter later
		}
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				near, far := stream.Pipe()
				defer far.Close()
				defer near.Close()
				c := newConn(rpc.Config{Stream: &fake{Stream: near, read: func() ([]byte, error) { return nil, rudeErr }}})
				require.NoError(t, c.Start(t.Context()))
				_, err := c.Call(t.Context(), mEcho, &msg{}, nil)
				require.ErrorIs(t, err, wire.ErrClosed)
				assert.ErrorContains(t, c.Wait(), "whose methods fail")

				ctx, cancel := context.WithCancelCause(t.Context())
				near, far = stream.Pipe()
				defer far.Close()
				c = newConn(rpc.Config{Stream: near})
				require.NoError(t, c.Start(ctx))
				cancel(rudeErr)
				assert.ErrorContains(t, c.Wait(), "whose methods fail")

				c, _ = start(t, rpc.Config{Sending: []rpc.Middleware{func(rpc.Handler) rpc.Handler {
					return func(context.Context, string, any) (any, error) { return nil, rudeErr }
				}}})
				_, err = c.Call(t.Context(), mEcho, &msg{}, nil)
				assert.ErrorContains(t, err, "whose methods fail")
				assert.False(t, errors.Is(err, fs.ErrNotExist))
			})
		})
	}
}

// A method Written that blocks or panics does not delay the end of the connection, nor does it end
// the process.
func TestWrittenBlocksOrPanics(t *testing.T) {
	for name, panics := range map[string]bool{"waits": false, "panics": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				near, far := stream.Pipe()
				defer far.Close()
				writing := make(chan struct{}, 1) // a mutex is no durable block in a bubble
				blocked := &held{Stream: near, gate: make(chan struct{})}
				s := &fake{Stream: blocked, write: func(msg []byte) error {
					writing <- struct{}{}
					defer func() { <-writing }()
					return blocked.Write(msg)
				}}
				s.features.Written = func() int64 {
					if panics {
						panic("boom")
					}
					writing <- struct{}{} // until the write ends
					<-writing
					return 0
				}
				c := startOn(t, rpc.Config{Stream: s, Limits: rpc.Limits{SendQueue: 1000}})
				require.NoError(t, c.Notify(t.Context(), mNote, &msg{}))
				synctest.Wait() // the write is stuck
				done := make(chan struct{})
				go func() { // ends with the connection
					defer close(done)
					for c.Notify(context.Background(), mNote, &msg{N: 1}) == nil {
					}
				}()
				synctest.Wait()
				begun := time.Now()
				if panics {
					require.ErrorIs(t, c.Wait(), wire.ErrStalled)
					assert.Equal(t, time.Minute, time.Since(begun))
				}
				c.Close()
				assert.LessOrEqual(t, time.Since(begun), time.Minute+2*time.Second)
				<-done
			})
		})
	}
}

// A panic of a stream ends its connection, not the process.
func TestStreamsThatPanic(t *testing.T) {
	for name, wrap := range map[string]func(s stream.Stream) stream.Stream{
		"features": func(s stream.Stream) stream.Stream { return noFeatures{s} },
		"read": func(s stream.Stream) stream.Stream {
			return &fake{Stream: s, read: func() ([]byte, error) { panic("boom") }}
		},
		"write": func(s stream.Stream) stream.Stream {
			return &fake{Stream: s, write: func(msg []byte) error { panic(&msg) }}
		},
		"close": func(s stream.Stream) stream.Stream {
			return &fake{Stream: s, close: func() error { s.Close(); panic("boom") }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				near, far := stream.Pipe()
				defer near.Close()
				defer far.Close()
				var l logs
				c := newConn(rpc.Config{Stream: wrap(near), Logger: l.logger()})
				require.NoError(t, c.Start(t.Context()))
				called := calling(t.Context(), c, mEcho, &msg{Text: "secret"}, nil)
				synctest.Wait()
				c.Close()
				assert.ErrorIs(t, <-called, wire.ErrClosed)
				err := c.Wait()
				if name == "read" || name == "write" {
					assert.ErrorContains(t, err, "panic: ")
				}
				assert.Contains(t, l.String(), "panic in the stream")
				assert.NotContains(t, l.String(), "secret")
			})
		})
	}
}

// noFeatures is a stream whose Features panics.
type noFeatures struct{ stream.Stream }

func (noFeatures) Features() *stream.Features { panic("boom") }
