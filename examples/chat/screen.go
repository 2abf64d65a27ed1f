package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/stream/safetext"
)

// screen prints a conversation. Its methods may be called from any goroutine.
type screen struct {
	out   io.Writer
	color bool
	width func() int // of the terminal; 0 if there is none

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
	return &screen{out: out, color: color, width: func() int { return 0 }, rest: map[string]string{}}
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

// shownOfLine is the number of bytes of a text of the agent in a line that is not a question.
const shownOfLine = 2000

// line prints one line of chat, with at most shownOfLine bytes. Line breaks and control characters in
// the text are escaped. What is cut costs nothing.
func (s *screen) line(style, format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = text[:min(len(text), shownOfLine+1)]
		}
	}
	s.whole(style, shownOfLine, fmt.Sprintf(format, args...))
}

// whole prints a line of at most limit bytes. Its rest goes to further rows of the terminal, which
// begin with a mark, so that none of them looks like a line of its own.
func (s *screen) whole(style string, limit int, text string) {
	s.lock()
	defer s.unlock()
	s.put(style, limit, text)
}

// put is whole for callers that hold mu.
func (s *screen) put(style string, limit int, text string) {
	s.endLine()
	fmt.Fprintln(s.out, s.paint(style, s.rows(text, limit)))
}

// rows returns the rows of a line.
func (s *screen) rows(text string, limit int) string {
	return strings.Join(rows(spaced(text, limit), s.width()), "\n")
}

// spaced returns a text on one line, with its spaces and tabs: chat lines up its lines with them.
func spaced(text string, limit int) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(text[:min(len(text), limit)], " \t")
		if i < 0 {
			b.WriteString(safetext.OneLine(text, limit))
			return b.String()
		}
		b.WriteString(safetext.OneLine(text[:i], i) + text[i:i+1])
		text, limit = text[i+1:], limit-i-1
	}
}

// continued begins a row that continues the one before.
const continued = "  ┆ "

// rows cuts a line into rows of so many columns; 0 means any number.
func rows(line string, width int) (all []string) {
	text := []rune(line)
	from, used := 0, 0
	for i, r := range text {
		n := columns([]rune{r})
		if r == '\t' {
			n = 8 // at most
		}
		if width > 0 && used+n > max(width-1, 8) && i > from {
			all = append(all, string(text[from:i]))
			from, used = i, columns([]rune(continued))
		}
		used += n
	}
	all = append(all, string(text[from:]))
	for i := range all[1:] {
		all[i+1] = continued + all[i+1]
	}
	return all
}

func (s *screen) lines(style, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		s.line(style, "%s", line)
	}
}

func (s *screen) note(text string) { s.line(plain, "%s", text) }

// stream prints a piece of a text. The first piece begins with the mark on a new line.
func (s *screen) stream(style, mark, text string, first bool) {
	if text = safetext.Lines(text, len(text)); text == "" {
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
	fmt.Fprintln(s.out, s.paint(dim, "  │ "+safetext.Lines(line, len(line))))
}

// endOutput prints the rest of the output of a command.
func (s *screen) endOutput(id string) {
	s.lock()
	defer s.unlock()
	if s.rest[id] != "" {
		s.outputLine(s.rest[id])
	}
	delete(s.rest, id)
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
	s.ask(text)
}

// ask shows a prompt. The caller holds mu.
func (s *screen) ask(text string) {
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
