// Package work is what all contenders of the benchmark have in common: the messages, the tasks an
// agent carries out, the clock, and the counters. A contender adds only the calls of its library,
// so that differences in the results come from the libraries.
//
// A Go contender is a program (peers/...) that calls Main with its Contender;
// the TypeScript contender (ts/peer.mjs) does the same by hand. Every program
// understands the same flags and prints one Result as JSON:
//
//	peer -mode agent                       an agent over stdin and stdout
//	peer -mode stdio -work updates -n 1000 a client that starts such an agent
//	peer -mode pair  -work updates -n 1000 both ends in one process
//	peer -mode idle  -n 100                100 idle connections, both ends
package work

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"time"
)

// Timeout ends a run that hangs.
const Timeout = 10 * time.Minute

// Main is the main function of a Go contender.
func Main(c Contender) {
	mode := flag.String("mode", "pair", "agent, listen, stdio, pair, ws, http or idle")
	profile := flag.String("cpuprofile", "", "write a CPU profile of this process to `file`")
	var s Spec
	flag.StringVar(&s.Work, "work", "updates", "rtt, rtt64, updates, mixed, spread, read or load")
	flag.IntVar(&s.N, "n", 1000, "messages, calls, reads or connections")
	flag.StringVar(&s.Kind, "kind", "ascii", "content of a read: ascii or go")
	flag.IntVar(&s.Size, "size", 1<<20, "size of a read in bytes")
	flag.IntVar(&s.Sync, "sync", 0, "the agent calls the client after so many updates")
	flag.IntVar(&s.Sessions, "sessions", 1, "sessions that share the updates")
	flag.Parse()

	stop, err := startProfile(*profile)
	if err == nil && *mode == "agent" {
		watchHeap()
		err = c.Serve()
		stop()
	} else if err == nil && *mode == "listen" {
		err = c.Listen()
		stop()
	} else if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), Timeout)
		defer cancel()
		var res Result
		if *mode == "idle" {
			res, err = idle(ctx, c, s.N)
		} else {
			res, err = measure(ctx, c, *mode, s)
		}
		stop()
		res.Contender = c.Name
		if err != nil {
			res.Failure = err.Error()
			err = nil
		}
		if e := json.NewEncoder(os.Stdout).Encode(res); e != nil {
			err = e
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, c.Name+":", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, c Contender, mode string, s Spec) (Result, error) {
	env := &Env{Tally: NewTally(0), Files: map[string]string{}}
	if s.Work == "read" {
		env.Files[fmt.Sprintf("/bench/%s-%d", s.Kind, s.Size)] = File(s.Kind, s.Size)
	}
	watchHeap()
	var client Client
	var err error
	switch mode {
	case "pair":
		client, err = c.Pair(env)
	case "stdio":
		exe, e := os.Executable()
		if e != nil {
			return Result{Spec: s}, e
		}
		cmd := exec.Command(exe, "-mode", "agent", "-work", s.Work)
		cmd.Stderr = os.Stderr
		client, err = c.Spawn(cmd, env)
	case "ws", "http":
		client, err = dialChild(c, mode, env)
	default:
		err = fmt.Errorf("unknown mode %q", mode)
	}
	if err != nil {
		return Result{Spec: s}, err
	}
	res, err := Measure(ctx, client, env, s, mode != "pair")
	if e := client.Close(); e != nil && err == nil {
		err = fmt.Errorf("closing: %w", e)
	}
	return res, err
}

// idleFor is how long nothing happens before idle connections are weighed.
const idleFor = 3 * time.Second

// idle opens n connections with both ends in this process and weighs them.
func idle(ctx context.Context, c Contender, n int) (Result, error) {
	res := Result{Spec: Spec{Work: "idle", N: n}}
	weigh := func() (heap, goroutines float64) {
		time.Sleep(idleFor)
		for range 3 {
			runtime.GC()
		}
		return float64(liveHeap()), float64(runtime.NumGoroutine())
	}
	open := func() (Client, error) {
		client, err := c.Pair(&Env{Tally: NewTally(0)})
		if err != nil {
			return nil, err
		}
		return client, client.Initialize(ctx)
	}
	// The first connection is not counted: it pays what a process pays once.
	first, err := open()
	if err != nil {
		return res, err
	}
	clients := make([]Client, 0, n)
	heap, goroutines := weigh()
	for range n {
		client, err := open()
		if err != nil {
			return res, err
		}
		clients = append(clients, client)
	}
	heapAfter, goroutinesAfter := weigh()
	res.Heap = (heapAfter - heap) / float64(2*n)
	res.Goroutines = (goroutinesAfter - goroutines) / float64(2*n)
	for _, client := range append(clients, first) {
		if err := client.Close(); err != nil {
			return res, err
		}
	}
	return res, nil
}

func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}
