// Package leak finds goroutines that a test leaves behind.
package leak

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// module is the import path that marks the frames of this module.
const module = "github.com/acpkit/go-sdk"

// patience is how long goroutines may take to end. Tests of this package shorten it.
var patience = 5 * time.Second

// Check makes the test fail if goroutines of this module that it started still run when it ends.
// Call it first, so that it checks after all other clean-up. Goroutines that ran before are
// ignored. Tests that run in parallel with others cannot use it, because it cannot tell their
// goroutines apart; the test around parallel subtests can.
//
// In a synctest bubble it checks only the goroutines of the bubble, once all of them are durably
// blocked, and no time passes.
func Check(t testing.TB) {
	t.Helper()
	before := map[string]bool{}
	for _, g := range ours("") {
		before[g.id] = true
	}
	t.Cleanup(func() {
		left := remaining(before)
		for _, g := range left {
			t.Errorf("goroutine left behind:\n%s", g.stack)
		}
	})
}

// remaining returns the goroutines that do not end within patience. Outside of a bubble it polls,
// because the runtime does not report the end of a goroutine.
func remaining(before map[string]bool) []goroutine {
	self := current()
	if self.bubble != "" {
		synctest.Wait()
		return without(ours(self.bubble), before)
	}
	deadline := time.Now().Add(patience)
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 50*time.Millisecond) {
		left := without(ours(""), before)
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(pause)
	}
}

func without(all []goroutine, before map[string]bool) []goroutine {
	var left []goroutine
	for _, g := range all {
		if !before[g.id] {
			left = append(left, g)
		}
	}
	return left
}

// goroutine is one entry of a stack dump.
type goroutine struct {
	id     string
	bubble string // number of the synctest bubble; empty outside
	stack  string
}

// ours returns the goroutines with a frame of this module, except the caller's and those that run
// tests. If bubble is not empty, it returns only the goroutines of that bubble.
func ours(bubble string) []goroutine {
	self := current()
	var found []goroutine
	for _, g := range parse(dump(true)) {
		if g.id == self.id || g.bubble != bubble || !strings.Contains(g.stack, module) {
			continue
		}
		if runsTest(g.stack) {
			continue
		}
		found = append(found, g)
	}
	return found
}

// runsTest reports whether the goroutine belongs to package testing, which waits for it itself: it
// runs a test, a benchmark, a fuzz target or TestMain.
func runsTest(stack string) bool {
	for _, frame := range []string{
		"\ntesting.tRunner(", "\ntesting.(*B).runN(", "\ntesting.(*M).", "\ntesting.fRunner(",
		"\ntesting.runFuzzTests(", "\nmain.main(", "\ntesting.runExample(",
	} {
		if strings.Contains(stack, frame) {
			return true
		}
	}
	return false
}

func current() goroutine {
	all := parse(dump(false))
	if len(all) == 0 {
		return goroutine{}
	}
	return all[0]
}

func dump(all bool) []byte {
	for size := 64 << 10; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, all); n < size {
			return buf[:n]
		}
	}
}

// parse splits a dump of runtime.Stack. A header is "goroutine 7 [select, 2 minutes, synctest
// bubble 3]:".
func parse(dump []byte) []goroutine {
	var all []goroutine
	for block := range bytes.SplitSeq(dump, []byte("\n\n")) {
		stack := string(block)
		header, _, _ := strings.Cut(stack, "\n")
		rest, ok := strings.CutPrefix(header, "goroutine ")
		if !ok {
			continue
		}
		id, state, _ := strings.Cut(rest, " ")
		g := goroutine{id: id, stack: stack}
		if _, bubble, ok := strings.Cut(state, "synctest bubble "); ok {
			g.bubble = strings.TrimRight(bubble, "]:")
			g.bubble, _, _ = strings.Cut(g.bubble, ",")
		}
		all = append(all, g)
	}
	return all
}
