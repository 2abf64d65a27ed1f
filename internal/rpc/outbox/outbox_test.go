package outbox_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// sink is a stream that keeps what is written and may be held up.
type sink struct {
	each time.Duration // of each write
	gate chan struct{} // nil: open

	mu      sync.Mutex // guards all below
	lines   []string
	batches []int
	err     error
}

func (s *sink) Write(b []byte) error { return s.WriteBatch([][]byte{b}) }

func (s *sink) WriteBatch(msgs [][]byte) error {
	if s.gate != nil {
		<-s.gate
	}
	if s.each > 0 {
		time.Sleep(s.each)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	for _, b := range msgs {
		if bytes.HasPrefix(b, []byte("bad")) {
			return &stream.MessageError{Reason: "bad"}
		}
	}
	for _, b := range msgs {
		s.lines = append(s.lines, string(b))
	}
	s.batches = append(s.batches, len(msgs))
	return nil
}

func (s *sink) written() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.lines...)
}

// box is a Box with its stream, and what it reported.
type box struct {
	*outbox.Box
	sink *sink

	mu      sync.Mutex // guards all below
	failed  []error
	refused []string
}

func newBox(t *testing.T, s *sink, change func(*outbox.Config)) *box {
	b := &box{sink: s}
	cfg := outbox.Config{
		Write: s.Write, Features: &stream.Features{WriteBatch: s.WriteBatch}, Queue: 1 << 20, Reserve: 2000, StallTimeout: time.Minute,
		Failed: func(err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.failed = append(b.failed, err)
		},
		Refused: func(f *outbox.Frame, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.refused = append(b.refused, fmt.Sprintf("%s %d: %v", f.Data, f.Call, err))
		},
	}
	if change != nil {
		change(&cfg)
	}
	b.Box = outbox.New(cfg)
	t.Cleanup(func() {
		b.Close(wire.ErrClosed)
		b.Abandon()
		<-b.Ended()
	})
	return b
}

func (b *box) failures() []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]error(nil), b.failed...)
}

func frame(text string) *outbox.Frame {
	f := outbox.NewFrame()
	f.Data = append(f.Data, text...)
	return f.Fit()
}

// send queues a message as a sender does.
func (b *box) send(ctx context.Context, text string) error {
	f := frame(text)
	if err := b.Reserve(ctx, f); err != nil {
		f.Free()
		return err
	}
	if b.Push(f) == outbox.Begin {
		b.Start()
	}
	return nil
}

func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		f(t)
	})
}

// Senders of every kind share the way out: each one's messages leave in its order, none is
// lost or doubled, the room is kept, and everything is given back.
func TestManySenders(t *testing.T) {
	for seed := range uint64(20) {
		bubble(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			s := &sink{each: time.Duration(r.IntN(3)) * time.Millisecond}
			b := newBox(t, s, func(c *outbox.Config) { c.Queue = 500 + r.Int64N(20_000) })
			const senders, each = 8, 60
			var wg sync.WaitGroup
			want := 0
			for n := range senders {
				pauses, lengths, inline := r.IntN(3), r.IntN(2000), r.IntN(2) == 0
				wg.Go(func() {
					for i := range each {
						time.Sleep(time.Duration(pauses*i%3) * time.Millisecond)
						text := fmt.Sprintf("%d %d %s", n, i, strings.Repeat("x", lengths*i%1500))
						if !inline {
							assert.NoError(t, b.send(t.Context(), text))
							continue
						}
						f := frame(text)
						assert.NoError(t, b.Reserve(t.Context(), f))
						if b.Push(f) == outbox.Begin {
							b.Write()
						}
					}
				})
				want += each
			}
			wg.Go(func() {
				for i := range each {
					b.PushOwn(frame(fmt.Sprintf("%d %d own", senders, i)).Own())
					b.WaitOwn()
				}
			})
			wg.Go(func() {
				for i := range each {
					b.Cancel(uint64(i + 1))
				}
			})
			want += 2 * each
			wg.Wait()
			<-b.Flushed()
			lines := s.written()
			require.Len(t, lines, want)
			next := map[int]int{}
			cancels := 0
			for _, line := range lines {
				var n, i int
				if strings.Contains(line, "cancel_request") {
					cancels++
					assert.Contains(t, line, fmt.Sprintf(`"requestId":%d}`, cancels))
					continue
				}
				_, err := fmt.Sscanf(line, "%d %d", &n, &i)
				require.NoError(t, err)
				require.Equal(t, next[n], i, "of sender %d", n)
				next[n]++
			}
			assert.Equal(t, each, cancels)
			assert.Empty(t, b.failures())
			f := frame(strings.Repeat("x", 5000)) // all room was given back
			assert.True(t, b.TryReserve(f))
			if b.Push(f) == outbox.Begin {
				b.Write()
			}
		})
	}
}

// What is queued while a write runs leaves with the next one.
func TestBatches(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		b := newBox(t, s, nil)
		for n := range 10 {
			require.NoError(t, b.send(t.Context(), fmt.Sprint(n)))
			synctest.Wait() // the first message is being written before the second is queued
		}
		close(s.gate)
		<-b.Flushed()
		assert.Equal(t, []int{1, 9}, s.batches)
	})
}

// Waiting senders continue together when half of the queue is free, and none of them waits
// forever.
func TestRoomIsGivenToManyAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBox(t, &sink{each: time.Second}, func(c *outbox.Config) { c.Queue = 4 << 20 })
		text := strings.Repeat("x", 60_000) // one write carries four
		var sent atomic.Int64
		for range 200 {
			go func() { // ends when there is room
				assert.NoError(t, b.send(t.Context(), text))
				sent.Add(1)
			}()
		}
		var went []int64 // this many in each second
		for before := int64(0); before < 200; time.Sleep(time.Second) {
			synctest.Wait()
			went = append(went, sent.Load()-before)
			before = sent.Load()
		}
		assert.Equal(t, int64(63), went[0], "the queue is full")
		for i, n := range went[1:] {
			assert.True(t, n == 0 || n >= 32 || i == len(went)-2, "%d went on after %d s", n, i+1)
		}
		<-b.Flushed()
		assert.Len(t, b.sink.written(), 200)
	})
}

// A sender may have reserved room and nevertheless push its frame too late. Push then
// returns Dropped.
func TestPushTooLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBox(t, &sink{}, nil)
		f := frame("late")
		require.NoError(t, b.Reserve(t.Context(), f))
		b.Close(wire.ErrClosed)
		flushed := b.Flushed()
		b.Abandon()
		assert.Equal(t, outbox.Dropped, b.Push(f))
		<-flushed // the room was given back
		b.PushOwn(frame("own").Own())
		b.Cancel(1)
		assert.Empty(t, b.sink.written())
	})
}

// The reserve being full for StallTimeout with nothing written is a stall; the smallest
// progress is none.
func TestStallOfTheReserve(t *testing.T) {
	for name, test := range map[string]struct {
		each time.Duration
		want []error
	}{
		"nothing is written": {time.Hour, []error{wire.ErrStalled}},
		"a little is":        {50 * time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := &sink{each: test.each}
				b := newBox(t, s, func(c *outbox.Config) { c.Features.WriteBatch = nil })
				for range 20 {
					b.PushOwn(frame(strings.Repeat("x", 200)).Own())
				}
				time.Sleep(2 * time.Minute)
				if test.want == nil {
					assert.Empty(t, b.failures())
				} else {
					assert.Equal(t, test.want, b.failures()[:1])
				}
			})
		})
	}
}

// The goroutine that writes ends when there is nothing to do, and not before.
func TestWriterEndsWhenIdle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := &sink{}
		b := newBox(t, s, nil)
		writers := func() int {
			synctest.Wait()
			all := make([]byte, 1<<20)
			return strings.Count(string(all[:runtime.Stack(all, true)]), "outbox.(*Box).run(")
		}
		assert.Zero(t, writers())
		for _, pause := range []time.Duration{0, time.Millisecond, 900 * time.Millisecond, time.Second, 5 * time.Second} {
			for range 20 {
				require.NoError(t, b.send(t.Context(), "text"))
				assert.Equal(t, 1, writers())
				time.Sleep(pause)
			}
		}
		time.Sleep(2 * time.Second)
		assert.Zero(t, writers())
		s.each = 5 * time.Second // it does not end while it writes
		require.NoError(t, b.send(t.Context(), "long"))
		require.NoError(t, b.send(t.Context(), "next"))
		time.Sleep(11 * time.Second)
		assert.Len(t, s.written(), 102)
	})
}
