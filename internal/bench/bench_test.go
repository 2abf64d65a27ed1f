package main

import (
	"context"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// contendersOf builds everything; where something is not installed it is left
// out, but not in CI, where a contender must not vanish unseen.
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
// SDK does, and reads saved measurements.
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

// TestMeasureFailure sees that a program that does not work is a failure, not a
// time.
func TestMeasureFailure(t *testing.T) {
	res := measure(context.Background(), Contender{Name: "go", argv: []string{"go", "version"}}, nil)
	assert.NotEmpty(t, res.Failure)
}
