package thread_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/thread"
)

type step struct {
	snapshot *thread.Snapshot
	changes  []thread.Change
}

func pull(t *testing.T, th *thread.Thread) func() step {
	next, stop := iter.Pull2(th.Watch(t.Context()))
	t.Cleanup(stop)
	return func() step {
		s, changes, ok := next()
		require.True(t, ok)
		return step{s, changes}
	}
}

func TestWatch(t *testing.T) {
	th := threadOf(t, agentText("a"))
	next := pull(t, th)
	first := next()
	assert.Equal(t, []thread.Change{{Part: thread.PartAll}}, first.changes)
	assert.Equal(t, 1, first.snapshot.Items.Len())

	th.Apply(update(t, agentText("b")))
	assert.Equal(t, []thread.Change{{Part: thread.PartItem, Index: 0}}, next().changes)

	// A slow reader gets each part once, in the order of the last changes.
	for range 1000 {
		th.Apply(update(t, agentText("c")))
		th.Apply(update(t, `{"sessionUpdate":"tool_call","toolCallId":"1","title":"T"}`))
		th.Apply(update(t, `{"sessionUpdate":"plan","entries":[]}`))
	}
	slow := next()
	assert.Equal(t, []thread.Change{
		{Part: thread.PartItem, Index: 0},
		{Part: thread.PartItem, Index: 2, New: true},
		{Part: thread.PartItem, Index: 1, New: true},
		{Part: thread.PartPlans},
	}, slow.changes)
	assert.Equal(t, "abc", slow.snapshot.Items.At(0).(*thread.Message).Text())

	th.Do(thread.TerminalChanged{ID: "t"}, thread.InfoChanged{})
	assert.Equal(t, []thread.Change{{Part: thread.PartTerminal, New: true}, {Part: thread.PartInfo}}, next().changes)

	th.Reset()
	th.Apply(update(t, agentText("x")))
	assert.Equal(t, []thread.Change{{Part: thread.PartAll}}, next().changes)
	th.Apply(update(t, agentText("y")))
	assert.Equal(t, []thread.Change{{Part: thread.PartItem}}, next().changes)
}

func TestWatchWaitsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := thread.New()
		ctx, cancel := context.WithCancel(t.Context())
		seen, ended := 0, false
		go func() { // ends with ctx
			for range th.Watch(ctx) {
				seen++
			}
			ended = true
		}()
		synctest.Wait()
		assert.Equal(t, 1, seen)
		th.Apply(update(t, agentText("a")))
		synctest.Wait()
		assert.Equal(t, 2, seen)
		synctest.Wait()
		assert.Equal(t, 2, seen, "nothing has changed")
		cancel()
		synctest.Wait()
		assert.True(t, ended)
	})
}

// Readers of different speeds end with the same state, which they build from the changes alone.
func TestManyReaders(t *testing.T) {
	const updates = 2000
	th := thread.New()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var readers sync.WaitGroup
	for reader := range 4 {
		readers.Go(func() {
			items := map[int]thread.Item{}
			last := uint64(0)
			for s, changes := range th.Watch(ctx) {
				assert.GreaterOrEqual(t, s.Revision, last)
				last = s.Revision
				for _, c := range changes {
					switch c.Part {
					case thread.PartAll:
						clear(items)
						maps.Insert(items, s.Items.All())
					case thread.PartItem:
						_, had := items[c.Index]
						assert.Equal(t, c.New, !had, "reader %d", reader)
						items[c.Index] = s.Items.At(c.Index)
					}
				}
				assert.Len(t, items, s.Items.Len())
				if s.Turn.StopReason == "done" {
					for i, item := range s.Items.All() {
						assert.Same(t, item, items[i])
					}
					return
				}
				for range reader * 1000 { // slower than the others
					_ = len(changes)
				}
			}
		})
	}
	for i := range updates {
		th.Apply(update(t, chunk("agent_message_chunk", fmt.Sprint(i%50), "x")))
	}
	th.Do(thread.StateChanged{State: thread.StateIdle, StopReason: "done"})
	readers.Wait()
}
