package stream

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// hasteWait is how long a Read after Hasten keeps its processor.
const hasteWait = time.Millisecond

// inlet reads a file with deadlines: a pipe or a socket. The deadline stops reading, and interrupts
// a Read that must start waiting in the system.
type inlet struct {
	f    *os.File
	told atomic.Bool // the next Read waits in the system, see Features.Hasten

	mu   sync.Mutex // guards stop and the deadline of f
	stop time.Time  // when reading stops; zero if it does not
}

func (in *inlet) Read(p []byte) (int, error) {
	for {
		n, err := in.f.Read(p)
		if !errors.Is(err, os.ErrDeadlineExceeded) || !in.told.CompareAndSwap(true, false) {
			return n, err
		}
		if err := in.resetDeadline(); err != nil {
			return n, err
		}
		awaitInput(in.f, hasteWait)
	}
}

func (in *inlet) resetDeadline() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.f.SetReadDeadline(in.stop)
}

// hasten makes a blocked Read wait in the system for a moment, instead of in Go's scheduler.
func (in *inlet) hasten() {
	if !canAwaitInput || in.told.Load() {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.stop.IsZero() || in.told.Swap(true) {
		return
	}
	if in.f.SetReadDeadline(longAgo) != nil { // f has no deadlines
		in.told.Store(false)
	}
}

// longAgo is a deadline that interrupts at once.
var longAgo = time.Unix(1, 0)

// stopAt makes Read fail with os.ErrDeadlineExceeded from t on. The zero time cancels that.
func (in *inlet) stopAt(t time.Time) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.stop = t
	return in.f.SetReadDeadline(t)
}

func (in *inlet) Close() error { return in.f.Close() }
