package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Stream carries whole JSON-RPC messages, one JSON value each, in both
// directions. A connection owns its stream: it alone reads, writes and closes it
// while it lives. Package streamtest checks an implementation
// of your own against this contract.
type Stream interface {
	// Read returns the next message, without any framing. It is called by one
	// goroutine at a time. The slice belongs to the caller.
	//
	// An error for which errors.Is(err, io.EOF) holds is the clean end: the peer
	// sends nothing more, and all that it had sent was read. A *[TooLargeError]
	// stands for one message that was skipped, and a *[LostError] for what will not
	// arrive; reading goes on after both. Every other error is final, and so is
	// ErrClosed after Close.
	Read() ([]byte, error)

	// Write sends one message. It is called by one goroutine at a time, which may
	// be a different one from that of Read. It keeps no reference to msg. A message is
	// written as a whole or the stream is broken: after an error that is not a
	// *[MessageError], further writes fail too.
	Write(msg []byte) error

	// Close ends both directions. The peer reads what was written before and
	// then io.EOF. Close makes a blocked Write return, and a blocked Read where
	// the system allows it. It may be called by any goroutine, at any time and
	// repeatedly; calls after the first return the same error.
	Close() error
}

// DefaultMaxMessage is the longest message that is read unless an option says
// otherwise: 32 MiB.
const DefaultMaxMessage = 32 << 20

// ErrClosed is returned by Read and Write after the stream was closed at this end.
var ErrClosed = errors.New("stream: closed")

// TooLargeError is returned by Read in place of a message that is longer than
// the limit. The message was skipped and never held in memory. Method, ID and
// HasResult come from its top level, so that a request can be answered and the call
// of a response can fail. Reading may go on.
type TooLargeError struct {
	// Method is the message's method, cut at 256 bytes. It is empty if there is none.
	Method string
	// ID is the message's id as it was written: a string, a number or null. It is nil if
	// the message has no id, more than one, or one that is longer than 1 KiB.
	ID json.RawMessage
	// HasResult reports whether the message has a result or an error, that is, whether
	// it is a response.
	HasResult bool
	// Size is the length of the message, Limit the longest allowed, both in bytes.
	Size, Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("stream: message of %d bytes is longer than the limit of %d", e.Size, e.Limit)
}

// MessageError is returned by Write and WriteBatch for a message that this kind
// of stream cannot carry. Nothing was written, and the stream stays usable.
type MessageError struct {
	Reason string
}

func (e *MessageError) Error() string { return "stream: message cannot be sent: " + e.Reason }

// ErrShutdown is the error of a clean end because the peer shuts down. It distinguishes this end
// from other clean ends; errors.Is(err, io.EOF) holds as well. Network streams return it, or an
// error for which errors.Is(err, ErrShutdown) holds.
var ErrShutdown error = shutdown{}

type shutdown struct{}

func (shutdown) Error() string        { return "stream: the peer shuts down" }
func (shutdown) Is(target error) bool { return target == io.EOF }

// StatusError is an HTTP response that refuses a connection, a request or a message.
// Network streams return it, wrapped.
type StatusError struct {
	Code int    // the status, such as 401
	Body string // the beginning of the body
}

// StatusCode returns Code. Package rpcerr/classify determines the kind of the error by it.
func (e *StatusError) StatusCode() int { return e.Code }

func (e *StatusError) Error() string {
	return fmt.Sprintf("stream: the server answered with HTTP status %d", e.Code)
}
