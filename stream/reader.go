package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/acpkit/go-sdk/internal/envelope"
)

const (
	// An idle reader has a buffer of this size. A busy one grows up to blockSize.
	smallBuffer = 4 << 10
	// A large buffer is replaced by a small one after this many reads in a row for which a small
	// one was enough.
	quietReads = 64
	// Skipped lines are cut at this length for OnNoise.
	noiseLimit = 4 << 10
)

// lineReader is the reading half of a stream of lines.
type lineReader struct {
	src  io.Reader
	opts LinesOptions
	done <-chan struct{} // closed by Close

	buf   []byte // buf[start:end] was read and is not yet returned
	start int
	end   int
	seen  int   // buf[start:start+seen] holds no line feed
	quiet int   // reads in a row for which a small buffer was enough
	err   error // the last error of src

	unchecked bool     // the caller checks that lines are objects
	found     [][]byte // messages of a line that was not one message
}

func (r *lineReader) Read() (msg []byte, err error) {
	for msg == nil && err == nil { // a line may be skipped
		if isClosed(r.done) {
			return nil, ErrClosed
		}
		if len(r.found) > 0 {
			msg, r.found = r.found[0], r.found[1:]
			return msg, nil
		}
		unread := r.buf[r.start:r.end]
		if i := bytes.IndexByte(unread[r.seen:], '\n'); i >= 0 {
			line := unread[:r.seen+i]
			r.start, r.seen = r.start+len(line)+1, 0
			msg, err = r.deliver(line)
			continue
		}
		r.seen = len(unread)
		switch {
		case r.err == io.EOF && len(unread) > 0:
			r.start, r.seen = r.end, 0
			msg, err = r.deliver(unread)
		case r.err != nil:
			return nil, r.err
		case len(unread) == blockSize || len(unread) > r.opts.MaxMessage+1:
			msg, err = r.long()
		default:
			r.fill()
		}
	}
	return msg, err
}

// fill makes room and reads more.
func (r *lineReader) fill() {
	unread := r.end - r.start
	switch {
	case unread == len(r.buf), unread == 0 && r.quiet >= quietReads && len(r.buf) > smallBuffer:
		size := smallBuffer
		if unread > 0 {
			size = min(2*unread, blockSize)
		}
		buf := make([]byte, size)
		copy(buf, r.buf[r.start:r.end])
		r.buf, r.quiet = buf, 0
	case r.start > 0:
		copy(r.buf, r.buf[r.start:r.end])
	}
	r.start, r.end = 0, unread
	n := r.readInto(r.buf[r.end:])
	r.end += n
	if n == len(r.buf)-unread && len(r.buf) < blockSize {
		// The read filled the room, so more input is probably waiting.
		buf := make([]byte, min(4*len(r.buf), blockSize))
		copy(buf, r.buf[:r.end])
		r.buf = buf
	}
	if n > smallBuffer {
		r.quiet = 0
	} else {
		r.quiet++
	}
}

// readInto reads at least one byte, or sets r.err.
func (r *lineReader) readInto(b []byte) int {
	if r.src == nil {
		r.err = io.EOF
		return 0
	}
	empty := 0
	for attempt := 0; ; attempt++ {
		n, err := r.src.Read(b)
		if n < 0 || n > len(b) {
			r.err = errors.New("stream: reader returned an impossible count")
			return 0
		}
		switch {
		case isClosed(r.done):
			r.err = ErrClosed
			return 0
		case errors.Is(err, io.EOF):
			r.err = io.EOF
		case err != nil && n == 0 && retry(err, attempt, r.done):
			continue
		case isClosed(r.done):
			r.err = ErrClosed
			return 0
		case err != nil:
			r.err = fmt.Errorf("stream: reading: %w", err)
		case n == 0:
			if empty++; empty == 100 {
				r.err = fmt.Errorf("stream: reading: %w", io.ErrNoProgress)
				return 0
			}
			continue
		}
		return n
	}
}

// deliver returns a line in the buffer as a message.
func (r *lineReader) deliver(line []byte) ([]byte, error) {
	if len(line) > r.opts.MaxMessage {
		// It may be too long only because of its CR.
		var s envelope.Skim
		if s.Write(line); s.Len() > int64(r.opts.MaxMessage) {
			return nil, r.skipped(&s)
		}
	}
	line = envelope.Trim(line)
	if len(line) == 0 || r.noise(line) {
		return nil, nil
	}
	return bytes.Clone(line), nil
}

// leaveUnchecked leaves the check of lines to the reader of a tolerant stream; see
// envelope.SetUnchecked.
func (r *lineReader) leaveUnchecked() (noise func(line []byte) bool) {
	r.unchecked = true
	return r.report
}

// noise reports whether to skip the line, and reports a skipped line.
func (r *lineReader) noise(line []byte) bool {
	switch {
	case !r.opts.Tolerant:
		return false
	case r.unchecked:
		if line[0] == '{' || looksLikeMessage(line) {
			return false
		}
	case line[0] == '{' && envelope.Parse(line).Kind != envelope.KindNotJSON:
		return false
	}
	r.report(line)
	return true
}

// report keeps the messages of a line that is not one message, and passes what is skipped to OnNoise.
// It reports whether anything was skipped.
func (r *lineReader) report(line []byte) (skipped bool) {
	skip := func(text []byte) {
		skipped = true
		if r.opts.OnNoise != nil {
			r.opts.OnNoise(string(text[:min(len(text), noiseLimit)]))
		}
	}
	if looksLikeMessage(line) {
		r.found = append(r.found, besides(line, skip)...)
	} else {
		skip(line)
	}
	return skipped
}

// skipped returns the error for a line beyond the limit, or handles the line as noise.
func (r *lineReader) skipped(s *envelope.Skim) error {
	if s.Blank() {
		return nil // only white space
	}
	if r.opts.Tolerant && !s.Complete() {
		r.report(envelope.Trim(s.Head()))
		return nil
	}
	return tooLarge(s, r.opts.MaxMessage)
}

// tooLarge returns the error for a message that is longer than the limit.
func tooLarge(s *envelope.Skim, limit int) error {
	return &TooLargeError{Method: s.Method(), ID: s.ID(), HasResult: s.HasResult(), Size: s.Len(), Limit: int64(limit)}
}
