// Package objectstream connects the object streams of github.com/sourcegraph/jsonrpc2 with
// the streams of this module, in both directions, and carries messages in frames with a
// Content-Length header, as language servers do.
//
//   - [New] makes a stream.Stream of an ObjectStream: an agent or client of this module talks
//     over whatever that library can talk over.
//   - [Of] makes an ObjectStream of a stream.Stream: a jsonrpc2.Conn talks over a child
//     process, WebSocket, HTTP or a pipe.
//   - [ContentLength] carries messages as jsonrpc2.VSCodeObjectCodec does, with the limits of
//     this module.
//
// It is the one package of this module that has types of another module in its signatures.
package objectstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/envelope"
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
// itself, so a message that is not JSON is a final error of Read; the limit is applied after
// the message was read into memory; and the library encodes messages again, so that strings
// may be escaped differently than they were written. [ContentLength] has none of these
// limits for frames with a Content-Length header.
func New(s jsonrpc2.ObjectStream, opts *Options) stream.Stream {
	return &objects{s: s, max: opts.maxMessage()}
}

// objects is a stream.Stream over an ObjectStream.
type objects struct {
	s   jsonrpc2.ObjectStream
	max int

	broken error // used only by Write: its first failure
	closed atomic.Bool
	once   sync.Once
	err    error // of the first Close
}

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
	case err != nil:
		return nil, fmt.Errorf("objectstream: reading: %w", err)
	}
	whole := inbox.Gather{Max: o.max}
	_, _ = whole.Write(msg)
	return whole.Take()
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

// Of returns an ObjectStream over s, which it owns. Pass it to jsonrpc2.NewConn.
//
// The Conn of that library ends with the first error of its stream. Therefore ReadObject handles
// skipped messages itself: a message that is too long or not JSON is answered with an error
// response, and a response that is too long or lost becomes an error response for the call that
// waits for it. The loss of a session is a final error. WriteObject may be called by several
// goroutines at once.
func Of(s stream.Stream) jsonrpc2.ObjectStream { return &adapter{s: s} }

// adapter is an ObjectStream over a stream.Stream.
type adapter struct {
	s  stream.Stream
	mu sync.Mutex // held while s.Write is called
}

func (a *adapter) WriteObject(v any) error {
	msg, err := json.Marshal(v)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.s.Write(msg)
}

func (a *adapter) ReadObject(v any) error {
	for {
		msg, err := a.s.Read()
		if err != nil {
			if msg, err = a.skipped(err); err != nil {
				return err
			}
		} else if envelope.Parse(msg).Kind == envelope.KindNotJSON {
			err = a.WriteObject(errorResponse(nil, jsonrpc2.CodeParseError, "Parse error"))
			if err != nil {
				return err
			}
			continue
		}
		if msg != nil {
			return json.Unmarshal(msg, v)
		}
	}
}

// skipped returns the message in place of one that the stream has skipped: the error response for a
// call of this end, or nil if the peer was sent an error. It returns other errors unchanged.
func (a *adapter) skipped(err error) ([]byte, error) {
	if large, ok := errors.AsType[*stream.TooLargeError](err); ok {
		refusal := errorResponse(large.ID, jsonrpc2.CodeInvalidRequest, "Invalid request: message is too long")
		if large.HasResult && large.ID != nil {
			return json.Marshal(refusal)
		}
		if large.HasResult || large.ID == nil && large.Method != "" {
			return nil, nil // it belongs to no call, or it is a notification
		}
		return nil, a.WriteObject(refusal)
	}
	if lost, ok := errors.AsType[*stream.LostError](err); ok && lost.ID != nil {
		return json.Marshal(errorResponse(lost.ID, jsonrpc2.CodeInternalError, lost.Error()))
	}
	return nil, err
}

func (a *adapter) Close() error { return a.s.Close() }

// response is an error response; jsonrpc2.Response cannot have the id null.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *jsonrpc2.Error `json:"error"`
}

func errorResponse(id json.RawMessage, code int64, message string) *response {
	if id == nil {
		id = json.RawMessage("null")
	}
	return &response{Version: "2.0", ID: id, Error: &jsonrpc2.Error{Code: code, Message: message}}
}
