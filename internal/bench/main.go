// Command bench does the same work on this SDK and on others, side by side, and
// prints one table. Run it in its own folder:
//
//	go run .                        everything; writes RESULTS.md
//	go run . -quick                 everything with small counts, once; floors are not judged
//	go run . -work updates,rtt64 -contender acpkit,coder -mode stdio -n 3
//	go run . -continue all.json     everything, and what an earlier run has put into the file is not made again
//	go run . -work growth           how the cost of the agent kit grows with what is stored, alone
//
// A run builds one program for each contender (peers/..., and ts/peer.mjs with
// node) and starts a fresh process for every measurement. In every round each
// contender has its turn, beginning with another one each time, so that a
// machine that becomes slower or faster does so for all. The tables show
// medians; a ratio is the median of the rounds' ratios.
//
// Mode "pair" has both ends in one process, over stream.Pipe (acpkit), io.Pipe
// (the other Go programs and acpkit-io) or TransformStreams (ts).
// Mode "stdio" has them in two processes, "ws" and "http" over
// the loopback interface. acpkit-turn prompts with Session and
// Turn instead of the plain call, and acpkit-v2 speaks version 2 of the protocol.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/bench/growth"
)

// options are the flags.
type options struct {
	works, contenders, modes string
	rounds                   int
	quick                    bool
	out, file                string
}

// whole reports whether nothing is left out.
func (o options) whole() bool {
	return o.works == "" && o.contenders == "" && o.modes == "" && !o.quick
}

func main() {
	var o options
	flag.StringVar(&o.works, "work", "", "only these works, separated by commas (also: start, idle, heap, curves)")
	flag.StringVar(&o.contenders, "contender", "", "only these contenders, separated by commas")
	flag.StringVar(&o.modes, "mode", "", "only this mode: pair, stdio, ws or http")
	flag.IntVar(&o.rounds, "n", 5, "rounds")
	flag.BoolVar(&o.quick, "quick", false, "small counts and one round; floors are not judged")
	flag.StringVar(&o.out, "o", "", "write the tables to this `file` too (a whole run writes RESULTS.md)")
	flag.StringVar(&o.file, "continue", "", "keep all measurements in this `file`, and make those that it lacks")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.quick {
		o.rounds = 1
	}
	if o.works == "growth" {
		return growth.Run(ctx, os.Stdout, o.quick)
	}
	if o.whole() && o.out == "" {
		o.out = "RESULTS.md"
	}
	dir, err := os.MkdirTemp("", "acpkit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	contenders, missing, err := build(ctx, dir, list(o.contenders, names))
	if err != nil {
		return err
	}
	for name, err := range missing {
		fmt.Fprintf(os.Stderr, "%s is left out: %v\n", name, err)
	}
	results := Results{}
	if o.file != "" {
		if err := results.load(o.file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	shown, err := o.measure(ctx, os.Stderr, results, contenders)
	if err != nil {
		return err
	}
	out := io.Writer(os.Stdout)
	if o.out != "" {
		f, err := os.Create(o.out)
		if err != nil {
			return err
		}
		defer f.Close()
		out = io.MultiWriter(os.Stdout, f)
	}
	results.report(out, contenders, shown, o)
	return nil
}

// measure adds to results what the flags select, and returns the works of it. A run that is stopped loses the
// rounds of one work.
func (o options) measure(ctx context.Context, w io.Writer, results Results, contenders []Contender) ([]Case, error) {
	want := list(o.works, nil)
	wants := func(name string) bool { return len(want) == 0 || slices.Contains(want, name) }
	keep := func() error {
		if err := ctx.Err(); err != nil || o.file == "" {
			return err
		}
		return results.save(o.file)
	}
	var shown []Case
	for _, c := range cases {
		if !wants(c.Name) {
			continue
		}
		if o.quick {
			c = c.quick()
		}
		shown = append(shown, c)
		for _, mode := range list(o.modes, slices.Concat(modes, remoteModes)) {
			of := c
			if slices.Contains(remoteModes, mode) {
				of = c.remote(mode)
			}
			results.alternate(ctx, w, contenders, of, mode, o.rounds)
			if err := keep(); err != nil {
				return nil, err
			}
		}
	}
	for _, part := range []struct {
		name string
		run  func()
	}{
		{"start", func() { results.starts(ctx, w, contenders, 4*o.rounds) }},
		{"idle", func() { results.idle(ctx, w, contenders) }},
		{"heap", func() { results.heaps(ctx, w, contenders) }},
		{"curves", func() { results.curves(ctx, w, contenders, o.rounds, o.quick) }},
	} {
		if !wants(part.name) {
			continue
		}
		part.run()
		if err := keep(); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

func list(s string, all []string) []string {
	if s == "" {
		return all
	}
	return strings.Split(s, ",")
}
