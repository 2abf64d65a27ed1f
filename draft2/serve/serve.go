package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/stream"
)

// readerGrace is how long Route waits for a read to end after it has closed the stream. A read of
// standard input cannot be interrupted.
const readerGrace = 250 * time.Millisecond

// Serve serves one client over s, of version 1 or of version 2, with an agent of version 1, until
// the connection ends or ctx is done. It takes ownership of s. newAgent is called once, with a
// connection of version 1: clients of version 2 are served through package adapter. Agents on
// agent/kit pass their method Agent. For what Serve returns, see [Route].
func Serve(ctx context.Context, s stream.Stream, newAgent func(*agent.Conn) acp.Agent, opts *Options) error {
	agents := &Agents{V1: newAgent}
	if newAgent != nil {
		o := endpoint.ValueOf(opts)
		agents.V2 = adapter.FromV1(newAgent, &adapter.Options{Agent: o.V1, Logger: o.Logger})
	}
	return Route(ctx, s, agents, opts)
}

// Route serves one client over s with the agent of its version, until the connection ends or ctx
// is done. It takes ownership of s. The first successful initialize of the client determines which
// agent serves the connection; see the package comment. Route returns nil if the client closes the
// connection before that, context.Cause if ctx is done, and otherwise the result of Run of the
// connection.
func Route(ctx context.Context, s stream.Stream, agents *Agents, opts *Options) error {
	switch {
	case endpoint.IsNil(s):
		return errors.New("draft2/serve: there is no stream: pass stream.Stdio() or another stream")
	case agents == nil || agents.V1 == nil && agents.V2 == nil:
		return errors.Join(errors.New("draft2/serve: there is no agent: pass newAgent to Serve, or set V1 or V2 of Agents"), s.Close())
	}
	o := opts.clone()
	r := &router{s: s, features: stream.FeaturesOf(s), v1: agents.V1 != nil, v2: agents.V2 != nil, log: endpoint.LimitLines(o.Logger.With("end", "agent"))}
	chosen, err := r.choose(ctx)
	if chosen == nil {
		return err
	}
	over := handover(s, r.features, chosen.first, r.noise)
	if chosen.version == acp2.ProtocolVersion {
		return agent2.Serve(ctx, over, agents.V2, o.V2)
	}
	return agent.Serve(ctx, over, agents.V1, o.V1)
}

// choice is an agent that was chosen.
type choice struct {
	version int
	first   []byte // the initialize for the agent
}

// outcome is the result of reading. If no agent was chosen, err is why the stream ended.
type outcome struct {
	chosen *choice
	err    error
}

// router reads a stream until an agent can be chosen.
type router struct {
	s        stream.Stream
	features *stream.Features // features of s
	v1, v2   bool             // which agents there are
	noise    func([]byte) bool
	log      *slog.Logger
}

// choose reads until an agent can be chosen. Otherwise it closes the stream and returns why the
// connection ended. The error is nil after a clean end.
func (r *router) choose(ctx context.Context) (*choice, error) {
	read := make(chan outcome, 1)
	go func() { read <- r.read() }() // ends with the first initialize, or with the stream
	var out outcome
	select {
	case out = <-read:
	case <-r.features.Draining: // nothing is in flight
		return nil, r.leave(read)
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), r.leave(read))
	}
	if out.chosen != nil {
		return out.chosen, nil
	}
	err := r.s.Close()
	switch {
	case errors.Is(out.err, io.EOF):
		return nil, err
	case errors.Is(out.err, acp.ErrClosed):
		return nil, out.err
	}
	return nil, fmt.Errorf("%w: %w", acp.ErrClosed, out.err)
}

// leave closes the stream while it is being read.
func (r *router) leave(read <-chan outcome) error {
	err := r.s.Close()
	select {
	case <-read:
	case <-time.After(readerGrace):
	}
	return err
}

// read reads until an agent can be chosen or the stream ends.
func (r *router) read() (out outcome) {
	out.err = panics.Guard(func() (err error) { // a stream of the user may panic
		out.chosen, err = r.readUntilChosen()
		return err
	})
	return out
}

func (r *router) readUntilChosen() (*choice, error) {
	r.noise = envelope.LeaveChecks(r.features)
	for {
		msg, err := r.s.Read()
		if err == nil {
			var chosen *choice
			if chosen, err = r.message(msg); chosen != nil {
				return chosen, nil
			}
		} else if long, ok := errors.AsType[*stream.TooLargeError](err); ok {
			err = r.tooLarge(long)
		} else if _, ok := errors.AsType[*stream.LostError](err); ok {
			err = nil // the response was one of the router, which has nothing else in flight
		}
		if err != nil {
			return nil, err
		}
	}
}

// handover returns a stream that first returns first again, and then the messages of s. It has the
// features of s except ReadMessage, which only saves time. noise is the result of
// envelope.LeaveChecks of s.
func handover(s stream.Stream, below *stream.Features, first []byte, noise func([]byte) bool) stream.Stream {
	f := below.Information()
	f.WriteBatch, f.WriteMessage = below.WriteBatch, below.WriteMessage
	if noise != nil {
		envelope.SetUnchecked(f, func() func([]byte) bool { return noise })
	}
	return &resumed{Stream: s, first: first, features: f}
}

// resumed is a stream whose first message is read again.
type resumed struct {
	stream.Stream

	first    []byte // nil after it was read again
	features *stream.Features
}

func (r *resumed) Read() ([]byte, error) {
	if first := r.first; first != nil {
		r.first = nil
		return first, nil
	}
	return r.Stream.Read()
}

func (r *resumed) Features() *stream.Features { return r.features }
