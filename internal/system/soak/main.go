// Command soak runs a mixed load over many connections for a given time and prints
// what went through, and goroutines and heap at the start and at the end. It fails
// when a message is lost or out of order, when an error comes up that has no cause in the conversation,
// or when something stays behind.
//
//	go run -race ./internal/system/soak -duration 1m
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// load counts what happened.
type load struct {
	updates, prompts, cancels, calls, connections, bytes atomic.Int64
	proxies, broken, loads, givenUp, terminals           atomic.Int64
	second, held                                         atomic.Int64 // connections of version 2, prompts withdrawn in them

	mu     sync.Mutex // guards errors
	errors []string
}

func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errors) < 20 {
		l.errors = append(l.errors, fmt.Sprintf(format, args...))
	}
}

func main() {
	duration := flag.Duration("duration", time.Minute, "how long to run")
	workers := flag.Int("connections", 8, "how many connections are open at a time")
	flag.Parse()

	l := &load{}
	// What is set up once, such as pools, is not a leak.
	warm, stop := context.WithTimeout(context.Background(), min(*duration/10, 2*time.Second))
	runAll(warm, l, *workers)
	stop()
	before := measure()

	ctx, stop := context.WithTimeout(context.Background(), *duration)
	start := time.Now()
	runAll(ctx, l, *workers)
	stop()
	took := time.Since(start)
	after := settle(before)

	fmt.Printf("ran %s with %d connections at a time\n", took.Round(time.Second), *workers)
	fmt.Printf("connections %d, with %d proxies between them, closed in the middle %d\n",
		l.connections.Load(), l.proxies.Load(), l.broken.Load())
	fmt.Printf("prompts %d, cancelled %d, updates %d, sessions loaded %d\n",
		l.prompts.Load(), l.cancels.Load(), l.updates.Load(), l.loads.Load())
	fmt.Printf("connections of version 2 %d, prompts withdrawn %d\n", l.second.Load(), l.held.Load())
	fmt.Printf("other calls %d, given up %d, terminals %d, text %d MiB\n",
		l.calls.Load(), l.givenUp.Load(), l.terminals.Load(), l.bytes.Load()>>20)
	fmt.Printf("goroutines %d before, %d after\n", before.goroutines, after.goroutines)
	fmt.Printf("heap %.1f MiB before, %.1f MiB after\n", mib(before.heap), mib(after.heap))
	if after.goroutines > before.goroutines {
		l.fail("%d goroutines stayed behind:\n%s", after.goroutines-before.goroutines, stacks())
	}
	if after.heap > before.heap+16<<20 {
		l.fail("the heap grew by %.1f MiB", mib(after.heap-before.heap))
	}
	fmt.Printf("errors %d\n", len(l.errors))
	if len(l.errors) > 0 {
		fmt.Println(strings.Join(l.errors, "\n"))
		os.Exit(1)
	}
}

// runAll opens one connection after the other on each worker until ctx ends.
func runAll(ctx context.Context, l *load, workers int) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := converse(ctx, l, uint64(w)<<32|uint64(n)); err != nil {
					l.fail("connection %d of worker %d: %v", n, w, err)
				}
			}
		})
	}
	wg.Wait()
}

type measurement struct {
	goroutines int
	heap       uint64
}

func measure() measurement {
	runtime.GC()
	runtime.GC() // what the first one made free is counted by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return measurement{runtime.NumGoroutine(), m.HeapAlloc}
}

// settle measures until all goroutines that are on their way out are gone, but not
// for ever. It polls: the runtime does not report the end of a goroutine.
func settle(before measurement) measurement {
	after := measure()
	for deadline := time.Now().Add(10 * time.Second); after.goroutines > before.goroutines && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
		after = measure()
	}
	return after
}

func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

func mib(n uint64) float64 { return float64(n) / (1 << 20) }
