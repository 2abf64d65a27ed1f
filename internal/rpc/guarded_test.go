package rpc_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// rigged is a stream that panics where it is told to.
type rigged struct {
	stream.Stream
	read, write, close bool
}

func (r *rigged) Read() ([]byte, error) {
	if r.read {
		panic("boom")
	}
	return r.Stream.Read()
}

func (r *rigged) Write(msg []byte) error {
	if r.write {
		panic(&msg)
	}
	return r.Stream.Write(msg)
}

func (r *rigged) Close() error {
	r.Stream.Close()
	if r.close {
		panic("boom")
	}
	return nil
}

// A stream that panics ends its connection and not the process.
func TestStreamsThatPanic(t *testing.T) {
	for name, r := range map[string]*rigged{"read": {read: true}, "write": {write: true}, "close": {close: true}} {
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
				if name != "close" {
					assert.ErrorContains(t, err, "panic: ")
				}
				assert.Contains(t, l.String(), "panic in the stream")
				assert.NotContains(t, l.String(), "secret")
			})
		})
	}
}
