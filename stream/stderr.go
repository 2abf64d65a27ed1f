package stream

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/acpkit/go-sdk/internal/process"
)

// lineLimit is the length at which lines are cut for OnStderr.
const lineLimit = 64 << 10

// stderr reads the standard error of a process.
type stderr struct {
	f       *os.File
	tail    process.Tail
	out     io.Writer         // nil after writing to it has failed
	onLine  func(line string) // may be nil
	line    []byte            // the last line, not yet complete
	drained chan struct{}     // closed at the end
}

func newStderr(f *os.File, opts *CommandOptions) *stderr {
	return &stderr{
		f: f, tail: process.Tail{Limit: opts.StderrTail}, out: opts.Stderr, onLine: opts.OnStderr,
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
	_, _ = s.tail.Write(b) // never fails
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
