package process

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Tail keeps the end of what is written to it. Its methods are safe for concurrent use.
type Tail struct {
	Limit  int                     // bytes; set before the first Write
	Decode func(raw []byte) string // returns the text of bytes; nil replaces what is not valid UTF-8

	mu   sync.Mutex // guards the fields below
	buf  []byte     // the last bytes, up to twice the limit
	lost bool       // earlier bytes were discarded
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	n := len(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) > t.Limit {
		t.lost = true
		t.buf = t.buf[:0]
		p = p[len(p)-t.Limit:]
	}
	if len(t.buf)+len(p) > 2*t.Limit {
		keep := t.Limit - len(p)
		t.buf = t.buf[:copy(t.buf, t.buf[len(t.buf)-keep:])]
		t.lost = true
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// Len returns how many bytes are kept, which may be more than the limit.
func (t *Tail) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.buf)
}

// Text returns the end of the output as valid UTF-8 of at most limit bytes, and whether something
// before it is missing. Unless the output has ended, an incomplete character at its end is kept for
// later.
func (t *Tail) Text(ended bool) (s string, truncated bool) {
	t.mu.Lock()
	b, lost := t.buf, t.lost
	if cut := len(b) - t.Limit; cut > 0 {
		b, lost = b[cut:], true
	}
	if lost {
		b = b[startOfRune(b):]
	}
	if !ended {
		b = b[:len(b)-incomplete(b)]
	}
	if t.Decode != nil {
		s = t.Decode(b)
	} else {
		s = string(b)
	}
	t.mu.Unlock()
	s = strings.ToValidUTF8(s, "\ufffd")
	if cut := len(s) - t.Limit; cut > 0 { // replacement characters are longer than the bytes they replace
		s, lost = s[cut:], true
		s = s[startOfRune(s):]
	}
	return s, lost
}

func startOfRune[T string | []byte](b T) int {
	i := 0
	for i < len(b) && i < utf8.UTFMax-1 && !utf8.RuneStart(b[i]) {
		i++
	}
	return i
}

// incomplete returns the length of an incomplete character at the end of b.
func incomplete(b []byte) int {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		if c := b[len(b)-n:]; utf8.RuneStart(c[0]) {
			if utf8.FullRune(c) {
				return 0
			}
			return n
		}
	}
	return 0
}
