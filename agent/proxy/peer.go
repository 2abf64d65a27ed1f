package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Peer is the client or the agent. Its methods send messages of the proxy itself, which do
// not go through middleware and are not passed on to the other end.
type Peer struct {
	proxy *Proxy
	end   *end
}

// Call sends a request and returns the raw result. Params may be a json.RawMessage or any
// value that encoding/json can encode; if params is nil, the request has none. The error
// is an *[Error] if the peer responds with an error, and wraps acp.ErrClosed if the proxy
// has ended. If ctx is done, Call cancels the request at the peer and returns the error of
// ctx.
//
// If ctx belongs to a middleware, Call first calls [Release].
func (x *Peer) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	p := x.proxy
	m, r, err := x.encode(method, params, p.ownID())
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	Release(ctx)
	if err := x.end.add(r.id, r.waiting()); err != nil {
		return nil, err
	}
	written := x.begin(func() error {
		if open, gone := x.end.holds(r.id, r); !open { // the end has left since the request was added
			return gone
		}
		return x.write(m)
	})
	select {
	case err := <-written:
		if err != nil {
			x.end.take(r.id)
			return nil, err
		}
		written <- nil // cancel reads it again
	case <-ctx.Done():
		x.end.take(r.id)
		go x.cancel(r.id, method, written) // ends with its writes, at the end of the proxy at the latest
		return nil, ctx.Err()
	}
	select {
	case res, ok := <-r.response:
		if !ok {
			return nil, wire.ErrClosed
		}
		return payload(res)
	case <-ctx.Done():
		x.end.take(r.id)
		go x.cancel(r.id, method, written) // likewise
		return nil, ctx.Err()
	}
}

// Notify sends a notification. Params are as for [Peer.Call], and so are the errors. If ctx
// is done while the peer does not read, the notification may be sent later.
func (x *Peer) Notify(ctx context.Context, method string, params any) error {
	m, _, err := x.encode(method, params, nil)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case err := <-x.begin(func() error { return x.write(m) }):
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin starts a write and returns a channel for its error. The peer may not read, so the ctx of
// the caller may end before the write does.
func (x *Peer) begin(write func() error) (written chan error) {
	written = make(chan error, 1)
	go func() { written <- write() }() // ends with the write, at the end of the proxy at the latest
	return written
}

// write sends a message. The error wraps acp.ErrClosed if the stream is broken.
func (x *Peer) write(m stream.Message) error {
	err := x.end.write(m)
	x.proxy.broke(err)
	if _, ok := errors.AsType[*outputError](err); ok {
		return fmt.Errorf("%w: %w", wire.ErrClosed, err)
	}
	return err
}

// cancel cancels a request. written receives whether the request was written.
func (x *Peer) cancel(id json.RawMessage, method string, written <-chan error) {
	err := <-written
	if err == nil {
		err = x.write(cancelOf(id))
	}
	if err != nil {
		x.proxy.log.Debug("proxy: a call could not be cancelled", "method", shown(method), "error", err.Error())
	}
}

func (x *Peer) encode(method string, params any, id json.RawMessage) (stream.Message, *request, error) {
	p := x.proxy
	p.mu.Lock()
	started, over := p.started, p.over
	p.mu.Unlock()
	switch {
	case p.bad != nil:
		return stream.Message{}, nil, p.bad
	case over:
		return stream.Message{}, nil, wire.ErrClosed
	case !started:
		return stream.Message{}, nil, fmt.Errorf("proxy: %s: not started: call Start or Run first", shown(method))
	}
	raw, ok := params.(json.RawMessage)
	if !ok && params != nil {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return stream.Message{}, nil, fmt.Errorf("proxy: %s: encoding params: %w", shown(method), err)
		}
	}
	m, err := encode(method, id, raw)
	return m, &request{id: id, session: m.SessionID}, err
}

// goneError is the error of a request to an end that takes no more.
type goneError struct {
	name  string
	cause error
}

func (e *goneError) Error() string { return "proxy: the " + e.name + " has left" }

func (e *goneError) Is(target error) bool { return target == wire.ErrClosed }

func (e *goneError) Unwrap() error { return e.cause }

// RequestError returns the error that the sender of such a request gets.
func (e *goneError) RequestError() *rpcerr.RequestError {
	return rpcerr.InternalError(nil).WithDetail("the " + e.name + " has left").WithCause(e.cause)
}

// Error is an error that an end responded with. If a [Handler] returns it, wrapped or not,
// it is passed on byte for byte. The functions of package rpcerr handle it like any other
// error of the protocol.
type Error struct {
	// Raw is the member "error" of the response, or nil if the response has neither a
	// result nor an error.
	Raw json.RawMessage
}

func (e *Error) Error() string {
	if r := e.RequestError(); r != nil {
		return r.Error()
	}
	return "proxy: the peer responded with an error that is not a valid JSON-RPC error"
}

// RequestError returns the error as an *rpcerr.RequestError, or nil if it is not a valid
// JSON-RPC error.
func (e *Error) RequestError() *rpcerr.RequestError {
	r := new(rpcerr.RequestError)
	if r.UnmarshalJSON(e.Raw) != nil {
		return nil
	}
	return r
}

// Is reports whether target is an error of package rpcerr with the same code.
func (e *Error) Is(target error) bool {
	r := e.RequestError()
	return r != nil && r.Is(target)
}
