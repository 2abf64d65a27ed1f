package stream

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// lineLimit is the length at which lines are cut for OnStderr.
const lineLimit = 64 << 10

// stderr reads the standard error of a process.
type stderr struct {
	f       *os.File
	tail    tail
	out     io.Writer         // nil after writing to it has failed
	onLine  func(line string) // may be nil
	line    []byte            // the last line, not yet complete
	drained chan struct{}     // closed at the end
}

func newStderr(f *os.File, opts *CommandOptions) *stderr {
	return &stderr{
		f: f, tail: tail{limit: opts.StderrTail}, out: opts.Stderr, onLine: opts.OnStderr,
		drained: make(chan struct{}),
	}
}

// drain reads until every writer has closed the pipe, or f is closed.
func (s *stderr) drain() {
	defer close(s.drained)
	defer s.f.Close()
	buf := make([]byte, 8<<10)
	for {
		n, err := s.f.Read(buf)
		s.take(buf[:n])
		if err != nil {
			break
		}
	}
	if s.onLine != nil && len(s.line) > 0 {
		s.emit()
	}
}

func (s *stderr) take(b []byte) {
	s.tail.write(b)
	if s.out != nil && len(b) > 0 {
		if _, err := s.out.Write(b); err != nil {
			s.out = nil
		}
	}
	if s.onLine == nil {
		return
	}
	for len(b) > 0 {
		piece, rest, ended := bytes.Cut(b, []byte("\n"))
		s.line = append(s.line, piece[:min(len(piece), lineLimit-len(s.line))]...)
		if ended {
			s.emit()
		}
		b = rest
	}
}

func (s *stderr) emit() {
	s.onLine(strings.ToValidUTF8(strings.TrimSuffix(string(s.line), "\r"), "\ufffd"))
	s.line = s.line[:0]
}

// tail keeps the end of what was written to it.
type tail struct {
	limit int

	mu   sync.Mutex // guards buf and cut
	buf  []byte     // up to twice the limit
	lost bool       // an earlier part was discarded
}

func (t *tail) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*t.limit {
		n := copy(t.buf, t.buf[len(t.buf)-t.limit:])
		t.buf, t.lost = t.buf[:n], true
	}
}

// String returns the end as valid UTF-8. It never begins within a character.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, lost := t.buf, t.lost
	if cut := len(b) - t.limit; cut > 0 {
		b, lost = b[cut:], true
	}
	for i := 0; lost && i < utf8.UTFMax && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:]
	}
	return strings.ToValidUTF8(string(b), "\ufffd")
}
