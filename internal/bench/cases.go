package main

import (
	"fmt"
	"strconv"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// A Case is one line of work that all contenders do.
type Case struct {
	Name string
	work.Spec
}

// The counts of a full run.
var cases = []Case{
	{"rtt", work.Spec{Work: "rtt", N: 30_000}},
	{"rtt64", work.Spec{Work: "rtt64", N: 100_000}},
	{"updates", work.Spec{Work: "updates", N: 200_000}},
	{"updates-synced", work.Spec{Work: "updates", N: 200_000, Sync: 500}},
	{"mixed", work.Spec{Work: "mixed", N: 200_000}},
	{"mixed-synced", work.Spec{Work: "mixed", N: 200_000, Sync: 500}},
	{"read-ascii-1M", work.Spec{Work: "read", N: 100, Kind: "ascii", Size: 1 << 20}},
	{"read-go-1M", work.Spec{Work: "read", N: 100, Kind: "go", Size: 1 << 20}},
	{"read-ascii-10M", work.Spec{Work: "read", N: 20, Kind: "ascii", Size: 10 << 20}},
	{"read-go-10M", work.Spec{Work: "read", N: 20, Kind: "go", Size: 10 << 20}},
	{"load", work.Spec{Work: "load", N: 100_000}},
	{"busy", work.Spec{Work: "busy", N: 400}},
}

// quick shrinks the case for a look or a test.
func (c Case) quick() Case {
	c.N = max(1, c.N/100)
	if c.Work == "busy" {
		c.N = 40
	}
	if c.Work == "read" {
		c.N = 2
	}
	return c
}

// remote shrinks the case for the network: every call of ts over HTTP makes the next
// ones slower, and 5000 of them take half a minute.
func (c Case) remote(mode string) Case {
	part := map[string]map[string]int{
		"ws":   {"rtt": 20, "rtt64": 20, "read": 4, "updates": 4, "mixed": 4},
		"http": {"rtt": 20, "rtt64": 100, "read": 4, "updates": 10, "mixed": 10},
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
	return fmt.Sprintf("%.2f µs", seconds*1e6/float64(c.N))
}
