package work

import (
	"os"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// MarkMethod is the extension request that asks an agent for its counters.
const MarkMethod = "_bench/mark"

// SyncMethod is the extension request by which an agent waits for its client in
// the works whose name ends in "-synced". The client answers it when it has counted as
// many updates as the request names.
const SyncMethod = "_bench/sync"

// SyncParams are the params of SyncMethod.
type SyncParams struct {
	Sent int `json:"sent"`
}

// Counters are what one process has used so far.
type Counters struct {
	CPU     float64 `json:"cpu"`     // user and system seconds
	Mallocs uint64  `json:"mallocs"` // objects allocated; 0 where it is not Go
	Live    uint64  `json:"live"`    // largest heap that a collection left, since heap watching began
}

// Mark reads the counters of this process. With gc it collects garbage first, so
// that one measurement does not pay for the one before.
func Mark(gc bool) Counters {
	if gc {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Counters{CPU: cpuSeconds(), Mallocs: m.Mallocs, Live: peakHeap.Load()}
}

// Sub returns the difference of two readings. Live is that of the later one.
func (c Counters) Sub(before Counters) Counters {
	return Counters{
		CPU:     c.CPU - before.CPU,
		Mallocs: c.Mallocs - before.Mallocs,
		Live:    c.Live,
	}
}

// liveHeap is the size of what the last collection found alive.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// HeapEnv is the environment variable that makes a process watch its live heap.
// The collections that this takes make times meaningless, so it has a run of its
// own, with GODEBUG=gcstoptheworld=1.
const HeapEnv = "ACPKIT_BENCH_HEAP"

var peakHeap atomic.Uint64

// watchHeap collects garbage over and over and keeps the largest live heap above
// the size it began with. The goroutine ends with the process.
func watchHeap() {
	if os.Getenv(HeapEnv) == "" {
		return
	}
	runtime.GC()
	runtime.GC()
	base := liveHeap()
	go func() { // samples the heap for as long as the program lives
		for {
			runtime.GC()
			if live := liveHeap(); live > base && live-base > peakHeap.Load() {
				peakHeap.Store(live - base)
			}
			time.Sleep(100 * time.Microsecond)
		}
	}()
}

// CPU returns the user and system time of this process in seconds, or 0 if it is not known.
func CPU() float64 { return cpuSeconds() }
