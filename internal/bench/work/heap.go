package work

import (
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

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

func watchedHeap() uint64 { return peakHeap.Load() }
