package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		in   []float64
		want float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{3, 1}, 2},
		{[]float64{9, 1, 2}, 2},
	} {
		assert.Equal(t, tt.want, median(tt.in), "%v", tt.in)
	}
}

func TestRatioPairsRounds(t *testing.T) {
	r := Results{
		{"rtt", "pair", "acpkit"}: {{Wall: 1}, {Wall: 10}, {Wall: 2}},
		{"rtt", "pair", "coder"}:  {{Wall: 2}, {Wall: 20}, {Wall: 6}},
		{"rtt", "pair", "ts"}:     {{Failure: "closed"}},
	}
	assert.Equal(t, 2.0, r.ratio(Key{"rtt", "pair", "acpkit"}, "coder"))
	assert.Zero(t, r.ratio(Key{"rtt", "pair", "acpkit"}, "ts"), "a failed contender has no ratio")
	assert.Zero(t, r.ratio(Key{"rtt", "pair", "acpkit"}, "plain"), "nor has one that was left out")
}

func TestFloors(t *testing.T) {
	r := Results{
		{"rtt64", "pair", "acpkit"}:    {{Wall: 1}},
		{"rtt64", "pair", "coder"}:     {{Wall: 1.5}},
		{"idle-1", "pair", "acpkit"}:   {{Heap: 20 << 10, Goroutines: 3}},
		{"updates", "stdio", "acpkit"}: {{Spec: work.Spec{N: 10}, Wall: 1, Client: work.Counters{Mallocs: 110}}},
		{"updates", "ws", "acpkit"}:    {{Spec: work.Spec{N: 5}, Wall: 1}},
		{"updates", "ws", "ts"}:        {{Wall: 4.9}},
		{"updates", "http", "acpkit"}:  {{Wall: 1}},
		{"updates", "http", "ts"}:      {{Wall: 2.9}},
	}
	verdicts := map[string]string{}
	for _, f := range r.floors() {
		if f.Measured {
			verdicts[f.What] = f.Got
			assert.Equal(t, strings.HasPrefix(f.What, "1 idle"), f.Met, f.What)
		}
	}
	assert.Equal(t, map[string]string{
		"rtt64, one process: times as fast as coder":                  "1.5",
		"updates: allocations an update, receiving side":              "11.0",
		"updates, two processes, over WebSocket: times as fast as ts": "4.9",
		"updates, two processes, over HTTP: times as fast as ts":      "2.9",
		"1 idle connections: KiB of heap for one end":                 "20.0",
		"1 idle connections: goroutines of one end":                   "3.0",
	}, verdicts)
	assert.Equal(t, "2.0 times as long", r.againstStdio(Key{"updates", "ws", "acpkit"}), "a message")
	assert.Empty(t, r.againstStdio(Key{"updates", "ws", "ts"}))
}

// A look with small counts, for which a machine is warm or not, says nothing about the floors.
func TestQuickJudgesNoFloors(t *testing.T) {
	r := Results{
		{"rtt64", "pair", "acpkit"}: {{Wall: 1}},
		{"rtt64", "pair", "coder"}:  {{Wall: 1.5}},
	}
	for _, quick := range []bool{false, true} {
		var out strings.Builder
		r.report(&out, nil, nil, options{rounds: 1, quick: quick})
		assert.Equal(t, !quick, strings.Contains(out.String(), "missed"), out.String())
		assert.Equal(t, quick, strings.Contains(out.String(), "not judged"))
	}
}
