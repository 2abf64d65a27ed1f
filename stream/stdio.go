package stream

import (
	"errors"
	"sync/atomic"
)

// errStdioTaken is returned by every Stdio stream of a process except the first.
var errStdioTaken = errors.New("stream: Stdio was already called in this process")

var stdioTaken atomic.Bool

// Stdio returns the stream of an agent that a client started: lines over the
// process's standard input and output. Call it first thing in main.
//
// It takes both over permanently. The stream uses private descriptors. What the
// process prints to standard output after the call, whether by fmt.Println, from C
// code or from a child that inherits it, goes to standard error, so that it cannot
// get between two messages. All other readers of standard input find it empty. (On
// Windows this holds for Go code and for children, not for C code that was initialized
// before.) Writing to a client that is gone returns an error (such as syscall.EPIPE),
// and logging to a closed standard error does not end the process either: SIGPIPE is
// caught.
//
// On Unix, Close interrupts a blocked Read and Write when the client is connected
// by pipes or sockets, which is what clients do. A read from a terminal cannot be
// interrupted, nor one on Windows; it ends with the next input.
//
// A process has one standard input, so only the first call works. Every Read and
// Write of a stream that a later call returned fails with an error that gives the
// reason. The same holds if the descriptors could not be taken over.
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

// broken is a stream whose calls all fail.
type broken struct{ err error }

func (b broken) Read() ([]byte, error) { return nil, b.err }
func (b broken) Write([]byte) error    { return b.err }
func (b broken) Close() error          { return nil }
