package rpc_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// panicking is a stream that panics in the methods whose fields are set.
type panicking struct {
	stream.Stream
	features, read, write, close bool
}

func (r *panicking) Features() *stream.Features {
	if r.features {
		panic("boom")
	}
	return nil
}

// waiting is a stream whose Written waits for a Write, which never ends by itself, or
// panics.
type waiting struct {
	*held
	turn  chan struct{} // whose turn it is
	panic bool
}

func (s *waiting) Write(b []byte) error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	return s.held.Write(b)
}

func (s *waiting) Features() *stream.Features { return &stream.Features{Written: s.written} }

func (s *waiting) written() int64 {
	if s.panic {
		panic("boom")
	}
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	return 0
}

// A stream that does not know how much it has written does not hold up the end of the
// connection, nor does it end the process.
func TestStreamsThatMeasureBadly(t *testing.T) {
	for name, panics := range map[string]bool{"waits": false, "panics": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				near, far := stream.Pipe()
				defer far.Close()
				s := &waiting{&held{Stream: near, gate: make(chan struct{})}, make(chan struct{}, 1), panics}
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

func (r *panicking) Read() ([]byte, error) {
	if r.read {
		panic("boom")
	}
	return r.Stream.Read()
}

func (r *panicking) Write(msg []byte) error {
	if r.write {
		panic(&msg)
	}
	return r.Stream.Write(msg)
}

func (r *panicking) Close() error {
	r.Stream.Close()
	if r.close {
		panic("boom")
	}
	return nil
}

// A stream that panics ends its connection and not the process.
func TestStreamsThatPanic(t *testing.T) {
	for name, r := range map[string]*panicking{"features": {features: true}, "read": {read: true}, "write": {write: true}, "close": {close: true}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				near, far := stream.Pipe()
				defer far.Close()
				r.Stream = near
				var l logs
				c := rpc.New(rpc.Config{Stream: r, Logger: l.logger()})
				require.NoError(t, c.Start(t.Context()))
				called := make(chan error, 1)
				go func() { // ends with the connection
					_, err := c.Call(t.Context(), mEcho, &msg{Text: "secret"}, nil)
					called <- err
				}()
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
