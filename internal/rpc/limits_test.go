package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
)

var bigNote = `{"jsonrpc":"2.0","method":"t/note","params":{"text":"` + strings.Repeat("x", 1000) + `"}}`

// bigNotes sends n of them.
func (p peer) bigNotes(n int) {
	for range n {
		p.Send("%s", bigNote)
	}
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
			echo(mWaits),
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
		_, p := start(t, rpc.Config{Limits: rpc.Limits{MaxHandlers: 1, MaxWaiting: 500 + 8*512}, Entries: []*rpc.Entry{echoAfter(gate, mEcho)}})
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

// A request that was cancelled while it waited keeps its place in the queue, so it still counts.
// Otherwise a peer that cancels what it asks for could make the queue grow without end.
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
		_, p := start(t, rpc.Config{Limits: rpc.Limits{MaxOpen: 5*each + each/2}, Entries: []*rpc.Entry{echoAfter(gate, mWaits)}})
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

// A waiting cancel refers to the prompts that it has ended, and that memory counts.
func TestCancelsOfManyPromptsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cancel := ends(rpc.EndsForeground, ignore(mCancel))
		stuck, prompts := make(chan struct{}), make(chan struct{})
		c, p := start(t, rpc.Config{Limits: rpc.Limits{Backlog: 1 << 20}, Entries: []*rpc.Entry{cancel,
			echoAfter(stuck, mNote),
			ended(echoAfter(prompts, mPrompt)),
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

func TestSendersWaitForRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p, s := startHeld(t, rpc.Config{Limits: rpc.Limits{SendQueue: 20_000}})
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
		for n := range sent {
			p.ExpectJSON(fmt.Sprintf(`{'jsonrpc':'2.0','method':'t/note','params':{'n':%d}}`, n+1))
		}
		assert.Contains(t, p.Next().Raw, "xxxx")
	})
}

// A response counts against the limits until it is queued, so a peer that does not read cannot
// start a goroutine with every request.
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
				_, p, s := startHeld(t, rpc.Config{Limits: rpc.Limits{MaxHandlers: 8, SendQueue: 1000}, Entries: []*rpc.Entry{entry}})
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

// MaxOpen includes the bytes of responses that wait for room.
func TestMaxOpenCountsResponsesWithoutRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		_, p, s := startHeld(t, rpc.Config{
			Limits: rpc.Limits{MaxOpen: 100_000, MaxWaiting: 1, SendQueue: 1000},
			Entries: []*rpc.Entry{ended(on(mPrompt, func(context.Context, *msg) (*msg, error) {
				return &msg{Text: strings.Repeat("x", 50_000)}, nil
			}))},
		})
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
