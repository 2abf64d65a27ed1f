package stream

import (
	"errors"
	"os"
	"sync/atomic"
)

// errStdioTaken is what the second Stdio stream of a process answers.
var errStdioTaken = errors.New("stream: Stdio was called before in this process")

var stdioTaken atomic.Bool

// Stdio returns the stream of an agent that a client started: lines over the
// process's standard input and output. Call it first thing in main.
//
// It takes both over for good. Standard output continues under a private
// descriptor, and what the process itself prints to it from then on, be it
// fmt.Println, C code or a child that inherits it, goes to standard error, so that
// it cannot end up between two messages. Standard input reads as empty for everybody
// else. (On Windows this holds for Go code and for children, not for C code that
// was initialised before.) Writing to a client that went away is an error
// (syscall.EPIPE or the like), and logging to a standard error that went away does
// not end the process either: SIGPIPE is caught.
//
// On Unix, Close interrupts a blocked Read and Write when the client is connected
// by pipes or sockets, which is what clients do. A read from a terminal cannot be
// interrupted, nor one on Windows; it ends with the next input.
//
// A process has one standard input, so only the first call works; the stream of
// a later one fails every Read and Write and says why. The same goes for a system
// where the descriptors could not be taken over.
func Stdio() Stream { return StdioLines(nil) }

// StdioLines is [Stdio] with options, for an agent that wants another limit on the
// length of a message.
func StdioLines(opts *LinesOptions) Stream {
	if stdioTaken.Swap(true) {
		return broken{errStdioTaken}
	}
	in, out, err := takeStdio()
	if err != nil {
		return broken{err}
	}
	return Lines(in, out, opts)
}

// broken is a stream that never worked.
type broken struct{ err error }

func (b broken) Read() ([]byte, error) { return nil, b.err }
func (b broken) Write([]byte) error    { return b.err }
func (b broken) Close() error          { return nil }

// devNull opens the null device for reading.
func devNull() (*os.File, error) { return os.Open(os.DevNull) }
