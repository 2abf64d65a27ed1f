package stream

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// leftover is how much is read from the pipe of a process that has ended while
// another process keeps writing to it. It is more than a pipe holds.
const leftover = 4 << 20

// outlet reads the standard output of a process.
type outlet struct {
	inlet
	closed atomic.Bool // Read returns nothing more

	reading sync.Mutex // held while f is read
	over    bool       // the time after the process's end is up
	read    int        // bytes read since
}

// Read implements io.Reader. It is interrupted by deadlines: the one set by
// finish turns the end of what is in the pipe into the end of input.
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

// finish makes the end of input come at t at the latest, because the process has
// ended. What is in the pipe then can still be read.
func (o *outlet) finish(t time.Time) {
	if o.stopAt(t) != nil {
		time.AfterFunc(time.Until(t), func() { o.f.Close() }) // no deadlines here
	}
}

// discard makes Read return and reads for it, so that the process does not block
// while it ends. It returns with the end of input or when f is closed.
func (o *outlet) discard() {
	o.closed.Store(true)
	_ = o.stopAt(longAgo) // without deadlines Read ends with the process
	o.reading.Lock()
	defer o.reading.Unlock()
	_ = o.stopAt(time.Time{})
	_, _ = io.Copy(io.Discard, &o.inlet) // it may still be told to hasten
}
