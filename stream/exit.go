package stream

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/acpkit/go-sdk/internal/process"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// ExitError reports how the process of a stream ended. If the status is 0, errors.Is(err,
// io.EOF) holds: the process ended without an error, although requests may have been in
// flight.
type ExitError struct {
	// Status is the exit status, or -1 if a signal ended the process.
	Status int
	// Signal is the system's name of that signal ("killed"). It is empty if no signal
	// ended the process.
	Signal string
	// Stderr is the last part of its standard error, valid UTF-8, at most
	// CommandOptions.StderrTail bytes.
	Stderr string
	// Noise is the beginning of the first line of its standard output that was not a
	// message, if one was skipped; see [Process.Noise]. A program that is not an agent
	// often prints its usage there.
	Noise string
}

func newExitError(state *os.ProcessState, tail string) *ExitError {
	if state == nil { // other code has already waited for the process
		return &ExitError{Status: -1, Stderr: tail}
	}
	return &ExitError{Status: state.ExitCode(), Signal: process.SignalName(state), Stderr: tail}
}

// Error returns the status, the last lines of standard error and the line in Noise.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("process exited with status %d", e.Status)
	if e.Signal != "" {
		text = "process was ended by signal: " + e.Signal
	}
	if said := printable(e.Stderr); said != "" {
		text += ": " + said
	}
	if e.Noise != "" {
		text += fmt.Sprintf(" (its standard output begins with %q, which is not a message)", e.Noise)
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

// noiseShown is the maximum length of a skipped line in the text of an error.
const noiseShown = 120

// firstLine returns the beginning of a skipped line, for a person to read.
func firstLine(line string) string {
	text := []rune(strings.TrimSpace(printable(line[:min(len(line), 4*noiseShown)])))
	if len(text) > noiseShown {
		return string(text[:noiseShown]) + "..."
	}
	return string(text)
}

// saidLimit is the maximum length of standard error in the text of an error.
const saidLimit = 1 << 10

// printable returns the end of s in a form that is safe to print, in whole lines where possible. The
// text is for logs and terminals, and the process may be hostile.
func printable(s string) string {
	s = strings.TrimSpace(s)
	if cut := len(s) - saidLimit; cut > 0 {
		s = s[cut:]
		if _, rest, ok := strings.Cut(s, "\n"); ok {
			s = rest
		}
	}
	return safetext.Lines(s, len(s))
}
