package stream

import (
	"bytes"
	"io"
	"slices"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// keptBlocks is how many blocks of a long line are returned to the pool. The garbage collector
// frees the others, so that they do not stay in memory while the caller works with the line.
const keptBlocks = 4

// long reads a line that is longer than the buffer. It collects the bytes in blocks and copies them
// into one slice of the right length at the end. If the line passes the limit, the rest is skipped.
func (r *lineReader) long() ([]byte, error) {
	var held []*[blockSize]byte // from the pool
	defer func() {
		for _, block := range held {
			blocks.Put(block)
		}
	}()
	parts := [][]byte{r.buf[r.start:r.end]}
	size := len(parts[0])
	for !r.tooLong(size, parts[len(parts)-1]) {
		var block *[blockSize]byte
		if len(held) < keptBlocks {
			block = blocks.Get().(*[blockSize]byte)
			held = append(held, block)
		} else {
			block = new([blockSize]byte)
		}
		part, rest, ended := r.part(block)
		if part == nil {
			r.refill(nil)
			return nil, r.err
		}
		parts = append(parts, part)
		size += len(part)
		if ended {
			msg, err := r.deliverParts(parts)
			r.refill(rest)
			return msg, err
		}
	}
	s := new(envelope.Skim)
	for _, part := range parts {
		s.Write(part)
	}
	r.refill(nil)
	return nil, r.skipRest(s)
}

// tooLong reports whether an unfinished line is already beyond the limit. Its last byte may be the
// CR of a CRLF.
func (r *lineReader) tooLong(size int, last []byte) bool {
	over := size - r.opts.MaxMessage
	return over > 1 || over == 1 && last[len(last)-1] != '\r'
}

// part reads more of a line until the block is full or the line is complete; ended reports the
// latter. rest is what was read after the line. The end of input ends the line too. part is nil if
// reading failed.
func (r *lineReader) part(block *[blockSize]byte) (part, rest []byte, ended bool) {
	n := 0
	for n < len(block) {
		more := 0
		if r.err == nil {
			more = r.readInto(block[n:])
		}
		if i := bytes.IndexByte(block[n:n+more], '\n'); i >= 0 {
			return block[:n+i], block[n+i+1 : n+more], true
		}
		n += more
		switch {
		case r.err == io.EOF:
			return block[:n], nil, true
		case r.err != nil:
			return nil, nil, false
		}
	}
	return block[:], nil, false
}

// refill sets the content of the buffer to rest.
func (r *lineReader) refill(rest []byte) {
	if len(rest) > len(r.buf) {
		r.buf = make([]byte, blockSize)
	}
	r.start, r.end, r.seen = 0, copy(r.buf, rest), 0
}

func (r *lineReader) deliverParts(parts [][]byte) ([]byte, error) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if size > r.opts.MaxMessage {
		// The line may be too long only because of its CR.
		var s envelope.Skim
		for _, part := range parts {
			s.Write(part)
		}
		if s.Len() > int64(r.opts.MaxMessage) {
			return nil, r.skipped(&s)
		}
	}
	line := envelope.Trim(bytes.Join(parts, nil))
	if len(line) == 0 || r.noise(line) {
		return nil, nil
	}
	return slices.Clip(line), nil
}

// skipRest reads to the end of a line that is beyond the limit.
func (r *lineReader) skipRest(s *envelope.Skim) error {
	block := blocks.Get().(*[blockSize]byte)
	defer blocks.Put(block)
	for {
		part, rest, ended := r.part(block)
		if part == nil {
			return r.err
		}
		s.Write(part)
		if ended {
			r.refill(rest)
			return r.skipped(s)
		}
	}
}
