package leak_test

import "testing"

// stateRecorder is a test that may fail.
type stateRecorder struct {
	testing.TB
	failed bool
}

func (r *stateRecorder) Errorf(string, ...any) { r.failed = true }
