package stream

import (
	"cmp"
	"errors"
	"io"
	"os"
	"reflect"
	"sync"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// LinesOptions configure [Lines], which copies them. The zero value selects the defaults.
type LinesOptions struct {
	// MaxMessage is the longest line in bytes that is read, without its line
	// ending; 0 means DefaultMaxMessage. For a longer line Read returns a
	// *[TooLargeError]. Writing is not limited.
	MaxMessage int

	// Tolerant makes Read skip every line that is not a JSON object. It is for clients,
	// because many agents print banners and warnings between their messages and cannot handle
	// an error response to them. Messages are read from a line on which nothing stands beside
	// them but other messages, white space, sequences for a terminal, or text that ends in a
	// carriage return. A message behind or before other text is skipped with it, because a log
	// may quote it.
	Tolerant bool

	// OnNoise is called with each text that Tolerant skipped, without the white
	// space around it and cut at 4 KiB. Read calls it, so it must return quickly
	// and must not use the stream.
	OnNoise func(line string)
}

// lines is a Stream with one message a line.
type lines struct {
	lineReader
	lineWriter

	r io.Reader
	w io.Writer

	done     chan struct{} // closed when Close begins
	close    sync.Once
	closeErr error // set by the first Close
}

// Lines returns a stream that reads and writes one message a line: UTF-8 ended by
// a line feed, as ACP does over stdio (protocol section "stdio").
//
// Reading accepts LF and CRLF, strips white space and byte order marks from both ends of a
// line, skips blank lines, and accepts a last line without a line ending. It keeps a few
// KiB while nothing arrives, at most 64 KiB while messages are short, and about twice a
// message's length while one is being received; a line beyond the limit is skipped as it
// arrives and never held.
//
// Writing adds the line feed. What a reader may take for the end of the line is written in
// another way, without a change of the value: line feeds and carriage returns in a message become
// spaces, and U+0085, U+2028 and U+2029 are escaped. A blank message is refused with
// *[MessageError]. A message of less than 64 KiB leaves in one call of w.Write, together with
// others of its batch; a longer one in several calls, of at most 256 KiB each.
//
// Close closes w first and then r, each if it is an io.Closer, so the peer sees
// the end. If r and w are the same value and it has a CloseWrite method, as a network
// connection does, Close calls that first. Whether Close interrupts a blocked Read or
// Write depends on r and w: pipes, sockets and io.Pipe do; a terminal or a reader
// without Close does not, and Read then returns with the next input.
//
// If r is nil, Read returns io.EOF; if w is nil, every Write fails.
func Lines(r io.Reader, w io.Writer, opts *LinesOptions) Stream {
	return newLines(r, w, opts)
}

func newLines(r io.Reader, w io.Writer, opts *LinesOptions) *lines {
	o := *cmp.Or(opts, new(LinesOptions))
	if o.MaxMessage <= 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	l := &lines{r: r, w: w, done: make(chan struct{})}
	l.lineReader = lineReader{src: r, opts: o, done: l.done}
	l.lineWriter = lineWriter{dst: w, done: l.done}
	return l
}

func (l *lines) Features() *Features {
	f := &Features{WriteBatch: l.WriteBatch, Written: l.written.Load}
	if l.opts.Tolerant {
		envelope.SetUnchecked(&f.unchecked, l.leaveUnchecked)
	}
	return f
}

func (l *lines) Close() error {
	l.close.Do(func() {
		close(l.done)
		l.closeErr = closeBoth(l.w, l.r)
	})
	return l.closeErr
}

// stop ends reading and writing without closing anything.
func (l *lines) stop() { l.close.Do(func() { close(l.done) }) }

// closeBoth closes the writing side before the reading side.
func closeBoth(w io.Writer, r io.Reader) error {
	if same(w, r) {
		if half, ok := w.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // if the connection is broken, Close returns the error
		}
		return closeOne(r)
	}
	return errors.Join(closeOne(w), closeOne(r))
}

func closeOne(v any) error {
	c, ok := v.(io.Closer)
	if !ok {
		return nil
	}
	if err := c.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// same reports whether both sides are the same value. Values that cannot be compared count as
// different.
func same(w, r any) bool {
	t := reflect.TypeOf(w)
	return t != nil && t == reflect.TypeOf(r) && t.Comparable() && w == r
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// retry reports whether to repeat an operation on a descriptor in non-blocking mode, and waits
// before it returns true. Another process may have set that mode: node, for example, leaves its
// pipes in it.
func retry(err error, attempt int, done <-chan struct{}) bool {
	if errors.Is(err, syscall.EINTR) {
		return !isClosed(done)
	}
	if !errors.Is(err, syscall.EAGAIN) {
		return false
	}
	select {
	case <-time.After(min(time.Millisecond<<min(attempt, 5), 20*time.Millisecond)):
		return true
	case <-done:
		return false
	}
}

// blockSize is the usual capacity of a pipe.
const blockSize = 64 << 10

// blocks are shared by the readers of long lines and by the writers, which use them only briefly.
var blocks = sync.Pool{New: func() any { return new([blockSize]byte) }}
