package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// A Case is one line of work that all contenders do.
type Case struct {
	Name string
	work.Spec
}

// The counts of a full run: acpkit in one process needs about a tenth of a second for each.
var cases = []Case{
	{"rtt", work.Spec{Work: "rtt", N: 20_000}},
	{"rtt64", work.Spec{Work: "rtt64", N: 60_000}},
	{"updates", work.Spec{Work: "updates", N: 100_000}},
	{"updates-synced", work.Spec{Work: "updates", N: 100_000, Sync: 500}},
	{"mixed", work.Spec{Work: "mixed", N: 60_000}},
	{"mixed-synced", work.Spec{Work: "mixed", N: 60_000, Sync: 500}},
	{"read-ascii-1M", work.Spec{Work: "read", N: 60, Kind: "ascii", Size: 1 << 20}},
	{"read-go-1M", work.Spec{Work: "read", N: 60, Kind: "go", Size: 1 << 20}},
	{"read-ascii-10M", work.Spec{Work: "read", N: 8, Kind: "ascii", Size: 10 << 20}},
	{"read-go-10M", work.Spec{Work: "read", N: 8, Kind: "go", Size: 10 << 20}},
	{"load", work.Spec{Work: "load", N: 100_000}},
}

// of returns the case as the contender does it. The slow Go libraries do a fifth: all tables show the cost of one. What
// the sender runs ahead with stays, because it is what their queues must hold, and so does everything of ts: it compiles
// while it runs, and with fewer messages that would count more.
func (c Case) of(peer Contender) Case {
	if peer.slow && c.Name != "updates" && c.Name != "mixed" && c.Name != "load" {
		c.N = max(2, c.N/5)
	}
	return c
}

// quick shrinks the case for a look or a test.
func (c Case) quick() Case {
	c.N = max(1, c.N/100)
	if c.Work == "read" {
		c.N = 2
	}
	return c
}

// remote shrinks the case for the network: every call of ts over HTTP makes the next
// ones slower, and 5000 of them take half a minute.
func (c Case) remote(mode string) Case {
	part := map[string]map[string]int{
		"ws":   {"rtt": 10, "rtt64": 3, "read": 2, "updates": 2, "mixed": 2},
		"http": {"rtt": 20, "rtt64": 60, "read": 2, "updates": 3, "mixed": 3},
	}
	c.N = max(1, c.N/max(1, part[mode][c.Work]))
	return c
}

// args are the flags of a peer program.
func (c Case) args(mode string) []string {
	return []string{
		"-mode", mode, "-work", c.Work, "-n", strconv.Itoa(c.N), "-sync", strconv.Itoa(c.Sync),
		"-kind", c.Kind, "-size", strconv.Itoa(c.Size), "-sessions", strconv.Itoa(max(c.Sessions, 1)),
	}
}

// cost formats a time for the tables: microseconds a message, or megabytes a second for reads.
func (c Case) cost(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	if c.Work == "read" {
		return fmt.Sprintf("%.0f MB/s", float64(c.N)*float64(c.Size)/1e6/seconds)
	}
	return c.took(seconds)
}

// took formats the time of one message, call or read.
func (c Case) took(seconds float64) string {
	one := seconds / float64(c.N)
	if one < 1e-3 {
		return fmt.Sprintf("%.2f µs", one*1e6)
	}
	return fmt.Sprintf("%.2f ms", one*1e3)
}

// A Curve shows how the cost of a message depends on one quantity.
type Curve struct {
	Name   string
	Of     string // what grows
	Points []Case
	// Flat is the floor: the most that the last point may cost, compared with the
	// point Base.
	Flat float64
	Base int
}

var curves = []Curve{
	{Name: "updates", Of: "updates in a turn", Flat: 1.5, Base: 1, Points: points("updates", []int{1_000, 10_000, 100_000, 1_000_000},
		func(n int) work.Spec { return work.Spec{Work: "updates", N: n} })},
	{Name: "sessions", Of: "sessions that share 200 000 updates of one prompt", Flat: 1.5, Base: 1, Points: points("sessions", []int{1, 10, 100, 1000},
		func(n int) work.Spec { return work.Spec{Work: "spread", N: 200_000, Sessions: n} })},
	{Name: "prompts", Of: "prompts at once that share 200 000 updates", Flat: 1.5, Base: 1, Points: points("prompts", []int{1, 10, 100, 1000},
		func(n int) work.Spec { return work.Spec{Work: "updates", N: 200_000, Sessions: n} })},
	{Name: "size", Of: "bytes of a file", Flat: 1.5, Base: 2, Points: points("size", []int{1_000, 10_000, 100_000, 1_000_000, 10_000_000, 30_000_000},
		func(n int) work.Spec {
			return work.Spec{Work: "read", Kind: "ascii", Size: n, N: min(2000, max(10, 100_000_000/n))}
		})},
}

func points(name string, xs []int, spec func(int) work.Spec) []Case {
	var all []Case
	for _, x := range xs {
		all = append(all, Case{fmt.Sprintf("curve-%s-%d", name, x), spec(x)})
	}
	return all
}

// each is the cost of one unit of a point: a message, or a byte of a file.
func (c Case) each(seconds float64) float64 {
	if c.Work == "read" {
		return seconds / float64(c.N) / float64(c.Size)
	}
	return seconds / float64(c.N)
}

// curves measures the points for acpkit alone.
func (r Results) curves(ctx context.Context, w io.Writer, contenders []Contender, rounds int, quick bool) {
	acpkit := only(contenders, func(c Contender) bool { return c.Name == "acpkit" })
	for _, curve := range curves {
		for _, mode := range modes {
			for _, p := range curve.Points {
				if quick {
					p = p.quick()
				}
				r.alternate(ctx, w, acpkit, p, mode, rounds)
			}
		}
	}
}

// growth compares the cost of the last point of a curve with its base.
func (r Results) growth(curve Curve, mode string) float64 {
	cost := func(p Case) float64 {
		return p.each(r.median(Key{p.Name, mode, "acpkit"}, wall))
	}
	base := cost(curve.Points[curve.Base])
	if base == 0 {
		return 0
	}
	return cost(curve.Points[len(curve.Points)-1]) / base
}
