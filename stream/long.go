package stream

import (
	"bytes"
	"io"
)

// long takes a line that is longer than the buffer. Its bytes are gathered in
// blocks, whose content goes into one slice of the right length at the end; when
// they pass the limit, the rest of the line is only looked at.
func (r *lineReader) long() ([]byte, error) {
	var held []*[blockSize]byte
	defer func() {
		for _, block := range held {
			blocks.Put(block)
		}
	}()
	parts := [][]byte{r.buf[r.start:r.end]}
	size := len(parts[0])
	for !r.tooLong(size, parts[len(parts)-1]) {
		block := blocks.Get().(*[blockSize]byte)
		held = append(held, block)
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
	s := new(skim)
	for _, part := range parts {
		s.write(part)
	}
	r.refill(nil)
	return nil, r.skipRest(s)
}

// tooLong tells whether a line that has not ended is beyond the limit already. Its
// last byte may still turn out to be the CR of a CRLF.
func (r *lineReader) tooLong(size int, last []byte) bool {
	over := size - r.opts.MaxMessage
	return over > 1 || over == 1 && last[len(last)-1] != '\r'
}

// part reads more of a line. ended says that the line is complete; rest is what
// was read behind it. At the end of input an empty part ends the line; nil means
// that reading failed.
func (r *lineReader) part(block *[blockSize]byte) (part, rest []byte, ended bool) {
	n := 0
	if r.err == nil {
		n = r.readInto(block[:])
	}
	if i := bytes.IndexByte(block[:n], '\n'); i >= 0 {
		return block[:i], block[i+1 : n], true
	}
	switch {
	case n > 0:
		return block[:n], nil, false
	case r.err == io.EOF:
		return block[:0], nil, true
	case r.err != nil:
		return nil, nil, false
	}
	return block[:0], nil, false
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
		var s skim
		for _, part := range parts {
			s.write(part)
		}
		if s.len() > int64(r.opts.MaxMessage) {
			return nil, r.skipped(&s)
		}
	}
	line := trim(bytes.Join(parts, nil))
	if len(line) == 0 || r.noise(line) {
		return nil, nil
	}
	return line[:len(line):len(line)], nil
}

// skipRest reads up to the end of a line that is beyond the limit.
func (r *lineReader) skipRest(s *skim) error {
	block := blocks.Get().(*[blockSize]byte)
	defer blocks.Put(block)
	for {
		part, rest, ended := r.part(block)
		if part == nil {
			return r.err
		}
		s.write(part)
		if ended {
			r.refill(rest)
			return r.skipped(s)
		}
	}
}
