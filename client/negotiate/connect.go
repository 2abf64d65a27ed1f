package negotiate

import (
	"context"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/stream"
)

// Connect connects to an agent in the newest version that both ends support; see the
// package comment. The connection is closed when ctx is done.
//
// If the agent supports neither version, or not the one that Options.Only allows, the error
// is a *[acp.VersionError] that names the versions of both ends. If Connect fails, it
// closes the stream that dial returned.
func Connect(ctx context.Context, dial Dial, opts *Options) (*Conn, error) {
	if dial == nil {
		return nil, errors.New("negotiate: Connect was given no Dial: pass the result of Command, or a func that connects")
	}
	n, stop, err := begin(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer stop()
	n.dial = dial
	s, err := n.dialed()
	if err != nil {
		return nil, err
	}
	return n.run(s)
}

// ConnectOver is like [Connect] for an agent that cannot be dialed again: a second
// initialize request is sent over s as well. ConnectOver takes ownership of s.
func ConnectOver(ctx context.Context, s stream.Stream, opts *Options) (*Conn, error) {
	if endpoint.IsNil(s) {
		return nil, errors.New("negotiate: ConnectOver was given a nil stream: pass the result of stream.Command or another stream")
	}
	n, stop, err := begin(ctx, opts)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	defer stop()
	return n.run(s)
}

// negotiation is one call of Connect.
type negotiation struct {
	ctx   context.Context // ctx of the connection
	start context.Context // ctx of Connect, until the connection is ready
	dial  Dial            // nil if the agent cannot be dialed again
	opts  Options
}

func begin(ctx context.Context, opts *Options) (n *negotiation, stop func(), err error) {
	n = &negotiation{ctx: ctx, start: ctx, opts: opts.clone()}
	if err := n.opts.check(); err != nil {
		return nil, nil, err
	}
	if n.opts.StartTimeout < 0 {
		return n, func() {}, nil
	}
	n.start, stop = context.WithTimeoutCause(ctx, n.opts.StartTimeout, errTimeout)
	return n, stop, nil
}

var errTimeout = fmt.Errorf("negotiate: the agent did not respond in the time of Options.StartTimeout: %w", context.DeadlineExceeded)

func (n *negotiation) dialed() (stream.Stream, error) {
	s, err := n.dial(n.start)
	switch {
	case err != nil:
		return nil, err
	case endpoint.IsNil(s):
		return nil, errors.New("negotiate: Dial returned no stream")
	}
	return s, nil
}

// run connects over s, or over another stream if that fails.
func (n *negotiation) run(s stream.Stream) (*Conn, error) {
	conn, err := n.attempt(s, n.opts.Only != acp2.ProtocolVersion, n.opts.Only != acp.ProtocolVersion)
	again, ok := errors.AsType[*againError](err)
	if !ok {
		return conn, err
	}
	if s, err = n.dialed(); err != nil {
		return nil, fmt.Errorf("%w (dialed again because: %w)", err, again.err)
	}
	conn, err = n.attempt(s, true, false)
	if err != nil {
		return nil, fmt.Errorf("%w (version %d before: %w)", named(err), acp2.ProtocolVersion, again.err)
	}
	return conn, nil
}

// againError means that the agent may speak version 1 if it is dialed again.
type againError struct{ err error }

func (e *againError) Error() string { return e.err.Error() }

// attempt connects over s in one of the versions. If both are set, the newer one is preferred.
func (n *negotiation) attempt(s stream.Stream, first, second bool) (*Conn, error) {
	a := &attempt{n: n, probe: newProbe(s), conn: newConn()}
	if first {
		a.v1 = a.startV1()
	}
	if second {
		a.v2 = a.startV2()
	}
	if err := a.settle(); err != nil {
		a.leave(s)
		return nil, err
	}
	a.conn.OnEnd(a.conn.ended)
	return a.conn, nil
}

// named adds both versions to an error about the version. It returns other errors unchanged.
func named(err error) error {
	e, ok := errors.AsType[*acp.VersionError](err)
	if !ok {
		return err
	}
	both := *e
	both.Own = []int{acp.ProtocolVersion, acp2.ProtocolVersion}
	return &both
}
