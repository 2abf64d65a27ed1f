package stream

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// ExitError tells how the process behind a stream ended. errors.Is(err, io.EOF)
// holds when its status was 0: it ended by its own will, if perhaps too early.
type ExitError struct {
	// Status is the exit status; -1 when a signal ended the process.
	Status int
	// Signal names that signal as the system does ("killed"); otherwise empty.
	Signal string
	// Stderr is the last part of its standard error, valid UTF-8, at most
	// CommandOptions.StderrTail bytes.
	Stderr string
}

func newExitError(state *os.ProcessState, tail string) *ExitError {
	if state == nil { // somebody else took the status
		return &ExitError{Status: -1, Stderr: tail}
	}
	return &ExitError{Status: state.ExitCode(), Signal: signalName(state), Stderr: tail}
}

// Error gives the status and the last lines of standard error.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("process exited with status %d", e.Status)
	if e.Signal != "" {
		text = "process was ended by signal: " + e.Signal
	}
	if said := printable(e.Stderr); said != "" {
		text += ": " + said
	}
	return text
}

// Unwrap returns io.EOF for status 0.
func (e *ExitError) Unwrap() error {
	if e.Status == 0 {
		return io.EOF
	}
	return nil
}

// saidLimit bounds what of standard error an error's text repeats.
const saidLimit = 1 << 10

// printable returns the end of s, whole lines where possible, without control
// characters: the text is for logs and terminals, and the process may be hostile.
func printable(s string) string {
	s = strings.TrimSpace(s)
	if cut := len(s) - saidLimit; cut > 0 {
		s = s[cut:]
		if _, rest, ok := strings.Cut(s, "\n"); ok {
			s = rest
		}
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
