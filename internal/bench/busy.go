package main

import (
	"fmt"
	"io"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// busyMost is how many milliseconds 99 of 100 messages may take at most while all
// processors compute.
const busyMost = 20

// busyTimes are what the work "busy" measures.
var busyTimes = []struct {
	name string
	of   func(work.Busy) work.Wait
}{
	{"update", func(b work.Busy) work.Wait { return b.Update }},
	{"call", func(b work.Busy) work.Wait { return b.Call }},
}

// busyMs is the median over the rounds, in milliseconds.
func (r Results) busyMs(k Key, f func(work.Busy) float64) float64 {
	return 1e3 * r.median(k, func(res work.Result) float64 {
		if res.Busy == nil {
			return 0
		}
		return f(*res.Busy)
	})
}

// busyTable shows how long messages take while all processors compute.
func (r Results) busyTable(w io.Writer, contenders []Contender) {
	t := &table{}
	t.row("ends in", "contender", "update p50 ms", "p99 ms", "call p50 ms", "p99 ms")
	for _, mode := range modes {
		for _, peer := range contenders {
			key := Key{"busy", mode, peer.Name}
			if !r.ok(key) {
				continue
			}
			row := []string{modeName[mode], peer.Name}
			for _, x := range busyTimes {
				row = append(row,
					fmt.Sprintf("%.3f", r.busyMs(key, func(b work.Busy) float64 { return x.of(b).P50 })),
					fmt.Sprintf("%.2f", r.busyMs(key, func(b work.Busy) float64 { return x.of(b).P99 })))
			}
			t.row(row...)
		}
	}
	t.write(w)
}

// busyFloors compares them with the best of the others and with busyMost.
func (r Results) busyFloors(most func(what, format string, x, limit float64, measured bool)) {
	for _, mode := range modes {
		key := Key{"busy", mode, "acpkit"}
		for _, x := range busyTimes {
			p50 := func(b work.Busy) float64 { return x.of(b).P50 }
			best := 0.0
			for _, other := range []string{"coder", "ts"} {
				o := Key{"busy", mode, other}
				if ms := r.busyMs(o, p50); r.ok(o) && (best == 0 || ms < best) {
					best = ms
				}
			}
			most(fmt.Sprintf("busy, %s: %s p50 in ms, against the best of coder and ts", modeName[mode], x.name),
				"%.3f", r.busyMs(key, p50), best, r.ok(key) && best > 0)
			most(fmt.Sprintf("busy, %s: %s p99 in ms", modeName[mode], x.name),
				"%.2f", r.busyMs(key, func(b work.Busy) float64 { return x.of(b).P99 }), busyMost, r.ok(key))
		}
	}
}
