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
	cmd := c.command(ctx, "-mode", "agent")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(in, initializeLine); err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	took := time.Since(begin)
	if err != nil {
		return 0, fmt.Errorf("reading the answer: %w", err)
	}
	if !strings.Contains(line, `"result"`) {
		return 0, fmt.Errorf("answer %s", line)
	}
	if err := in.Close(); err != nil {
		return 0, err
	}
	if err := cmd.Wait(); err != nil {
		return 0, fmt.Errorf("ending: %w", err)
	}
	return took, nil
}

// starts measures the start of every contender, alternating.
func (r Results) starts(ctx context.Context, w io.Writer, contenders []Contender, rounds int) {
	for round := range rounds {
		for i := range contenders {
			c := contenders[(i+round)%len(contenders)]
			if !c.whole() {
				continue
			}
			key := Key{"start", "stdio", c.Name}
			took, err := startOnce(ctx, c)
			res := work.Result{Contender: c.Name, Wall: took.Seconds()}
			if err != nil {
				res.Failure = err.Error()
				fmt.Fprintf(w, "start %s: %v\n", c.Name, err)
				r[key] = []work.Result{res}
				continue
			}
			r[key] = append(r[key], res)
		}
	}
}

// idleCounts are the numbers of idle connections that are weighed.
var idleCounts = []int{1, 100, 1000}

// idle measures the memory of idle connections of every contender.
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
			if !c.Go || !c.whole() {
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

// payloads returns the growth of the live heap of the two processes, in sizes of the file.
func (c Case) payloads(res work.Result) (client, agent float64) {
	return float64(res.Client.Live) / float64(c.Size), float64(res.Agent.Live) / float64(c.Size)
}
