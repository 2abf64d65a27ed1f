package thread_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// applyChunks applies n chunks that are spread over the given number of items. It takes a snapshot
// each time that another every chunks were applied.
func applyChunks(th *thread.Thread, n, items, every int) {
	u := &acp.AgentMessageChunk{Content: acp.Text("a few words of text ")}
	ids := make([]acp.MessageID, items)
	for i := range ids {
		ids[i] = acp.MessageID(fmt.Sprint(i))
	}
	for i := range n {
		u.MessageID = ids[i*items/n]
		th.Apply(u)
		if i%every == 0 {
			th.Snapshot()
		}
	}
}

// The cost of an update with a snapshot must not grow with the history: a copy of the
// history would be a thousand times slower.
func TestSnapshotsDoNotGrowWithTheHistory(t *testing.T) {
	update := func(items int) func() {
		th := thread.New()
		applyChunks(th, items, items, items)
		return func() { applyChunks(th, 300, 1, 1) }
	}
	assert.Less(t, timesAsLong(8, update(50_000), update(10)), 8.0, "300 updates with a snapshot each")
}

// Chunks that go to two messages in turn, such as those of two subagents, cost what they add, however long the
// messages are.
func TestChunksOfTwoMessagesInTurn(t *testing.T) {
	chunks := func(length int) func() {
		th := thread.New()
		all := [2]*acp.AgentMessageChunk{}
		for i := range all {
			th.Apply(&acp.AgentMessageChunk{MessageID: acp.MessageID(fmt.Sprint(i)), Content: acp.Text(strings.Repeat("x", length))})
			all[i] = &acp.AgentMessageChunk{MessageID: acp.MessageID(fmt.Sprint(i)), Content: acp.Text("y")}
		}
		return func() {
			for i := range 300 {
				th.Apply(all[i%2])
				th.Snapshot()
			}
		}
	}
	assert.Less(t, timesAsLong(8, chunks(16<<20), chunks(10)), 8.0, "300 updates with a snapshot each")
}

// The total time must be linear: one long thread takes as long as twenty short ones with as many
// chunks. With quadratic time it would take twenty times as long.
func TestChunksAreLinear(t *testing.T) {
	for name, c := range map[string]struct{ few, perItem, every int }{
		"many items":                {10_000, 50, 100},
		"one item, a snapshot each": {500, 1 << 30, 1},
	} {
		tell := func(n int) { applyChunks(thread.New(), n, max(1, n/c.perItem), c.every) }
		long := func() { tell(20 * c.few) }
		short := func() {
			for range 20 {
				tell(c.few)
			}
		}
		assert.Less(t, timesAsLong(3, long, short), 3.0, name)
	}
}

// timesAsLong returns how many times as long a takes as b. Both should take about the same time,
// and run in turn, so that other load slows both; the best round counts. It stops at the first
// round that is better than enough.
func timesAsLong(enough float64, a, b func()) float64 {
	best := math.Inf(1)
	for range 20 {
		times, of := 1, took(1, b)
		for of < shortest {
			times *= 2
			of = took(times, b)
		}
		best = min(best, took(times, a).Seconds()/of.Seconds())
		if best < enough {
			break
		}
	}
	return best
}

// shortest is the shortest time that can be compared. The clock of Windows may not advance for more
// than a millisecond.
const shortest = 2 * time.Millisecond

// took returns how long it takes to do f that many times.
func took(times int, f func()) time.Duration {
	begun := time.Now()
	for range times {
		f()
	}
	return time.Since(begun)
}
