//go:build !linux

package stream

import (
	"os"
	"time"
)

const canAwaitInput = false

// awaitInput is not reached.
func awaitInput(*os.File, time.Duration) {}
