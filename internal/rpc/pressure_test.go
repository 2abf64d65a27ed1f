package rpc_test

import (
	"context"
	"runtime"
	"strings"
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

// counted tells how many messages were read from a stream.
type counted struct {
	stream.Stream
	read atomic.Int64
}

func (s *counted) Read() ([]byte, error) {
	b, err := s.Stream.Read()
	if err == nil {
		s.read.Add(1)
	}
	return b, err
}

func (s *counted) Features() *stream.Features { return stream.FeaturesOf(s.Stream) }

func startCounted(t *testing.T, cfg rpc.Config) (*rpc.Conn, peer, *counted) {
	t.Helper()
	near, far := stream.Pipe()
	s := &counted{Stream: near}
	cfg.Stream = s
	return startOn(t, cfg), newPeer(t, far), s
}

func TestReaderPausesWhenTooMuchWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var handled atomic.Int64
		_, p, s := startCounted(t, rpc.Config{Limits: rpc.Limits{Backlog: 10_000}, Entries: []*rpc.Entry{
			on(mNote, func(context.Context, *msg) (*msg, error) {
				time.Sleep(time.Millisecond)
				handled.Add(1)
				return nil, nil
			}),
			echo(mEcho),
		}})
		go func() { // ends when all were written
			p.bigNotes(1000)
			p.request(1, "t/echo", 1)
		}()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.InDelta(t, handled.Load(), s.read.Load(), 12)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'n':1}}`)
		assert.EqualValues(t, 1000, handled.Load())
	})
}

func TestReaderDoesNotPauseForHandlersThatWaitForThePeer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var c *rpc.Conn
		c, p, s := startCounted(t, rpc.Config{Limits: rpc.Limits{Backlog: 10_000}, Entries: []*rpc.Entry{
			on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
				_, err := c.Call(ctx, mPrompt, &msg{}, nil)
				return nil, err
			}),
		}})
		p.bigNotes(100)
		synctest.Wait()
		assert.EqualValues(t, 100, s.read.Load())
		for id := range 100 {
			p.Next()
			p.answer(id+1, 1)
		}
	})
}

func TestReaderDoesNotPauseWhileACallWaits(t *testing.T) {
	for _, m := range []*wire.Method{mEcho, mPrompt} {
		bubble(t, func(t *testing.T) {
			gate := make(chan struct{})
			c, p, s := startCounted(t, rpc.Config{Limits: rpc.Limits{Backlog: 10_000}, Entries: []*rpc.Entry{echoAfter(gate, mNote)}})
			done := calling(t.Context(), c, m, &msg{}, nil)
			p.Next()
			p.bigNotes(50)
			synctest.Wait()
			if m == mPrompt {
				assert.Less(t, s.read.Load(), int64(20))
			} else {
				assert.EqualValues(t, 50, s.read.Load())
			}
			close(gate)
			p.answer(1, 1)
			require.NoError(t, <-done)
		})
	}
}

func TestHeldUpdatesCount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var c *rpc.Conn
		var size atomic.Int64
		c, p, s := startCounted(t, rpc.Config{Limits: rpc.Limits{Backlog: 10_000}, Entries: []*rpc.Entry{
			on(mNote, func(ctx context.Context, _ *msg) (*msg, error) {
				size.Store(rpc.MessageSize(ctx))
				c.Hold(size.Load())
				return nil, nil
			}),
		}})
		go p.bigNotes(50) // ends when all were written
		synctest.Wait()
		read := s.read.Load()
		assert.Less(t, read, int64(20))
		c.Release(size.Load() * 5)
		synctest.Wait()
		assert.InDelta(t, read+5, s.read.Load(), 1) // the one in its handler counts for nothing
		c.Release(1 << 20)
		synctest.Wait()
		assert.EqualValues(t, 50, s.read.Load())
	})
}

// Waiting messages take little more memory than the budget, even if they are small.
func TestMemoryOfTheBacklog(t *testing.T) {
	const budget = 8 << 20
	for _, size := range []int{0, 200, 5000} {
		bubble(t, func(t *testing.T) {
			gate := make(chan struct{})
			_, p := start(t, rpc.Config{Limits: rpc.Limits{Backlog: budget}, Entries: []*rpc.Entry{echoAfter(gate, mNote)}})
			note := []byte(`{"jsonrpc":"2.0","method":"t/note","params":{"text":"` + strings.Repeat("x", size) + `"}}`)
			before := live()
			go func() { // ends with the connection
				for p.Write(note) == nil {
				}
			}()
			synctest.Wait()
			grown := live() - before
			t.Logf("messages of %d bytes: %.2f budgets", len(note), float64(grown)/budget)
			assert.Less(t, grown, int64(budget+budget/5+1<<20)) // a pipe holds a little too
			close(gate)
			p.Close()
		})
	}
}

// The response to an abandoned call is freed, however long a handler delays its place in
// the order.
func TestMemoryOfAbandonedResponses(t *testing.T) {
	const size, calls = 1 << 20, 20
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{echoAfter(gate, mNote)}})
		p.note(1)
		before := live()
		for id := range calls {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			go func() { // ends at once
				p.Next()
				p.Send(`{'jsonrpc':'2.0','id':%d,'result':{'text':'%s'}}`, id+1, strings.Repeat("x", size))
			}()
			_, err := c.Call(ctx, mEcho, &msg{}, nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
		}
		assert.Less(t, live()-before, int64(calls*size/2))
		close(gate)
		p.Close()
	})
}

// live returns the bytes of the heap that are in use.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// If MaxBacklog is less than Backlog, it replaces Backlog.
func TestMaxBacklogBelowBacklog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		_, p, s := startCounted(t, rpc.Config{Limits: rpc.Limits{MaxBacklog: 10_000}, Entries: []*rpc.Entry{echoAfter(gate, mNote)}})
		go p.bigNotes(100) // ends when all were written
		synctest.Wait()
		assert.Less(t, s.read.Load(), int64(20))
		close(gate)
		synctest.Wait()
		assert.EqualValues(t, 100, s.read.Load())
	})
}

// A reader that has paused goes on when the queue is empty, although little of the budget
// is free.
func TestReaderGoesOnWithAnEmptyQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var c *rpc.Conn
		c, p, s := startCounted(t, rpc.Config{Limits: rpc.Limits{Backlog: 10_000}, Entries: []*rpc.Entry{on(mNote, func(context.Context, *msg) (*msg, error) { time.Sleep(time.Second); return nil, nil })}})
		c.Hold(9500)
		go p.bigNotes(10) // ends when all were written
		time.Sleep(time.Minute)
		assert.EqualValues(t, 10, s.read.Load())
	})
}
