//go:build !linux

package stream

import (
	"os"
	"time"
)

const canAwaitInput = false

// awaitInput is never called here.
func awaitInput(*os.File, time.Duration) {}

// widen does nothing where programs cannot choose the size of a pipe.
func widen(...*os.File) (release func()) { return func() {} }
