// Package endpoint contains what both ends of a connection share, in every version of the protocol:
// typed methods ([Request], [Notification]), the table of the methods that an end handles, and
// calls by name. It connects the vocabularies with the engine (package rpc), which do not import
// each other. It imports no vocabulary itself.
//
// Only the packages of the ends import it. It has no state; the engine holds the state of a
// connection.
package endpoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Request is a request method with its types. Generated code has one for each row of
// the method table.
type Request[P, R any] struct{ *wire.Method }

// RequestOf returns the request method of that name.
func RequestOf[P, R any](version int, name string) Request[P, R] {
	return Request[P, R]{known(wire.Request(version, name), name)}
}

// Notification is a notification method with its type.
type Notification[P any] struct{ *wire.Method }

// NotificationOf returns the notification method of that name.
func NotificationOf[P any](version int, name string) Notification[P] {
	return Notification[P]{known(wire.Notification(version, name), name)}
}

// known panics if m is nil. The generator writes the rows and the calls of RequestOf from the same
// facts.
func known(m *wire.Method, name string) *wire.Method {
	if m == nil {
		panic("endpoint: no row for " + name)
	}
	return m
}

// Sender sends the messages of one end. It calls Guard, and then the engine, which encodes the
// message.
type Sender struct {
	Engine Engine
	// Guard returns an error if the message must not be sent.
	Guard func(m *wire.Method, params any) error
}

// Engine is a *rpc.Conn, or a connection that others wrote.
type Engine interface {
	Call(ctx context.Context, m *wire.Method, params any, opts *rpc.CallOptions) (any, error)
	Notify(ctx context.Context, m *wire.Method, params any) error
}

func (s *Sender) guard(m *wire.Method, params any) error {
	if s.Guard == nil {
		return errors.New("acp: this Conn is a zero value: connections are made by New")
	}
	return s.Guard(m, params)
}

// Call sends the request and returns the typed result. Nil params are sent as empty params; if the
// schema requires members, the check names them. Call returns both a result and an error if updates
// that were read before the response were dropped because the connection ended.
func (m Request[P, R]) Call(ctx context.Context, s *Sender, params *P, opts *rpc.CallOptions) (*R, error) {
	if params == nil {
		params = new(P)
	}
	if err := s.guard(m.Method, params); err != nil {
		if opts != nil && opts.AtResponse != nil {
			opts.AtResponse(err)
		}
		return nil, err
	}
	res, err := s.Engine.Call(ctx, m.Method, params, opts)
	r, ok := res.(*R)
	if err != nil {
		return r, err
	}
	if !ok {
		return nil, fmt.Errorf("acp: %s: a middleware returned %T instead of %T", m.Name, res, new(R))
	}
	return r, nil
}

// Notify sends the notification. Nil params are sent as empty params.
func (m Notification[P]) Notify(ctx context.Context, s *Sender, params *P) error {
	if params == nil {
		params = new(P)
	}
	if err := s.guard(m.Method, params); err != nil {
		return err
	}
	return s.Engine.Notify(ctx, m.Method, params)
}

// Handle adds the method to t, with f as its handler.
func (m Request[P, R]) Handle(t *Table, f func(context.Context, *P) (*R, error)) *rpc.Entry {
	return t.add(&rpc.Entry{Method: m.Method, Handle: func(ctx context.Context, params any) (any, error) {
		p, ok := params.(*P)
		if !ok {
			return nil, badParams[P](m.Name, params)
		}
		res, err := f(ctx, p)
		if err != nil {
			return nil, err
		}
		if res == nil {
			// Return an empty result. Most methods allow it; for the others, the check of the
			// encoded result returns an error.
			res = new(R)
		}
		return res, nil
	}})
}

// Handle adds the method to t, with f as its handler.
func (m Notification[P]) Handle(t *Table, f func(context.Context, *P) error) *rpc.Entry {
	return t.add(&rpc.Entry{Method: m.Method, Handle: func(ctx context.Context, params any) (any, error) {
		p, ok := params.(*P)
		if !ok {
			return nil, badParams[P](m.Name, params)
		}
		return nil, f(ctx, p)
	}})
}

// badParams is the error for a middleware that passes on params of a wrong type.
func badParams[P any](name string, params any) error {
	return fmt.Errorf("acp: %s: a middleware passed on %T instead of %T", name, params, new(P))
}
