package proxy

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// Proxy passes messages between a client and an agent. All methods are safe for concurrent
// use.
type Proxy struct {
	opts          Options
	log           *slog.Logger
	bad           error // error in the arguments of New
	client, agent *end

	closeEarly func() error // closes the streams of a proxy that was never started

	ownPrefix string // prefix of the ids of the proxy's own requests
	owns      atomic.Uint64

	life     context.Context // the ctx of middleware; set by Start
	endLife  context.CancelCauseFunc
	handlers handlers
	failed   chan error    // the first stream that broke while middleware wrote to it
	closing  chan struct{} // closed to end the proxy now
	done     chan struct{} // closed when both streams are closed

	mu      sync.Mutex // guards the fields below
	started bool
	over    bool // closing is closed
	why     error
	err     error // what Wait returns
	ended   chan struct{}
}

// New returns a proxy between the client and the agent at the two streams. The Proxy takes
// ownership of the streams. New does not start the proxy. If its arguments are invalid,
// Start and Run return an error.
func New(client, agent stream.Stream, opts *Options) *Proxy {
	p := &Proxy{
		opts: opts.clone(), ownPrefix: `"proxy-` + rand.Text()[:10] + "-",
		failed: make(chan error, 1), closing: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{}),
	}
	p.log = rpc.LimitLines(p.opts.Logger)
	switch {
	case isNil(client):
		p.bad = errors.New("proxy: New was given a nil stream to the client: pass stream.Stdio() or another stream")
	case isNil(agent):
		p.bad = errors.New("proxy: New was given a nil stream to the agent: pass the result of stream.Command or another stream")
	}
	p.client, p.agent = newEnd("client", client, p.opts.MaxOpen), newEnd("agent", agent, p.opts.MaxOpen)
	p.closeEarly = sync.OnceValue(func() error {
		defer close(p.done)
		return errors.Join(p.client.close(), p.agent.close())
	})
	return p
}

// Start begins to pass messages on. When ctx is done, the proxy ends and both streams are
// closed. Start must not be called more than once.
func (p *Proxy) Start(ctx context.Context) error {
	if p.bad != nil {
		return p.bad
	}
	p.mu.Lock()
	switch {
	case p.over:
		p.mu.Unlock()
		return wire.ErrClosed
	case p.started:
		p.mu.Unlock()
		return errors.New("proxy: already started: call Start or Run once")
	}
	p.started = true
	p.mu.Unlock()
	p.life, p.endLife = context.WithCancelCause(ctx)
	stop := context.AfterFunc(ctx, func() { p.finish(context.Cause(ctx)) })
	directions := make(chan error, 2)
	go func() { directions <- p.pass(p.client, p.agent, chain(p.opts.FromClient, p.next)) }() // ends with its input, or an error
	go func() { directions <- p.pass(p.agent, p.client, chain(p.opts.FromAgent, p.next)) }()  // likewise
	go func() {                                                                               // ends when both directions and all handlers have ended
		defer stop()
		p.run(directions)
	}()
	return nil
}

// Wait waits until both streams are closed and all goroutines of the proxy have ended. It
// returns nil after a clean end: the client or the agent closed its end, or Close was
// called. Otherwise it returns the error of a stream, such as a *stream.ExitError,
// context.Cause if the ctx of Start is done, or acp.ErrHandlerStuck if middleware does not
// return within 5 s.
func (p *Proxy) Wait() error {
	if p.bad != nil {
		return p.bad
	}
	p.mu.Lock()
	started := p.started
	p.mu.Unlock()
	if !started {
		return errors.New("proxy: not started: call Start or Run first")
	}
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Run calls Start and then Wait.
func (p *Proxy) Run(ctx context.Context) error {
	if err := p.Start(ctx); err != nil {
		return err
	}
	return p.Wait()
}

// Close ends the proxy and closes both streams. It does not wait for middleware. It may be
// called from middleware, and more than once.
func (p *Proxy) Close() error {
	p.finish(nil)
	p.mu.Lock()
	started := p.started
	p.mu.Unlock()
	if !started {
		return p.closeEarly()
	}
	return nil
}

// Done returns a channel that is closed when both streams are closed.
func (p *Proxy) Done() <-chan struct{} { return p.done }

// Client returns the client as a [Peer], for messages of the proxy itself.
func (p *Proxy) Client() *Peer { return &Peer{p, p.client} }

// Agent returns the agent as a [Peer], for messages of the proxy itself.
func (p *Proxy) Agent() *Peer { return &Peer{p, p.agent} }

// finish ends the proxy now. Only the error of the first call is kept.
func (p *Proxy) finish(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.over, p.why = true, err
		close(p.closing)
	}
}

// ownID returns a new id for a request of the proxy itself.
func (p *Proxy) ownID() json.RawMessage {
	return json.RawMessage(p.ownPrefix + strconv.FormatUint(p.owns.Add(1), 10) + `"`)
}

func (p *Proxy) isOwn(id json.RawMessage) bool { return strings.HasPrefix(string(id), p.ownPrefix) }

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, stream.ErrClosed) }
