package stream

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// hasteWait is how long a Read after Hasten keeps its processor.
	hasteWait = time.Millisecond
	// leftover limits how much is read after the process has ended while another process keeps
	// writing to its pipe. It is more than a pipe holds.
	leftover = 4 << 20
)

// awaitInput waits until a file can be read, but no longer than d. It is nil where Hasten has no
// effect.
var awaitInput func(f *os.File, d time.Duration)

// widen enlarges pipes where the system allows it. Call release when they are closed.
var widen = func(...*os.File) (release func()) { return func() {} }

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
	if awaitInput == nil || in.told.Load() {
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

// outlet reads the standard output of a process.
type outlet struct {
	inlet
	closed atomic.Bool // Read returns io.EOF

	reading sync.Mutex // held while f is read
	over    bool       // the time for reading after the end of the process is over
	read    int        // bytes read after the process has ended
}

// Read implements io.Reader. After the deadline set by finish, it returns what is left in the pipe,
// and then io.EOF.
func (o *outlet) Read(p []byte) (int, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	if !o.over {
		if o.closed.Load() {
			return 0, ErrClosed
		}
		n, err := o.inlet.Read(p)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if o.closed.Load() {
			return 0, ErrClosed
		}
		o.over = true
	}
	if o.read >= leftover {
		return 0, io.EOF
	}
	n, err := readReady(o.f, p)
	o.read += n
	return n, err
}

// finish is called when the process has ended. It makes Read return io.EOF at t at the latest,
// after everything that is in the pipe then.
func (o *outlet) finish(t time.Time) {
	if o.stopAt(t) != nil {
		time.AfterFunc(time.Until(t), func() { o.f.Close() }) // f has no deadlines
	}
}

// discard interrupts Read and reads in its place, so that the process does not block while it ends.
// It returns at the end of input or when f is closed.
func (o *outlet) discard() {
	o.closed.Store(true)
	_ = o.stopAt(longAgo) // if f has no deadlines, Read ends with the process
	o.reading.Lock()
	defer o.reading.Unlock()
	_ = o.stopAt(time.Time{})
	_, _ = io.Copy(io.Discard, &o.inlet) // an interrupt by hasten does not end it
}
