package main

import (
	"sync"
	"unicode/utf8"
)

// tail keeps the end of what is written to it, up to a number of bytes.
type tail struct {
	mu    sync.Mutex // guards what follows
	buf   []byte
	limit int
	cut   bool
}

// Write never fails; what does not fit pushes out what came first.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	// The slack makes the copying rare; text() cuts exactly.
	if len(t.buf) > 2*t.limit+4096 {
		t.buf = append([]byte(nil), t.buf[len(t.buf)-t.limit:]...)
		t.cut = true
	}
	return len(p), nil
}

// text returns what is kept, from the start of a character on, and whether
// something before it is gone.
func (t *tail) text() (s string, truncated bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, cut := t.buf, t.cut
	if len(b) > t.limit {
		b, cut = b[len(b)-t.limit:], true
	}
	if cut {
		for i := 0; i < len(b) && i < utf8.UTFMax; i++ {
			if utf8.RuneStart(b[i]) {
				b = b[i:]
				break
			}
		}
	}
	return string(b), cut
}
