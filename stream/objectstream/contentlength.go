package objectstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/internal/inbox"
	"github.com/acpkit/go-sdk/stream"
)

// maxHeader is the maximum length of the header of a frame.
const maxHeader = 4 << 10

// ContentLength returns a stream that reads and writes frames with a Content-Length header,
// as the base protocol of the Language Server Protocol defines them. It interoperates with
// jsonrpc2.VSCodeObjectCodec. Other header fields are ignored.
//
// A message beyond the limit is skipped as it arrives and never held; Read returns a
// *stream.TooLargeError and can be called again. A header without a valid Content-Length is a
// final error, because nothing tells where the next frame begins.
//
// Close closes w and r as that of stream.Lines does.
func ContentLength(r io.Reader, w io.Writer, opts *Options) stream.Stream {
	return &framed{r: r, w: w, in: bufio.NewReader(r), max: opts.maxMessage(), done: make(chan struct{})}
}

// framed is a stream of frames.
type framed struct {
	r   io.Reader
	w   io.Writer
	in  *bufio.Reader
	max int

	final  error // used only by Read: its final error
	broken error // used only by Write: its first failure

	done     chan struct{} // closed when Close begins
	close    sync.Once
	closeErr error // set by the first Close
}

func (f *framed) Read() ([]byte, error) {
	for f.final == nil && !f.isClosed() {
		n, err := f.header()
		if err == nil && n == 0 {
			continue // an empty frame holds no message
		}
		var msg []byte
		if err == nil {
			msg, err = f.body(n)
		}
		if _, skipped := errors.AsType[*stream.TooLargeError](err); err == nil || skipped && !f.isClosed() {
			return msg, err
		}
		f.final = err
	}
	if f.isClosed() {
		return nil, stream.ErrClosed
	}
	return nil, f.final
}

// header reads the header of a frame and returns the length of its message. It returns io.EOF
// if the input ends before the header.
func (f *framed) header() (int64, error) {
	length, size := int64(-1), 0
	for {
		line, err := f.in.ReadSlice('\n')
		size += len(line)
		switch {
		case errors.Is(err, io.EOF) && size == 0:
			return 0, io.EOF
		case errors.Is(err, io.EOF):
			return 0, reading(io.ErrUnexpectedEOF)
		case errors.Is(err, bufio.ErrBufferFull) || size > maxHeader:
			return 0, fmt.Errorf("objectstream: the header of a frame is longer than %d bytes", maxHeader)
		case err != nil:
			return 0, reading(err)
		}
		field := strings.TrimRight(string(line), "\r\n")
		if field == "" {
			if length < 0 {
				return 0, errors.New("objectstream: a frame has no Content-Length")
			}
			return length, nil
		}
		name, value, _ := strings.Cut(field, ":")
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 63)
		if err != nil || length >= 0 && length != int64(n) {
			return 0, errors.New("objectstream: a frame has no valid Content-Length")
		}
		length = int64(n)
	}
}

// body reads a message of n bytes, or skips one that is longer than the limit. It allocates as the
// bytes arrive: a header alone costs nothing.
func (f *framed) body(n int64) ([]byte, error) {
	msg := inbox.Gather{Max: f.max}
	if _, err := io.CopyN(&msg, f.in, n); err != nil {
		return nil, inFrame(err)
	}
	return msg.Take()
}

// inFrame turns the end of input within a frame into an error that is not the clean end.
func inFrame(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return reading(err)
}

func reading(err error) error { return fmt.Errorf("objectstream: reading: %w", err) }

func (f *framed) Write(msg []byte) error {
	one := [1][]byte{msg}
	return f.writeBatch(one[:])
}

// Features returns what a stream of frames can do.
func (f *framed) Features() *stream.Features { return &stream.Features{WriteBatch: f.writeBatch} }

func (f *framed) writeBatch(msgs [][]byte) error {
	if f.isClosed() {
		return stream.ErrClosed
	}
	if f.broken != nil {
		return f.broken
	}
	size := 0
	for _, msg := range msgs {
		if len(msg) == 0 {
			return &stream.MessageError{Reason: "it is empty"}
		}
		size += len(msg) + 32
	}
	frames := make([]byte, 0, size)
	for _, msg := range msgs {
		frames = fmt.Appendf(frames, "Content-Length: %d\r\n\r\n", len(msg))
		frames = append(frames, msg...)
	}
	if n, err := f.w.Write(frames); err != nil || n < len(frames) {
		if err == nil {
			err = io.ErrShortWrite
		}
		if f.broken = fmt.Errorf("objectstream: writing: %w", err); f.isClosed() {
			f.broken = stream.ErrClosed
		}
	}
	return f.broken
}

func (f *framed) isClosed() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

func (f *framed) Close() error {
	f.close.Do(func() {
		close(f.done)
		f.closeErr = stream.Lines(f.r, f.w, nil).Close() // it closes the writer before the reader
	})
	return f.closeErr
}
