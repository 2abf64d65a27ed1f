package thread_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// tellChunks tells n chunks that are spread over the given number of items, and takes a
// snapshot after every so many.
func tellChunks(th *thread.Thread, n, items, every int) {
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

// One operation is a session of 100 000 chunks in 2000 items; ns/chunk is what counts.
func BenchmarkChunks(b *testing.B) {
	for _, c := range []struct {
		name         string
		items, every int
	}{{"2000 items, a snapshot every 100", 2000, 100}, {"2000 items, a snapshot each", 2000, 1}, {"one item, a snapshot each", 1, 1}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			const chunks = 100_000
			for b.Loop() {
				tellChunks(thread.New(), chunks, c.items, c.every)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
		})
	}
}

// One snapshot an update, after histories of different lengths.
func BenchmarkSnapshotAfterHistory(b *testing.B) {
	for _, items := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			th := thread.New()
			tellChunks(th, items, items, items)
			u := &acp.AgentMessageChunk{MessageID: "0", Content: acp.Text("x")}
			for b.Loop() {
				th.Apply(u)
				th.Snapshot()
			}
		})
	}
}

// The cost of an update with a snapshot must not grow with the history. The bound is wide:
// a copy of the history would be a thousand times slower.
func TestSnapshotsDoNotGrowWithTheHistory(t *testing.T) {
	cost := func(items int) time.Duration {
		th := thread.New()
		tellChunks(th, items, items, items)
		best := time.Hour
		for range 10 {
			start := time.Now()
			tellChunks(th, 1000, 1, 1)
			best = min(best, time.Since(start))
		}
		return best
	}
	short, long := cost(10), cost(200_000)
	assert.Less(t, long, 10*short, "1000 updates with a snapshot each")
}

// The whole must be linear: ten times the chunks, about ten times the time.
func TestChunksAreLinear(t *testing.T) {
	cost := func(n int) time.Duration {
		best := time.Hour
		for range 5 {
			start := time.Now()
			tellChunks(thread.New(), n, n/50, 100)
			best = min(best, time.Since(start))
		}
		return best
	}
	short, long := cost(10_000), cost(200_000)
	assert.Less(t, long, 60*short, "20 times the chunks")
}
