package main

import (
	"fmt"
	"io"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// A Floor is one promise about speed or size, and what was measured.
type Floor struct {
	What     string
	Want     string
	Got      string
	Met      bool
	Measured bool
}

// floors compares the results with what the SDK promises.
func (r Results) floors() []Floor {
	var all []Floor
	add := func(f Floor) { all = append(all, f) }
	ratio := func(name, mode, other string, least float64) {
		x := r.ratio(Key{name, mode, "acpkit"}, other)
		add(Floor{
			What: fmt.Sprintf("%s, %s: times as fast as %s", name, modeName[mode], other),
			Want: fmt.Sprintf("≥ %.1f", least), Got: fmt.Sprintf("%.1f", x), Met: x >= least, Measured: x > 0,
		})
	}
	most := func(what, format string, x, limit float64, measured bool) {
		add(Floor{What: what, Want: fmt.Sprintf("≤ "+format, limit), Got: fmt.Sprintf(format, x), Met: x <= limit, Measured: measured})
	}

	for _, name := range []string{"updates", "mixed"} {
		ratio(name+"-synced", "pair", "coder", 12)
		ratio(name, "pair", "ts", 8)
		ratio(name+"-synced", "stdio", "coder", 8)
		ratio(name, "stdio", "ts", 8)
		key := Key{name, "stdio", "acpkit"}
		most(name+": allocations an update, receiving side", "%.1f",
			r.median(key, func(x work.Result) float64 { return float64(x.Client.Mallocs) / float64(x.N) }), 10, r.ok(key))
	}
	ratio("rtt64", "pair", "coder", 5)
	ratio("rtt64", "stdio", "coder", 2)
	ratio("rtt", "pair", "coder", 3.5)
	for _, other := range []string{"coder", "ts", "plain"} {
		ratio("rtt", "stdio", other, 1)
	}
	for _, mode := range modes {
		ratio("read-ascii-1M", mode, "coder", 5)
	}
	ratio("read-ascii-1M", "pair", "ts", 1.5)
	ratio("read-ascii-1M", "stdio", "ts", 2)
	ratio("read-go-1M", "pair", "coder", 4)
	ratio("read-go-1M", "stdio", "coder", 3)
	for _, mode := range modes {
		ratio("read-go-1M", mode, "ts", 2.3)
		ratio("read-ascii-10M", mode, "ts", 1.3)
		ratio("read-go-10M", mode, "ts", 2)
	}
	ratio("updates", "ws", "ts", 5)
	ratio("updates", "http", "ts", 3)
	for _, mode := range modes {
		x := r.ratio(Key{"updates-synced", mode, "acpkit"}, "acpkit-v2")
		most(fmt.Sprintf("updates-synced, %s: time of version 2 in that of version 1", modeName[mode]), "%.2f", x, 1.1, x > 0)
	}
	for _, c := range heapCases {
		key := Key{c.Name, "stdio", "acpkit"}
		var client, agent float64
		if r.ok(key) {
			client, agent = c.payloads(r.first(key))
		}
		most(c.Name+": live heap of the client in payloads", "%.2f", client, 3, r.ok(key))
		most(c.Name+": live heap of the agent in payloads", "%.2f", agent, 3, r.ok(key))
	}
	for _, curve := range curves {
		for _, mode := range modes {
			x := r.growth(curve, mode)
			most(fmt.Sprintf("curve %s, %s: last point against the %s", curve.Name, modeName[mode], ordinal[curve.Base]),
				"%.2f", x, curve.Flat, x > 0)
		}
	}
	key := Key{"start", "stdio", "acpkit"}
	most("start to the initialize answer, ms", "%.1f", r.median(key, wall)*1e3, 15, r.ok(key))
	for _, n := range idleCounts {
		key := Key{fmt.Sprintf("idle-%d", n), "pair", "acpkit"}
		var res work.Result
		if r.ok(key) {
			res = r.first(key)
		}
		most(fmt.Sprintf("%d idle connections: KiB of heap for one end", n), "%.1f", res.Heap/1024, 32, r.ok(key))
		most(fmt.Sprintf("%d idle connections: goroutines of one end", n), "%.1f", res.Goroutines, 4, r.ok(key))
	}
	return all
}

var ordinal = []string{"first", "second", "third"}

var modes = []string{"pair", "stdio"}

// remoteModes are two processes over the loopback interface.
var remoteModes = []string{"ws", "http"}

var modeName = map[string]string{"pair": "one process", "stdio": "two processes", "ws": "two processes, over WebSocket", "http": "two processes, over HTTP"}

// stopped says why a floor was missed when it last was. It is printed only where one is missed.
var stopped = map[string]string{
	"rtt64, one process: times as fast as coder": `counted in CPU time it is 5.0 times. The two processors are
busy for four fifths of the time: the callers of a batch become ready one after the other.
`,
	"mixed, two processes: times as fast as ts": `the collector of the client runs often, because a client that only receives has
a small heap: with GOGC=400 in both processes an update takes 0.81 times the CPU time. Neither buffers of lines that are used
again nor writes of 256 KiB in place of 64 KiB make it less.
`,
	"updates-synced, one process: time of version 2 in that of version 1":   messageID,
	"updates-synced, two processes: time of version 2 in that of version 1": messageID,
}

const messageID = `a chunk of version 2 must name its message, so each update has a member more,
messageId, which is encoded, read and checked. With the same member in the updates of version 1, where it is optional, version 2
takes 0.93 to 0.98 times as long.
`

// explain writes what stopped the floors that were missed.
func (r Results) explain(w io.Writer) {
	begun := false
	for _, f := range r.floors() {
		if !f.Measured || f.Met || stopped[f.What] == "" {
			continue
		}
		if !begun {
			fmt.Fprint(w, "## What stopped the missed ones\n\n")
			begun = true
		}
		fmt.Fprintf(w, "**%s**: %s\n", f.What, stopped[f.What])
	}
}
