package terminals

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/internal/reserve"
)

// tail keeps the end of what is written to it.
type tail struct {
	limit int

	mu   sync.Mutex // guards all below
	buf  []byte     // the last bytes, up to twice the limit
	lost bool       // something before buf was dropped
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) > t.limit {
		t.lost = true
		t.buf = t.buf[:0]
		p = p[len(p)-t.limit:]
	}
	if len(t.buf)+len(p) > 2*t.limit {
		keep := t.limit - len(p)
		t.buf = t.buf[:copy(t.buf, t.buf[len(t.buf)-keep:])]
		t.lost = true
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// most returns how long the text may be that is asked for next. What is short may grow a
// little until then, and what is long up to the limit, because its reader may have to wait.
func (t *tail) most() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.buf) < reserve.Small {
		return int64(min(len(t.buf), t.limit))
	}
	return int64(t.limit)
}

// text returns the end as valid UTF-8 of at most limit bytes, and whether something
// before it is missing. Unless the output has ended, a character at its end that is not
// complete is left for later.
func (t *tail) text(ended bool) (s string, truncated bool) {
	t.mu.Lock()
	b, lost := t.buf, t.lost
	if cut := len(b) - t.limit; cut > 0 {
		b, lost = b[cut:], true
	}
	if lost {
		b = b[startOfRune(b):]
	}
	if !ended {
		b = b[:len(b)-incomplete(b)]
	}
	s = string(b)
	t.mu.Unlock()
	s = strings.ToValidUTF8(s, "\ufffd")
	if cut := len(s) - t.limit; cut > 0 { // the replacements are longer
		s, lost = s[cut:], true
		s = s[startOfRune(s):]
	}
	return s, lost
}

// startOfRune returns where the first character begins.
func startOfRune[T string | []byte](b T) int {
	i := 0
	for i < len(b) && i < utf8.UTFMax-1 && !utf8.RuneStart(b[i]) {
		i++
	}
	return i
}

// incomplete returns how many bytes at the end begin a character that is not complete.
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
