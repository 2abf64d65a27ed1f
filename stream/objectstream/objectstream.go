// Package objectstream connects the object streams of github.com/sourcegraph/jsonrpc2 with the
// streams of this module, in both directions, and carries messages in frames with a Content-Length
// header, as language servers do. Experimental: it may change in any release.
//
//   - [New] makes a stream.Stream of an ObjectStream: an agent or client of this module talks
//     over whatever that library can talk over.
//   - [Of] makes an ObjectStream of a stream.Stream: a jsonrpc2.Conn talks over a child
//     process, WebSocket, HTTP or a pipe.
//   - [ContentLength] carries messages as jsonrpc2.VSCodeObjectCodec does, with the limits of
//     this module.
//
// Together with agent/onjsonrpc2 and client/onjsonrpc2 it is the part of this module that has types
// of another module in its signatures.
package objectstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/inbox"
	"github.com/acpkit/go-sdk/stream"
)

// Options configure [New] and [ContentLength], which copy them. The zero value selects the
// defaults.
type Options struct {
	// MaxMessage is the longest message in bytes that is read; 0 means
	// stream.DefaultMaxMessage. For a longer message Read returns a *stream.TooLargeError.
	MaxMessage int
}

func (o *Options) maxMessage() int {
	if o == nil || o.MaxMessage <= 0 {
		return stream.DefaultMaxMessage
	}
	return o.MaxMessage
}

// New returns a stream that carries its messages over s, which it owns: nothing else may
// use s, and Close closes it.
//
// An ObjectStream keeps less than the other streams of this module. It parses each message
// itself, and what it says of one that is not JSON is a syntax error without the message: Read
// returns a text in its place that is not JSON either, so that the connection answers it. If
// nothing tells where the next message begins, as in a stream of plain objects, the next Read
// fails for good, and so does that of a message that is cut off. The limit is applied after the message was read into memory. The library
// encodes messages again, so that strings may be escaped differently than they were written.
// [ContentLength] has none of these limits for frames with a Content-Length header.
func New(s jsonrpc2.ObjectStream, opts *Options) stream.Stream {
	return &objects{s: s, max: opts.maxMessage()}
}

// objects is a stream.Stream over an ObjectStream.
type objects struct {
	s   jsonrpc2.ObjectStream
	max int

	syntax *json.SyntaxError // used only by Read: the last error of a message that is not JSON

	broken error // used only by Write: its first failure
	closed atomic.Bool
	once   sync.Once
	err    error // of the first Close
}

// notJSON stands for a message that the library could not parse.
const notJSON = "not JSON"

func (o *objects) Read() ([]byte, error) {
	if o.closed.Load() {
		return nil, stream.ErrClosed
	}
	var msg json.RawMessage
	err := o.s.ReadObject(&msg)
	switch {
	case o.closed.Load():
		return nil, stream.ErrClosed
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case o.skips(err):
		return []byte(notJSON), nil
	case err != nil:
		return nil, fmt.Errorf("objectstream: reading: %w", err)
	}
	whole := inbox.Gather{Max: o.max}
	_, _ = whole.Write(msg)
	return whole.Take()
}

// skips reports whether err means that one message was not JSON. A decoder that cannot continue
// returns the same error again.
func (o *objects) skips(err error) bool {
	last := o.syntax
	return errors.As(err, &o.syntax) && o.syntax != last
}

func (o *objects) Write(msg []byte) error {
	if o.closed.Load() {
		return stream.ErrClosed
	}
	if o.broken != nil {
		return o.broken
	}
	if !json.Valid(msg) { // the library would fail after a part of a frame
		return &stream.MessageError{Reason: "it is not JSON"}
	}
	if err := o.s.WriteObject(json.RawMessage(msg)); err != nil {
		if o.broken = fmt.Errorf("objectstream: writing: %w", err); o.closed.Load() {
			o.broken = stream.ErrClosed
		}
	}
	return o.broken
}

func (o *objects) Close() error {
	o.once.Do(func() {
		o.closed.Store(true)
		o.err = o.s.Close()
	})
	return o.err
}
