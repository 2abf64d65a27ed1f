package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
