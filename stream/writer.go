package stream

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// lineWriter is the writing half of a stream of lines.
type lineWriter struct {
	dst  io.Writer
	done <-chan struct{} // closed by Close
	err  error           // the first failure; it may have cut a frame

	written atomic.Int64
}

// maxWrite is the maximum size of one write, so that progress can be observed.
const maxWrite = 256 << 10

func (w *lineWriter) Write(msg []byte) error {
	one := [1][]byte{msg}
	return w.WriteBatch(one[:])
}

// WriteBatch is the Features.WriteBatch of a stream of lines.
func (w *lineWriter) WriteBatch(msgs [][]byte) error {
	if isClosed(w.done) {
		return ErrClosed
	}
	if w.err != nil {
		return w.err
	}
	for _, msg := range msgs {
		if err := checkLine(msg); err != nil {
			return err
		}
	}
	w.err = w.writeLines(msgs)
	return w.err
}

func checkLine(msg []byte) error {
	if len(msg) == 0 || (msg[0] <= ' ' || msg[0] >= utf8.RuneSelf) && len(envelope.Trim(msg)) == 0 {
		return &MessageError{Reason: "it is blank"}
	}
	return nil
}

// writeLines joins short messages in a block. A long message is written directly from its slice,
// except for its end, which is joined with the line feed. It is made one line piece by piece: a piece
// is in the processor's cache when it is written, and the peer reads the one before meanwhile.
func (w *lineWriter) writeLines(msgs [][]byte) error {
	block := blocks.Get().(*[blockSize]byte)
	defer blocks.Put(block)
	joined := block[:0]
	for _, msg := range msgs {
		if len(joined)+len(msg) >= blockSize {
			if err := w.writeAll(joined); err != nil {
				return err
			}
			joined = block[:0]
		}
		for len(msg) >= blockSize {
			end := pieceEnd(msg)
			if err := w.writeAll(envelope.OneLine(msg[:end])); err != nil {
				return err
			}
			msg = msg[end:]
		}
		joined = append(append(joined, envelope.OneLine(msg)...), '\n')
	}
	return w.writeAll(joined)
}

// pieceEnd returns where the next piece of a long message ends: not inside of a character that OneLine
// escapes. These have three bytes at most. Where the two bytes before are of no beginning, it is not inside of
// one, although it may be inside of what is not UTF-8.
func pieceEnd(msg []byte) int {
	end := min(len(msg)-len(msg)%blockSize, maxWrite)
	for at := end; at > end-3 && at < len(msg); at-- {
		if utf8.RuneStart(msg[at]) {
			return at
		}
	}
	return end
}

// writeAll continues after a short write, which can happen on a descriptor in non-blocking mode.
func (w *lineWriter) writeAll(b []byte) error {
	for attempt := 0; len(b) > 0; attempt++ {
		if w.dst == nil {
			return errors.New("stream: no writer")
		}
		part := b[:min(len(b), maxWrite)]
		n, err := w.dst.Write(part)
		if n < 0 || n > len(part) {
			return errors.New("stream: writer returned an impossible count")
		}
		b = b[n:]
		w.written.Add(int64(n))
		if n > 0 {
			attempt = 0
		}
		switch {
		case isClosed(w.done) && (err != nil || len(b) > 0):
			return ErrClosed
		case err != nil && !retry(err, attempt, w.done):
			if isClosed(w.done) {
				return ErrClosed
			}
			return fmt.Errorf("stream: writing: %w", err)
		case err == nil && n == 0 && len(b) > 0:
			return fmt.Errorf("stream: writing: %w", io.ErrShortWrite)
		}
	}
	return nil
}
