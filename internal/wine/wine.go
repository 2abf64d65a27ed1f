// Package wine tells tests what they run on, for those of Windows that wine cannot run.
package wine

import "testing"

// running reports whether the program runs under wine.
var running = func() bool { return false }

// Lacks skips the test under wine, which lacks what it needs. Everywhere else it does
// nothing. What is skipped so is listed in docs/rough-edges.md.
func Lacks(t testing.TB, what string) {
	t.Helper()
	if running() {
		t.Skip("wine lacks " + what)
	}
}
