package leak

import (
	"testing"
	"time"
)

// SetPatience shortens the wait for the rest of one test.
func SetPatience(t *testing.T, d time.Duration) {
	old := patience
	patience = d
	t.Cleanup(func() { patience = old })
}
