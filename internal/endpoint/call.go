package endpoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Sender is the way out of one end: the engine, and the guard that is asked
// before anything is encoded.
type Sender struct {
	Engine *Engine
	// Guard returns why the message must not be sent, or nil.
	Guard func(m *wire.Method, params any) error
}

func (s *Sender) guard(m *wire.Method, params any) error {
	if s.Guard == nil {
		return errors.New("acp: this Conn is a zero value: connections are made by New")
	}
	return s.Guard(m, params)
}

// Call sends a request with typed params and returns the typed answer. Nil params
// stand for empty ones; where the schema requires members, the check names them.
func Call[P, R any](ctx context.Context, s *Sender, name string, params *P, opts *rpc.CallOptions) (*R, error) {
	m := wire.Request(acp.ProtocolVersion, name)
	if params == nil {
		params = new(P)
	}
	if err := s.guard(m, params); err != nil {
		if opts != nil && opts.AtResponse != nil {
			opts.AtResponse(err)
		}
		return nil, err
	}
	res, err := s.Engine.Get().Call(ctx, m, params, opts)
	if err != nil {
		return nil, err
	}
	r, ok := res.(*R)
	if !ok {
		return nil, fmt.Errorf("acp: %s: a middleware returned %T instead of %T", m.Name, res, new(R))
	}
	return r, nil
}

// Notify sends a notification with typed params; nil stands for empty ones.
func Notify[P any](ctx context.Context, s *Sender, name string, params *P) error {
	m := wire.Notification(acp.ProtocolVersion, name)
	if params == nil {
		params = new(P)
	}
	if err := s.guard(m, params); err != nil {
		return err
	}
	return s.Engine.Get().Notify(ctx, m, params)
}
