package stream

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Stream carries whole JSON-RPC messages, one JSON value each, in both
// directions. A connection owns its stream: it reads, writes and closes it, and
// nobody else touches it meanwhile. Package streamtest checks an implementation
// of your own against this contract.
type Stream interface {
	// Read returns the next message, without any framing. It is called by one
	// goroutine at a time. The slice belongs to the caller.
	//
	// An error that is io.EOF (test it with errors.Is, it may say more) is the
	// clean end: the peer sends nothing more. A *[TooLargeError] stands for one
	// message that was skipped; reading goes on. Every other error is final, and
	// so is ErrClosed after Close.
	Read() ([]byte, error)

	// Write sends one message. It is called by one goroutine at a time, which
	// may be another one than Read's. It keeps no reference to msg. A message is
	// written as a whole or the stream is broken: after an error that is not a
	// *[MessageError], further writes fail too.
	Write(msg []byte) error

	// Close ends both directions. The peer reads what was written before and
	// then io.EOF. Close makes a blocked Write return, and a blocked Read where
	// the system allows it. It may be called by any goroutine, at any time and
	// repeatedly; calls after the first return the same error.
	Close() error
}

// BatchWriter is what a [Stream] may implement as well to send several messages
// for the price of one. Write and WriteBatch share the rule of one caller at a
// time. Neither msgs nor what it holds is kept or changed. The messages arrive in
// order; when one of them is refused with a *[MessageError], none is sent.
type BatchWriter interface {
	WriteBatch(msgs [][]byte) error
}

// ProgressWriter is what a [Stream] may implement as well to tell a slow peer from one
// that does not read: a long message may take its time.
type ProgressWriter interface {
	// Written returns how many bytes have left so far, also those of a Write that has
	// not returned yet. It may be called by any goroutine, and must not wait for a Write:
	// it is asked while one is stuck.
	Written() int64
}

// TolerantReader is what a [Stream] may implement as well when Read skips what is not
// JSON. A connection takes every message apart anyway, so that the stream need not do
// it a second time.
type TolerantReader interface {
	// Unchecked makes Read return what begins like an object without looking further.
	// What turns out not to be JSON, the caller gives to the result in place of
	// answering it; it does so on the goroutine that reads. Unchecked is called before
	// the first Read. The result is nil when the stream is not tolerant.
	Unchecked() (noise func(line []byte))
}

// DefaultMaxMessage is the longest message that is read unless an option says
// otherwise: 32 MiB.
const DefaultMaxMessage = 32 << 20

// ErrClosed is returned by Read and Write after the stream was closed on this
// side.
var ErrClosed = errors.New("stream: closed")

// TooLargeError is returned by Read in place of a message that is longer than
// the limit. The message was skipped, its memory never held; what its top level
// tells about it was picked out on the way, so that the one who waits for it can
// be told. Reading may go on.
type TooLargeError struct {
	// Method is the message's method, cut at 256 bytes; empty when it has none.
	Method string
	// ID is the message's id as it was written, a string, a number or null; nil
	// when it has none, two of them, or one of more than 1 KiB.
	ID json.RawMessage
	// HasResult tells that the message has a result or an error: it is a response.
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
