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
	"github.com/acpkit/go-sdk/internal/wire"
)

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

func TestStall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _, _ := startHeld(t, rpc.Config{Limits: rpc.Limits{SendQueue: 1000}})
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

// MaxOpen holds for responses that wait for room, with what they say.
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
