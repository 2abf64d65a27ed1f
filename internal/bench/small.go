package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

const initializeLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}` + "\n"

// startOnce is the time from starting the contender's agent to its answer to
// initialize.
func startOnce(ctx context.Context, c Contender) (time.Duration, error) {
	begin := time.Now()
	child, err := work.Start(c.command(ctx, "-mode", "agent"))
	if err != nil {
		return 0, err
	}
	if _, err := io.WriteString(child, initializeLine); err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(child).ReadString('\n')
	took := time.Since(begin)
	if err != nil {
		return 0, fmt.Errorf("reading the answer: %w", err)
	}
	if !strings.Contains(line, `"result"`) {
		return 0, fmt.Errorf("answer %s", line)
	}
	if err := child.Close(); err != nil {
		return 0, fmt.Errorf("ending: %w", err)
	}
	return took, nil
}

// starts measures the start of every contender, alternating.
func (r Results) starts(ctx context.Context, w io.Writer, contenders []Contender, rounds int) {
	run := func(c Contender) work.Result {
		took, err := startOnce(ctx, c)
		res := work.Result{Contender: c.Name, Wall: took.Seconds()}
		if err != nil {
			res.Failure = err.Error()
		}
		return res
	}
	shown := func(res work.Result) string { return fmt.Sprintf("%.1f ms", res.Wall*1e3) }
	r.rounds(w, only(contenders, Contender.whole), rounds, "start", "stdio", run, shown)
}

// idleCounts are the numbers of idle connections that are weighed.
var idleCounts = []int{1, 100, 1000}

// idle measures the memory of idle connections of every contender.
func (r Results) idle(ctx context.Context, w io.Writer, contenders []Contender) {
	for _, n := range idleCounts {
		run := func(c Contender) work.Result {
			return measure(ctx, c, []string{"-mode", "idle", "-n", strconv.Itoa(n)})
		}
		shown := func(res work.Result) string {
			return fmt.Sprintf("%.1f KiB, %.1f goroutines", res.Heap/1024, res.Goroutines)
		}
		r.rounds(w, only(contenders, Contender.whole), 1, fmt.Sprintf("idle-%d", n), "pair", run, shown)
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
		run := func(c Contender) work.Result {
			// A collection that runs beside the program counts what is dropped or
			// made meanwhile as alive; one that stops it is exact.
			c.env = append(c.env, work.HeapEnv+"=1", "GODEBUG=gcstoptheworld=1")
			return measure(ctx, c, hc.args("stdio"))
		}
		shown := func(res work.Result) string {
			client, agent := hc.payloads(res)
			return fmt.Sprintf("%.2f payloads in the client, %.2f in the agent", client, agent)
		}
		r.rounds(w, only(contenders, func(c Contender) bool { return c.Go && c.whole() }), 1, hc.Name, "stdio", run, shown)
	}
}

// payloads returns the growth of the live heap of the two processes, in sizes of the file.
func (c Case) payloads(res work.Result) (client, agent float64) {
	return float64(res.Client.Live) / float64(c.Size), float64(res.Agent.Live) / float64(c.Size)
}
