package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// idleCounts are the numbers of idle connections that are weighed.
var idleCounts = []int{1, 100, 1000}

// idle weighs idle connections of every contender.
func (r Results) idle(ctx context.Context, w io.Writer, contenders []Contender) {
	for _, n := range idleCounts {
		for _, c := range contenders {
			if !c.whole() {
				continue
			}
			res := measure(ctx, c, []string{"-mode", "idle", "-n", strconv.Itoa(n)})
			if res.Failure != "" {
				fmt.Fprintf(w, "idle-%d %s: %s\n", n, c.Name, res.Failure)
			} else {
				fmt.Fprintf(w, "idle-%d %s: %.1f KiB, %.1f goroutines\n", n, c.Name, res.Heap/1024, res.Goroutines)
			}
			key := Key{fmt.Sprintf("idle-%d", n), "pair", c.Name}
			r[key] = []work.Result{res}
		}
	}
}

// heapCases are the reads during which the live heap is watched.
var heapCases = []Case{
	{"heap-1M", work.Spec{Work: "read", N: 20, Kind: "ascii", Size: 1 << 20}},
	{"heap-10M", work.Spec{Work: "read", N: 10, Kind: "ascii", Size: 10 << 20}},
	{"heap-go-10M", work.Spec{Work: "read", N: 10, Kind: "go", Size: 10 << 20}},
}

// heaps finds the largest live heap of the Go contenders in two processes.
func (r Results) heaps(ctx context.Context, w io.Writer, contenders []Contender) {
	for _, hc := range heapCases {
		for _, c := range contenders {
			if !c.Go || !c.whole() || c.Name == "raw" { // the floor holds an encoded copy of every file
				continue
			}
			// A collection that runs beside the program counts what is dropped or
			// made meanwhile as alive; one that stops it is exact.
			c.env = append(c.env, work.HeapEnv+"=1", "GODEBUG=gcstoptheworld=1")
			res := measure(ctx, c, hc.args("stdio"))
			key := Key{hc.Name, "stdio", c.Name}
			r[key] = []work.Result{res}
			if res.Failure != "" {
				fmt.Fprintf(w, "%s %s: %s\n", hc.Name, c.Name, res.Failure)
				continue
			}
			client, agent := hc.payloads(res)
			fmt.Fprintf(w, "%s %s: %.2f payloads in the client, %.2f in the agent\n", hc.Name, c.Name, client, agent)
		}
	}
}

// payloads tells how many times the content of a file the live heap of the two
// processes grew at most.
func (c Case) payloads(res work.Result) (client, agent float64) {
	return float64(res.Client.Live) / float64(c.Size), float64(res.Agent.Live) / float64(c.Size)
}
