package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

// contendersOf builds all contenders. It leaves out those that are not installed, except in CI.
func contendersOf(t *testing.T) []Contender {
	t.Helper()
	all, missing, err := build(t.Context(), t.TempDir(), names)
	require.NoError(t, err)
	for name, err := range missing {
		if os.Getenv("CI") != "" {
			require.NoErrorf(t, err, "contender %s", name)
		}
		t.Logf("contender %s is left out: %v", name, err)
	}
	return all
}

// TestWorks runs every work once with few messages: the counts and text lengths
// must be right, times are not judged.
func TestWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: this test starts some hundred processes")
	}
	contenders := contendersOf(t)
	for _, c := range cases {
		c.N = min(c.N, 200)
		if c.Work == "read" {
			c.N = 1
		}
		for _, mode := range modes {
			t.Run(c.Name+"/"+mode, func(t *testing.T) {
				results := Results{}
				results.alternate(t.Context(), io.Discard, contenders, c, mode, 1)
				for _, peer := range contenders {
					if !peer.does(c, mode) || tooLong(peer, c) {
						continue
					}
					got := results[Key{c.Name, mode, peer.Name}]
					require.Lenf(t, got, 1, "results of %s", peer.Name)
					assert.Emptyf(t, got[0].Failure, "failure of %s", peer.Name)
					assert.Positivef(t, got[0].Wall, "time of %s", peer.Name)
					if mode == "stdio" {
						assert.Positivef(t, got[0].Agent.CPU, "CPU time of the agent of %s", peer.Name)
					}
				}
			})
		}
	}
}

// tooLong reports whether the contender is known to give up on lines that long.
func tooLong(c Contender, of Case) bool { return c.Name == "coder" && of.Size >= 10<<20 }

// TestSessions shares the updates among prompts that run at once.
func TestSessions(t *testing.T) {
	contenders := contendersOf(t)
	c := curves[2].Points[2]
	c.N = 300
	results := Results{}
	results.alternate(t.Context(), io.Discard, contenders, c, "pair", 1)
	for _, peer := range contenders {
		if !peer.does(c, "pair") {
			continue
		}
		got := results[Key{c.Name, "pair", peer.Name}]
		require.Lenf(t, got, 1, "results of %s", peer.Name)
		assert.Emptyf(t, got[0].Failure, "failure of %s", peer.Name)
	}
}

// TestSpread shares the updates of one prompt among sessions, as only the curve of this
// SDK does, and goes on after saved measurements.
func TestSpread(t *testing.T) {
	contenders := contendersOf(t)
	i := slices.IndexFunc(contenders, func(c Contender) bool { return c.Name == "acpkit" })
	c := curves[1].Points[2]
	c.N = 300
	results := Results{}
	for _, mode := range modes {
		results.alternate(t.Context(), io.Discard, contenders[i:i+1], c, mode, 2)
		assert.Truef(t, results.ok(Key{c.Name, mode, "acpkit"}), "%v", results)
	}
	file := t.TempDir() + "/saved"
	require.NoError(t, results.save(file))
	again := Results{}
	require.NoError(t, again.load(file))
	assert.Equal(t, results, again)
	var told strings.Builder
	for _, mode := range modes {
		again.alternate(t.Context(), &told, contenders[i:i+1], c, mode, 2)
	}
	assert.Empty(t, told.String(), "it is not measured again")
}

// TestStartAndMemory runs the measurements that are not works.
func TestStartAndMemory(t *testing.T) {
	contenders := contendersOf(t)
	results := Results{}
	results.starts(t.Context(), io.Discard, contenders, 1)
	for _, c := range contenders {
		if c.whole() {
			assert.Truef(t, results.ok(Key{"start", "stdio", c.Name}), "start of %s", c.Name)
		}
		res := measure(t.Context(), c, []string{"-mode", "idle", "-n", "3"})
		assert.Emptyf(t, res.Failure, "idle connections of %s", c.Name)
	}
}

// A program that fails has a failure and no time.
func TestMeasureFailure(t *testing.T) {
	res := measure(context.Background(), Contender{Name: "go", argv: []string{"go", "version"}}, nil)
	assert.NotEmpty(t, res.Failure)
}

// A contender that fails now and then has the numbers of its other rounds; one that fails twice at first is not tried
// again. The report tells both.
func TestRoundsThatFail(t *testing.T) {
	now, never := Contender{Name: "coder"}, Contender{Name: "plain"}
	runs := map[string]int{}
	r := Results{}
	r.rounds(io.Discard, []Contender{now, never}, 5, "load", "pair", func(c Contender) work.Result {
		runs[c.Name]++
		if c.Name == "plain" || runs[c.Name] == 1 {
			return work.Result{Failure: "closed"}
		}
		return work.Result{Spec: work.Spec{N: 10}, Wall: float64(runs[c.Name])}
	}, func(work.Result) string { return "" })
	assert.Equal(t, map[string]int{"coder": 5, "plain": 2}, runs)
	assert.Equal(t, 3.5, r.median(Key{"load", "pair", "coder"}, wall))
	var out strings.Builder
	r.report(&out, []Contender{now, never}, cases, options{rounds: 5})
	assert.Regexp(t, `load +\| coder +\| 10 +\| 350.00 ms`, out.String())
	assert.Regexp(t, `load +\| plain +\| failed`, out.String())
	assert.Contains(t, out.String(), "- coder, load, one process, 1 of 5: `closed`")
	assert.Contains(t, out.String(), "- plain, load, one process, 2 of 2: `closed`")
}

// The slow Go libraries do less, but what their queues must hold stays.
func TestSlowContendersDoLess(t *testing.T) {
	slow := Contender{Name: "plain", slow: true}
	for _, c := range cases {
		least := c.N / 5
		if c.Name == "updates" || c.Name == "mixed" || c.Name == "load" {
			least = c.N
		}
		assert.Equal(t, max(2, least), c.of(slow).N, c.Name)
		assert.Equal(t, c.N, c.of(Contender{Name: "acpkit"}).N, c.Name)
	}
}

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
		{"rtt", "pair", "acpkit"}:      {{Wall: 1}, {Wall: 10}, {Wall: 2}},
		{"rtt", "pair", "acpkit-turn"}: {{Failure: "closed", Wall: 1}, {Wall: 40}, {Wall: 9}},
		{"rtt", "pair", "coder"}:       {{Wall: 2}, {Wall: 20}, {Wall: 6}},
		{"rtt", "pair", "ts"}:          {{Failure: "closed"}},
		{"load", "pair", "acpkit"}:     {{Spec: work.Spec{N: 100}, Wall: 1}},
		{"load", "pair", "coder"}:      {{Spec: work.Spec{N: 20}, Wall: 1}},
	}
	assert.Equal(t, 4.25, r.ratio(Key{"rtt", "pair", "acpkit"}, "acpkit-turn"), "a round that failed is left out")
	assert.Equal(t, 5.0, r.ratio(Key{"load", "pair", "acpkit"}, "coder"), "the cost of one is compared")
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
		{"updates", "ws", "ts"}:        {{Spec: work.Spec{N: 50}, Wall: 49}},
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

// A quick run does not judge the floors.
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
