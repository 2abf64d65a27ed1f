package stream

import (
	"bytes"
	"io"
	"slices"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// keptBlocks is how many blocks of a long line are used again. The others are left
// to the garbage collector, so that they do not stay in memory beside the line while
// the caller works with it.
const keptBlocks = 4

// long takes a line that is longer than the buffer. Its bytes are gathered in
// blocks, whose content goes into one slice of the right length at the end; when
// they pass the limit, the rest of the line is only looked at.
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

// tooLong reports whether a line that has not ended is beyond the limit already. Its
// last byte may still turn out to be the CR of a CRLF.
func (r *lineReader) tooLong(size int, last []byte) bool {
	over := size - r.opts.MaxMessage
	return over > 1 || over == 1 && last[len(last)-1] != '\r'
}

// part reads more of a line until the block is full or the line complete, which
// ended reports; rest is what was read after it. The end of input ends the line too;
// a nil part means that reading failed.
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

// refill makes rest the content of the buffer.
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
		// A CR may be the one byte too many.
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

// skipRest reads up to the end of a line that is beyond the limit.
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
