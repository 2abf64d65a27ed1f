package pairtest

import (
	"testing"
	"testing/synctest"

	"github.com/acpkit/go-sdk/internal/leak"
)

// Bubble runs f in a synctest bubble, where time stands still while anything runs
// and a circle of waiting is found at once. The test fails when a goroutine of ours
// is left behind.
func Bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		f(t)
	})
}
