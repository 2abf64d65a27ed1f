package stream

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// leftover limits how much is read after the process has ended while another process keeps writing
// to its pipe. It is more than a pipe holds.
const leftover = 4 << 20

// longAgo is a deadline that interrupts at once.
var longAgo = time.Unix(1, 0)

// outlet reads the standard output of a process: a pipe, which has deadlines on most systems.
type outlet struct {
	f      *os.File
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
		n, err := o.f.Read(p)
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
	if o.f.SetReadDeadline(t) != nil {
		time.AfterFunc(time.Until(t), func() { o.f.Close() }) // f has no deadlines
	}
}

// discard interrupts Read and reads in its place, so that the process does not block while it ends.
// It returns at the end of input or when f is closed.
func (o *outlet) discard() {
	o.closed.Store(true)
	_ = o.f.SetReadDeadline(longAgo) // if f has no deadlines, Read ends with the process
	o.reading.Lock()
	defer o.reading.Unlock()
	_ = o.f.SetReadDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, o.f)
}

func (o *outlet) Close() error { return o.f.Close() }
