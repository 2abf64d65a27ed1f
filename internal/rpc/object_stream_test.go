package rpc

// White box: what the library remembers has no face of its own but memory.

import (
	"encoding/json"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/stream"
)

// heard is what the library reads.
type heard struct{ ID uint64 }

func (h *heard) UnmarshalJSON(b []byte) error {
	var v struct{ ID uint64 }
	err := json.Unmarshal(b, &v)
	h.ID = v.ID
	return err
}

// The library hears later than the caller that a call is over. A program whose calls are
// quicker than the library must not fill its memory with them.
func TestCallsWaitForTheLibrary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newObjectStream(nil)
		for id := range uint64(mostOver) {
			s.await()
			s.over(id)
		}
		const callers = mostOver + 100
		var went atomic.Int64
		for range callers {
			go func() { // ends with the stream at the latest
				s.await()
				went.Add(1)
			}()
		}
		synctest.Wait()
		assert.Zero(t, went.Load(), "the library remembers %d calls", mostOver)
		for i := range 3 {
			var h heard
			require.NoError(t, s.ReadObject(&h))
			assert.EqualValues(t, i, h.ID)
			synctest.Wait()
			assert.EqualValues(t, i+1, went.Load())
			s.over(uint64(mostOver + i)) // the call of the caller that went on
			synctest.Wait()
			assert.EqualValues(t, i+1, went.Load())
		}
		for range mostOver - 3 {
			require.NoError(t, s.ReadObject(new(heard)))
		}
		synctest.Wait()
		assert.Less(t, went.Load(), int64(callers))
		go func() { assert.Equal(t, io.EOF, s.ReadObject(new(heard))) }() // ends with Close
		synctest.Wait()
		assert.EqualValues(t, callers, went.Load(), "few of the callers have made a call")
		require.NoError(t, s.Close())
	})
}

func TestNobodyWaitsForTheLibraryOfAClosedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newObjectStream(nil)
		for id := range uint64(mostOver) {
			s.over(id)
		}
		went := false
		go func() { // ends with Close
			s.await()
			went = true
		}()
		synctest.Wait()
		assert.False(t, went)
		require.NoError(t, s.Close())
		synctest.Wait()
		assert.True(t, went)
		s.await()
	})
}

// deaf is what the library reads from in the next test: nothing.
type deaf struct {
	*objectStream
	ended chan struct{}
}

func (d deaf) ReadObject(any) error { <-d.ended; return io.EOF }

func (d deaf) Close() error { close(d.ended); return nil }

func TestDispatchWaitsForTheLibrary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := stream.Pipe()
		out := outbox.New(outbox.Config{Stream: near, Queue: 1 << 20, Reserve: 1 << 20, StallTimeout: time.Minute})
		s := newObjectStream(out)
		d := deaf{s, make(chan struct{})}
		lib := jsonrpc2.NewConn(t.Context(), d, noHandler{}, jsonrpc2.SetLogger(quiet{}))
		f := outbox.NewFrame()
		f.Data, f.Call = append(f.Data, "a call"...), mostOver+1
		require.True(t, out.TryReserve(f))
		for id := range uint64(mostOver) {
			s.over(id)
		}
		sent := make(chan error, 1)
		go func() { sent <- s.dispatch(t.Context(), lib, "m", f) }() // ends when the library has heard of one
		synctest.Wait()
		assert.Empty(t, sent)
		require.NoError(t, s.ReadObject(new(heard)))
		require.NoError(t, <-sent)
		got, err := far.Read()
		require.NoError(t, err)
		assert.Equal(t, "a call", string(got))
		require.NoError(t, lib.Close())
		out.Close(io.EOF)
		out.Abandon()
	})
}
