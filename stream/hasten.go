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

// inlet reads a file that has deadlines: a pipe or a socket. Its deadline has two
// uses, to stop reading and to interrupt a Read that shall wait in another way.
type inlet struct {
	f    *os.File
	told atomic.Bool // Read is to wait in the system, see Features.Hasten

	mu   sync.Mutex // guards the one below, and the deadline of f
	stop time.Time  // when reading stops; zero: it does not
}

// Read implements io.Reader.
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

// hasten makes a Read that waits for Go's scheduler wait in the system instead, for a
// moment.
func (in *inlet) hasten() {
	if !canAwaitInput || in.told.Load() {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.stop.IsZero() || in.told.Swap(true) {
		return
	}
	if in.f.SetReadDeadline(longAgo) != nil { // no deadlines here
		in.told.Store(false)
	}
}

// longAgo is a deadline that interrupts at once.
var longAgo = time.Unix(1, 0)

// stopAt makes Read fail with os.ErrDeadlineExceeded from t on; the zero time undoes it.
func (in *inlet) stopAt(t time.Time) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.stop = t
	return in.f.SetReadDeadline(t)
}

// Close implements io.Closer.
func (in *inlet) Close() error { return in.f.Close() }
