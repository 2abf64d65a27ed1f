package stream

import (
	"testing"
	"time"
)

// ShortenStatusPatience makes the Write of a process that has ended return soon although nobody
// reads what the process has printed. Call it before the process is started.
func ShortenStatusPatience(t testing.TB) {
	before := statusPatience
	statusPatience = 50 * time.Millisecond
	t.Cleanup(func() { statusPatience = before })
}
