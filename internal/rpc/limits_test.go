package rpc_test

import (
	"context"
	"errors"
	"fmt"
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

func (s *counted) WriteBatch(m [][]byte) error { return s.Stream.(stream.BatchWriter).WriteBatch(m) }

func startCounted(t *testing.T, cfg rpc.Config) (*rpc.Conn, peer, *counted) {
	t.Helper()
	near, far := stream.Pipe()
	s := &counted{Stream: near}
	cfg.Stream = s
	return startOn(t, cfg), newPeer(t, far), s
}

var bigNote = `{"jsonrpc":"2.0","method":"t/note","params":{"text":"` + strings.Repeat("x", 1000) + `"}}`

func TestReaderPausesWhenTooMuchWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var handled atomic.Int64
		_, p, s := startCounted(t, rpc.Config{Limits: rpc.Limits{Backlog: 10_000}, Entries: []*rpc.Entry{
			on(mNote, func(context.Context, *msg) (*msg, error) {
				time.Sleep(time.Millisecond)
				handled.Add(1)
				return nil, nil
			}),
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) { return m, nil }),
		}})
		go func() { // ends when all were written
			for range 1000 {
				p.Send("%s", bigNote)
			}
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
		for range 100 {
			p.Send("%s", bigNote)
		}
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
			c, p, s := startCounted(t, rpc.Config{Limits: rpc.Limits{Backlog: 10_000}, Entries: []*rpc.Entry{
				on(mNote, func(context.Context, *msg) (*msg, error) { <-gate; return nil, nil }),
			}})
			done := make(chan error)
			go func() { // ends with the call
				_, err := c.Call(t.Context(), m, &msg{}, nil)
				done <- err
			}()
			p.Next()
			for range 50 {
				p.Send("%s", bigNote)
			}
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
		go func() { // ends when all were written
			for range 50 {
				p.Send("%s", bigNote)
			}
		}()
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

func TestOverload(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p, _ := startCounted(t, rpc.Config{Limits: rpc.Limits{Backlog: 10_000, MaxBacklog: 20_000}, Entries: []*rpc.Entry{
			on(mNote, func(ctx context.Context, _ *msg) (*msg, error) { <-ctx.Done(); return nil, nil }),
		}})
		done := make(chan error)
		go func() { // ends with the connection
			_, err := c.Call(t.Context(), mEcho, &msg{}, nil)
			done <- err
		}()
		p.Next()
		for range 50 {
			if p.Write([]byte(bigNote)) != nil {
				break
			}
		}
		err := <-done
		require.ErrorIs(t, err, wire.ErrClosed)
		require.ErrorIs(t, err, wire.ErrOverloaded)
		require.ErrorIs(t, c.Wait(), wire.ErrOverloaded)
		require.ErrorIs(t, c.Err(), wire.ErrOverloaded)
	})
}

func TestMaxHandlers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var running, most atomic.Int64
		gate := make(chan struct{})
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Limits: rpc.Limits{MaxHandlers: 3}, Entries: []*rpc.Entry{
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) {
				most.Store(max(most.Load(), running.Add(1)))
				<-gate
				running.Add(-1)
				return m, nil
			}),
			on(mWaits, func(_ context.Context, m *msg) (*msg, error) { return m, nil }),
			on(mAsk, func(ctx context.Context, m *msg) (*msg, error) {
				_, err := c.Call(ctx, mAsk, m, nil)
				return m, err
			}),
		}})
		for id := range 5 { // inside a Conn method: these do not count
			p.request(100+id, "t/ask", 1)
			p.Next()
		}
		for id := range 10 {
			p.request(id, "t/echo", id)
		}
		synctest.Wait()
		assert.EqualValues(t, 3, running.Load())
		p.request(50, "t/waits", 7) // does not count
		p.ExpectJSON(`{'jsonrpc':'2.0','id':50,'result':{'n':7}}`)
		p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':9}}`)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':9,'error':{'code':-32800,'message':'Request cancelled','data':{'requestId':9}}}`)
		for id := range 5 {
			p.answer(id+1, 1)
		}
		for range 5 {
			assert.Contains(t, p.Next().Raw, `"id":10`)
		}
		close(gate)
		for range 9 {
			p.Next()
		}
		assert.EqualValues(t, 3, most.Load())
	})
}

func TestTooManyWaitingRequests(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		_, p := start(t, rpc.Config{Limits: rpc.Limits{MaxHandlers: 1, MaxWaiting: 500 + 8*512}, Entries: []*rpc.Entry{
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) { <-gate; return m, nil }),
		}})
		for id := range 20 {
			p.request(id, "t/echo", 1)
		}
		synctest.Wait()
		refused := 0
		for {
			s := p.Next().Raw
			if !strings.Contains(s, "Too many requests") {
				break
			}
			assert.Contains(t, s, `"error":{"code":-32603,"message":"Too many requests"}`)
			if refused++; refused == 11 {
				close(gate)
			}
		}
		assert.Equal(t, 11, refused)
		for range 8 {
			assert.Contains(t, p.Next().Raw, `"result"`)
		}
	})
}

// A request that was cancelled while it waited leaves its place only when that is
// reached, so it goes on counting: else a peer that cancels what it asks for could make
// the line grow without end.
func TestCancelledRequestsThatWaitAreBounded(t *testing.T) {
	const room, tries = 64 << 10, 2000
	long := strings.Repeat("x", 10<<10)
	for name, handshake := range map[string]string{"for a slot": "", "for the handshake": "initialize"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				gate := make(chan struct{})
				waits := func(_ context.Context, m *msg) (*msg, error) { <-gate; return m, nil }
				_, p := start(t, rpc.Config{Handshake: handshake, Limits: rpc.Limits{MaxHandlers: 1, MaxWaiting: room},
					Entries: []*rpc.Entry{on(mInit, waits), on(mEcho, waits)}})
				p.request(0, "initialize", 0)
				refused := 0
				for id := 1; id <= tries; id++ {
					p.Send(`{'jsonrpc':'2.0','id':%d,'method':'t/echo','params':{'text':'%s'}}`, id, long)
					p.Send(`{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':%d}}`, id)
					if strings.Contains(p.Next().Raw, "Too many requests") {
						refused++
					}
				}
				accepted := tries - refused
				assert.Greater(t, accepted, room/(10<<10), "the params are let go at once")
				assert.Less(t, accepted, room/100)
				close(gate)
				assert.Contains(t, p.Next().Raw, `"id":0,"result"`)
				for id := range 20 { // there is room again
					p.request(id, "t/echo", 1)
					assert.Contains(t, p.Next().Raw, `"result"`)
				}
			})
		})
	}
}

// Requests whose handlers do not count, because they wait for people, are bounded too.
func TestTooManyOpenRequests(t *testing.T) {
	const each = 8<<10 + 512 + 60 // and a little
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		_, p := start(t, rpc.Config{Limits: rpc.Limits{MaxOpen: 5*each + each/2}, Entries: []*rpc.Entry{
			on(mWaits, func(_ context.Context, m *msg) (*msg, error) { <-gate; return m, nil }),
		}})
		for round := range 2 { // what was answered counts no more
			for id := range 20 {
				p.request(id, "t/waits", id)
			}
			for range 15 {
				assert.Contains(t, p.Next().Raw, `"error":{"code":-32603,"message":"Too many requests"}`)
			}
			for range 5 {
				gate <- struct{}{}
				assert.Contains(t, p.Next().Raw, `"result"`, round)
			}
		}
		p.Send(`{'jsonrpc':'2.0','id':1,'method':'t/waits','params':{'text':'%s'}}`, strings.Repeat("x", 10*each))
		gate <- struct{}{}
		assert.Contains(t, p.Next().Raw, `"result"`, "one alone may be as long as it is")
	})
}

// Every cancel that waits for its place remembers the prompts it ends, which counts.
func TestCancelsOfManyPromptsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cancel := on(mCancel, func(context.Context, *msg) (*msg, error) { return nil, nil })
		cancel.Ends = rpc.EndsForeground
		stuck, prompts := make(chan struct{}), make(chan struct{})
		c, p := start(t, rpc.Config{Limits: rpc.Limits{Backlog: 1 << 20}, Entries: []*rpc.Entry{cancel,
			on(mNote, func(context.Context, *msg) (*msg, error) { <-stuck; return nil, nil }),
			ended(on(mPrompt, func(context.Context, *msg) (*msg, error) { <-prompts; return nil, nil })),
		}})
		for id := range 1000 {
			p.Send(`{'jsonrpc':'2.0','id':%d,'method':'t/prompt','params':{'sessionId':'a'}}`, id)
		}
		synctest.Wait()
		p.note(1)
		var sent atomic.Int64
		go func() { // ends when the connection has read all, or is closed
			for range 10_000 {
				p.Send(`{'jsonrpc':'2.0','method':'t/cancel','params':{'sessionId':'a'}}`)
				sent.Add(1)
			}
		}()
		synctest.Wait()
		assert.Less(t, sent.Load(), int64(1000), "the reader pauses")
		close(stuck)
		close(prompts)
		for range 1000 {
			p.Next()
		}
		synctest.Wait()
		assert.EqualValues(t, 10_000, sent.Load())
		c.Close()
	})
}

func TestFloodOfRequests(t *testing.T) {
	const n = 20_000
	bubble(t, func(t *testing.T) {
		var most atomic.Int64
		_, p := start(t, rpc.Config{Limits: rpc.Limits{MaxHandlers: 64}, Entries: []*rpc.Entry{
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) {
				most.Store(max(most.Load(), int64(runtime.NumGoroutine())))
				return m, nil
			}),
		}})
		go func() { // ends when all were written
			for id := range n {
				p.request(id, "t/echo", 1)
			}
		}()
		seen := map[string]bool{}
		for range n {
			seen[p.Next().Raw] = true
		}
		assert.Len(t, seen, n)
		assert.Less(t, most.Load(), int64(200))
	})
}

func TestSendersWaitForRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		s := &held{Stream: near, gate: make(chan struct{})}
		c := startOn(t, rpc.Config{Stream: s, Limits: rpc.Limits{SendQueue: 20_000}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		sent := 0
		var err error
		for err == nil {
			if err = c.Notify(ctx, mNote, &msg{N: sent + 1}); err == nil {
				sent++
			}
		}
		require.Equal(t, context.DeadlineExceeded, err)
		assert.Positive(t, sent)
		assert.LessOrEqual(t, sent, 20_000/500, "small messages count for the memory they take")
		go func() { // ends when there is room
			assert.NoError(t, c.Notify(t.Context(), mNote, &msg{Text: strings.Repeat("x", 5000)}))
		}()
		synctest.Wait()
		close(s.gate)
		p := newPeer(t, far)
		for n := range sent {
			p.ExpectJSON(fmt.Sprintf(`{'jsonrpc':'2.0','method':'t/note','params':{'n':%d}}`, n+1))
		}
		assert.Contains(t, p.Next().Raw, "xxxx")
	})
}

// held is a stream whose writes wait, and may fail.
type held struct {
	stream.Stream
	gate   chan struct{}
	closed sync.Once

	mu  sync.Mutex // guards err
	err error
}

func (s *held) Write(b []byte) error {
	<-s.gate
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.Stream.Write(b)
}

func (s *held) Close() error {
	s.closed.Do(func() {
		select {
		case <-s.gate:
		default:
			s.fail(errors.New("closed"))
			close(s.gate)
		}
	})
	return s.Stream.Close()
}

// fail makes all writes fail from now on.
func (s *held) fail(err error) {
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
}

func TestStall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, _ := stream.Pipe()
		s := &held{Stream: near, gate: make(chan struct{})}
		c := startOn(t, rpc.Config{Stream: s, Limits: rpc.Limits{SendQueue: 1000}})
		begun := time.Now()
		var err error
		for err == nil {
			err = c.Notify(t.Context(), mNote, &msg{N: 1})
		}
		assert.Equal(t, time.Minute, time.Since(begun))
		require.ErrorIs(t, err, wire.ErrStalled)
		require.ErrorIs(t, err, wire.ErrClosed)
		require.ErrorIs(t, c.Wait(), wire.ErrStalled)
		assert.Equal(t, time.Minute, time.Since(begun))
	})
}

// Both sides flood each other from handlers that send for everything they get,
// with queues that are nearly always full.
func TestMutualFlood(t *testing.T) {
	bubble(t, func(t *testing.T) {
		limits := rpc.Limits{SendQueue: 300, Backlog: 500, MaxHandlers: 2}
		var conns [2]*rpc.Conn
		var seen [2]int
		entries := func(i int) []*rpc.Entry {
			return []*rpc.Entry{
				on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
					seen[i]++
					for range 3 {
						if err := conns[i].Notify(ctx, mOther, m); err != nil {
							return nil, err
						}
					}
					_, err := conns[i].Call(ctx, mEcho, m, nil)
					return nil, err
				}),
				on(mOther, func(context.Context, *msg) (*msg, error) { return nil, nil }),
				on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
					return m, conns[i].Notify(ctx, mOther, m)
				}),
			}
		}
		conns[0], conns[1] = both(t, rpc.Config{Entries: entries(0), Limits: limits}, rpc.Config{Entries: entries(1), Limits: limits})
		var wg sync.WaitGroup
		for _, c := range conns {
			wg.Go(func() {
				for range 500 {
					assert.NoError(t, c.Notify(t.Context(), mNote, &msg{N: 1}))
				}
			})
		}
		wg.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, [2]int{500, 500}, seen)
	})
}

// Very many notifications and a handler of one millisecond each: nothing is lost,
// the order is kept, and the sender is slowed down.
func TestFloodOfNotifications(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 5000
	}
	bubble(t, func(t *testing.T) {
		last := 0
		_, b := both(t, rpc.Config{Entries: []*rpc.Entry{
			on(mNote, func(_ context.Context, m *msg) (*msg, error) {
				if m.N != last+1 {
					t.Errorf("%d behind %d", m.N, last)
				}
				last = m.N
				time.Sleep(time.Millisecond)
				return nil, nil
			}),
		}, Limits: rpc.Limits{Backlog: 1 << 20}}, rpc.Config{})
		for i := range n {
			require.NoError(t, b.Notify(t.Context(), mNote, &msg{N: i + 1}))
		}
		time.Sleep(time.Duration(n) * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, n, last)
	})
}

// What waits takes hardly more memory than the budget, also when the messages are
// small.
func TestMemoryOfTheBacklog(t *testing.T) {
	const budget = 8 << 20
	for _, size := range []int{0, 200, 5000} {
		bubble(t, func(t *testing.T) {
			gate := make(chan struct{})
			_, p := start(t, rpc.Config{Limits: rpc.Limits{Backlog: budget}, Entries: []*rpc.Entry{
				on(mNote, func(context.Context, *msg) (*msg, error) { <-gate; return nil, nil }),
			}})
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

// The answer of a call that nobody waits for any more is let go, however long its place
// is held up.
func TestMemoryOfAbandonedAnswers(t *testing.T) {
	const size, calls = 1 << 20, 20
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		c, p := start(t, rpc.Config{Entries: []*rpc.Entry{
			on(mNote, func(context.Context, *msg) (*msg, error) { <-gate; return nil, nil }),
		}})
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

// A handler that begins to wait for the peer makes room for one that waits for a
// slot, which the peer may need.
func TestSlotIsGivenAwayInsideACall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		var c *rpc.Conn
		c, p := start(t, rpc.Config{Limits: rpc.Limits{MaxHandlers: 1}, Entries: []*rpc.Entry{
			on(mAsk, func(ctx context.Context, m *msg) (*msg, error) {
				<-gate
				_, err := c.Call(ctx, mAsk, m, nil)
				return m, err
			}),
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) { return m, nil }),
		}})
		p.request(1, "t/ask", 1)
		p.request(2, "t/echo", 2)
		synctest.Wait()
		close(gate)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'method':'t/ask','params':{'n':1}}`, `{'jsonrpc':'2.0','id':2,'result':{'n':2}}`)
		p.answer(1, 1)
		p.ExpectJSON(`{'jsonrpc':'2.0','id':1,'result':{'n':1}}`)
	})
}

// A response counts against the limits until it is queued: a peer that asks and does not
// read gets no goroutine for every question.
func TestResponsesWithoutRoomAreCounted(t *testing.T) {
	for name, e := range map[string]func(handle) *rpc.Entry{
		"counted":   func(h handle) *rpc.Entry { return on(mEcho, h) },
		"uncounted": func(h handle) *rpc.Entry { return on(request("t/echo"), h) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var served atomic.Int64
				entry := e(func(context.Context, *msg) (*msg, error) { served.Add(1); return nil, errors.New("no") })
				entry.Group = name == "uncounted"
				near, far := stream.Pipe()
				s := &held{Stream: near, gate: make(chan struct{})}
				startOn(t, rpc.Config{Stream: s, Limits: rpc.Limits{MaxHandlers: 8, SendQueue: 1000}, Entries: []*rpc.Entry{entry}})
				p := newPeer(t, far)
				for id := range 1000 {
					p.request(id, "t/echo", id)
					if id%10 == 0 {
						synctest.Wait() // handlers that run are not yet counted
					}
				}
				synctest.Wait()
				assert.Less(t, served.Load(), int64(40))
				p.request(999, "t/echo", 0) // the ids are in use
				synctest.Wait()
				close(s.gate)
				answered := map[string]int{}
				for range 1001 {
					answered[p.Next().Raw]++
				}
				assert.Len(t, answered, 1001)
				assert.EqualValues(t, 1000, served.Load())
			})
		})
	}
}

// MaxOpen holds for responses that wait for room, with what they say.
func TestMaxOpenCountsResponsesWithoutRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		s := &held{Stream: near, gate: make(chan struct{})}
		startOn(t, rpc.Config{
			Stream: s, Limits: rpc.Limits{MaxOpen: 100_000, MaxWaiting: 1, SendQueue: 1000},
			Entries: []*rpc.Entry{ended(on(mPrompt, func(context.Context, *msg) (*msg, error) {
				return &msg{Text: strings.Repeat("x", 50_000)}, nil
			}))},
		})
		p := newPeer(t, far)
		for id := range 10 {
			p.request(id, "t/prompt", 0)
			synctest.Wait()
		}
		close(s.gate)
		refused := 0
		for range 10 {
			if strings.Contains(p.Next().Raw, "Too many requests") {
				refused++
			}
		}
		assert.GreaterOrEqual(t, refused, 6)
	})
}

// A hard limit below the budget is the budget.
func TestMaxBacklogBelowBacklog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		_, p, s := startCounted(t, rpc.Config{Limits: rpc.Limits{MaxBacklog: 10_000}, Entries: []*rpc.Entry{
			on(mNote, func(context.Context, *msg) (*msg, error) { <-gate; return nil, nil }),
		}})
		go func() { // ends when all were written
			for range 100 {
				p.Send("%s", bigNote)
			}
		}()
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
		c, p, s := startCounted(t, rpc.Config{Limits: rpc.Limits{Backlog: 10_000}, Entries: []*rpc.Entry{
			on(mNote, func(context.Context, *msg) (*msg, error) { time.Sleep(time.Second); return nil, nil }),
		}})
		c.Hold(9500)
		go func() { // ends when all were written
			for range 10 {
				p.Send("%s", bigNote)
			}
		}()
		time.Sleep(time.Minute)
		assert.EqualValues(t, 10, s.read.Load())
	})
}
