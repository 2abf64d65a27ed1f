package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/acpkit/go-sdk/client/permission"
)

// screen prints a conversation. Its methods may be called from any goroutine.
type screen struct {
	out   io.Writer
	color bool

	mu      sync.Mutex // guards what follows
	midLine bool       // the current line is not complete
	rest    map[string]string
	edited  editedLine // the line that the user edits; nil if there is none
}

// An editedLine is shown below everything else. Both methods are called with the mutex of
// the screen held.
type editedLine interface {
	hide()
	show()
}

// longestLine is the number of bytes of an incomplete line of output that are held back.
const longestLine = 4096

// Styles are the parameters of the escape sequences for them.
const (
	plain  = ""
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func newScreen(out io.Writer, color bool) *screen {
	return &screen{out: out, color: color, rest: map[string]string{}}
}

func (s *screen) lock() {
	s.mu.Lock()
	if s.edited != nil {
		s.edited.hide()
	}
}

func (s *screen) unlock() {
	if s.edited != nil {
		s.endLine()
		s.edited.show()
	}
	s.mu.Unlock()
}

func (s *screen) paint(style, text string) string {
	if !s.color || style == plain || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// line prints one line. Line breaks and control characters in the text are escaped.
func (s *screen) line(style, format string, args ...any) {
	s.lock()
	defer s.unlock()
	s.endLine()
	var b strings.Builder
	for rest := fmt.Sprintf(format, args...); ; {
		i := strings.IndexAny(rest, " \t") // indentation, which OneLine would escape
		if i < 0 {
			b.WriteString(permission.OneLine(rest))
			break
		}
		b.WriteString(permission.OneLine(rest[:i]) + rest[i:i+1])
		rest = rest[i+1:]
	}
	fmt.Fprintln(s.out, s.paint(style, b.String()))
}

func (s *screen) lines(style, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		s.line(style, "%s", line)
	}
}

func (s *screen) note(text string) { s.line(plain, "%s", text) }

// stream prints a piece of a text. The first piece begins with the mark on a new line.
func (s *screen) stream(style, mark, text string, first bool) {
	if text = printable(text); text == "" {
		return
	}
	s.lock()
	defer s.unlock()
	if first {
		s.endLine()
		text = mark + text
	}
	body := strings.TrimRight(text, "\n")
	fmt.Fprint(s.out, s.paint(style, body), text[len(body):])
	s.midLine = !strings.HasSuffix(text, "\n")
}

// output prints the complete lines of a command's output.
func (s *screen) output(id string, data []byte) {
	s.lock()
	defer s.unlock()
	rest := s.rest[id] + string(data)
	for {
		line, after, found := strings.Cut(rest, "\n")
		if !found && len(rest) < longestLine {
			break
		}
		s.outputLine(line)
		rest = after
	}
	s.rest[id] = rest
}

func (s *screen) outputLine(line string) {
	s.endLine()
	fmt.Fprintln(s.out, s.paint(dim, "  │ "+printable(line)))
}

// endTurn prints the rest of the output of commands.
func (s *screen) endTurn() {
	s.lock()
	defer s.unlock()
	for _, id := range slices.Sorted(maps.Keys(s.rest)) {
		if s.rest[id] != "" {
			s.outputLine(s.rest[id])
		}
	}
	clear(s.rest)
	s.endLine()
}

func (s *screen) prompt(text string) {
	s.lock()
	defer s.unlock()
	s.endLine()
	fmt.Fprint(s.out, text)
	s.midLine = false // the user's Enter ends the line
}

// endLine starts a new line if a message has not ended its own. The caller holds mu.
func (s *screen) endLine() {
	if s.midLine {
		fmt.Fprintln(s.out)
		s.midLine = false
	}
}

// printable removes control characters from a text of the agent, which could otherwise repaint the
// question it asks.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) {
			return r
		}
		return -1
	}, s)
}
