package connect

import (
	"context"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// attempt negotiates with one agent over one stream.
type attempt struct {
	n      *negotiation
	probe  *probe
	conn   *Conn
	v1, v2 *half // nil if the version is not offered
}

// half is one of the two connections. Its end of the stream waits until the version is known.
type half struct {
	version int
	end     *end
	request stream.Message // the initialize it wants to send
	done    chan error     // receives the error of Initialize
	over    bool           // done was read
	conn    life
}

func (a *attempt) newHalf(version int) *half {
	return &half{version: version, end: newEnd(a.probe), done: make(chan error, 1)}
}

// startV1 starts the connection of version 1. Nothing is sent yet.
func (a *attempt) startV1() *half {
	h, o := a.newHalf(acp.ProtocolVersion), &a.n.opts
	var served acp.Client
	conn := client.New(h.end, func(c *client.Conn) acp.Client {
		if o.V1 == nil {
			served = a.conn.clientV1(o.Permission, c)
		} else {
			served = o.V1(c)
		}
		return a.conn.set1.Client(served)
	}, a.conn.optionsV1(o.ConnV1))
	a.conn.v1, h.conn = conn, conn
	h.initialize(conn.Start(a.n.ctx), func() error {
		var req acp.InitializeRequest
		if o.InitializeV1 != nil {
			req = endpoint.ValueOf(o.InitializeV1(served))
			req.ProtocolVersion = 0
		}
		_, err := conn.Initialize(a.n.start, &req)
		return err
	})
	return h
}

// startV2 starts the connection of version 2. Nothing is sent yet.
func (a *attempt) startV2() *half {
	h, o := a.newHalf(acp2.ProtocolVersion), &a.n.opts
	var served acp2.Client
	conn := client2.New(h.end, func(c *client2.Conn) acp2.Client {
		if o.V2 == nil {
			served = a.conn.clientV2(o.Permission, c)
		} else {
			served = o.V2(c)
		}
		return a.conn.set2.Client(served)
	}, a.conn.optionsV2(o.ConnV2))
	a.conn.v2, h.conn = conn, conn
	h.initialize(conn.Start(a.n.ctx), func() error {
		var req acp2.InitializeRequest
		if o.InitializeV2 != nil {
			req = endpoint.ValueOf(o.InitializeV2(served))
			req.ProtocolVersion = 0
		}
		_, err := conn.Initialize(a.n.start, &req)
		return err
	})
	return h
}

// initialize calls Initialize of a connection. started is the error of its Start.
func (h *half) initialize(started error, call func() error) {
	if started != nil {
		h.done <- started
		return
	}
	go func() { // ends with the response, with the connection, or with the time to start
		err := errGone
		defer func() { h.done <- err }() // runs even if a middleware calls runtime.Goexit
		err = call()
	}()
}

var errGone = errors.New("draft2/connect: the goroutine of initialize was ended, for example by runtime.Goexit in a middleware")

// wants waits until the connection wants to send its initialize.
func (h *half) wants(ctx context.Context) error {
	select {
	case h.request = <-h.end.wants:
		return nil
	case err := <-h.done:
		h.over = true
		if err == nil {
			err = errors.New("draft2/connect: a middleware responds to initialize itself")
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *half) params() []byte {
	if e := envelope.Parse(h.request.Data); len(e.Params) > 0 {
		return e.Params
	}
	return []byte("{}")
}

// leave closes the connection and waits until it has ended.
func (h *half) leave() {
	if h == nil {
		return
	}
	h.conn.Close()
	if !h.over {
		<-h.done
		h.over = true
	}
	_ = h.conn.Wait() // the connection was never used
}

// leave closes both connections and the stream.
func (a *attempt) leave(s stream.Stream) {
	s.Close()
	a.v1.leave()
	a.v2.leave()
}

// settle sends initialize, and attaches the stream to the connection of the agent's version.
func (a *attempt) settle() error {
	for _, h := range []*half{a.v1, a.v2} {
		if h == nil {
			continue
		}
		if err := h.wants(a.n.start); err != nil {
			return err
		}
	}
	switch {
	case a.v1 == nil:
		return a.alone(a.v2)
	case a.v2 == nil:
		return a.alone(a.v1)
	}
	params, err := merged(a.v1.params(), a.v2.params())
	if err != nil {
		return fmt.Errorf("draft2/connect: the params of initialize: %w", err)
	}
	got, err := a.probe.ask(a.n.start, params)
	if err != nil {
		return a.again(err)
	}
	switch got.verdict() {
	case speaksV2:
		got.result = got.as(acp2.ProtocolVersion)
		return a.give(a.v2, &got, a.v1)
	case speaksV1:
		return a.speaksV1(got)
	case tryV1:
		return a.tryV1(got)
	}
	return got.refusal()
}

// alone sends initialize in the only version that is offered.
func (a *attempt) alone(h *half) error {
	got, err := a.probe.ask(a.n.start, h.params())
	if err != nil {
		return err
	}
	if h.version == acp2.ProtocolVersion && got.verdict() == speaksV1 {
		return &acp.VersionError{Requested: h.version, Own: []int{h.version}, Answered: acp.ProtocolVersion}
	}
	return a.give(h, &got, nil)
}

// speaksV1 continues in version 1. If the agent may not have received all capabilities of the
// client, it gets a second initialize, which version 1 allows at any time. This goes over the same
// stream, or over a new one if the endpoint accepts one initialize only.
func (a *attempt) speaksV1(got answer) error {
	if params := a.v1.params(); lossy(params) {
		single := a.probe.features.SingleInitialize
		if single && a.n.dial != nil {
			return &againError{errSingle}
		}
		if !single {
			again, err := a.probe.ask(a.n.start, params)
			if err != nil {
				return a.again(err)
			}
			if again.verdict() == speaksV1 {
				got = again
			} // otherwise the agent rejects the second initialize, and the first one counts
		}
	}
	got.result = got.as(acp.ProtocolVersion)
	return a.give(a.v1, &got, a.v2)
}

var errSingle = errors.New("draft2/connect: the endpoint takes one initialize, which may not have told the agent of all capabilities")

// tryV1 sends initialize again in version 1. It uses a new stream if possible, because the agent
// may be in a bad state.
func (a *attempt) tryV1(got answer) error {
	if a.n.dial != nil {
		return &againError{got.refusal()}
	}
	again, err := a.probe.ask(a.n.start, a.v1.params())
	if err != nil {
		return fmt.Errorf("%w (version %d before: %w)", err, acp2.ProtocolVersion, got.refusal())
	}
	if err := a.give(a.v1, &again, a.v2); err != nil {
		return fmt.Errorf("%w (version %d before: %w)", named(err), acp2.ProtocolVersion, got.refusal())
	}
	return nil
}

// again wraps an error that may not occur if the agent is dialed again in version 1.
func (a *attempt) again(err error) error {
	if a.n.dial == nil || a.n.start.Err() != nil {
		return err
	}
	return &againError{err}
}

// give attaches the stream with the response to one connection, and closes the other.
func (a *attempt) give(h *half, got *answer, other *half) error {
	other.leave()
	a.conn.chosen(h.version)
	if err := h.end.attach(append(a.probe.early, responseTo(&h.request, got))); err != nil {
		return fmt.Errorf("draft2/connect: %w", err)
	}
	err := <-h.done
	h.over = true
	return err
}

// refusal returns the error for an agent that supports none of the offered versions.
func (a *answer) refusal() error {
	own := []int{acp.ProtocolVersion, acp2.ProtocolVersion}
	switch {
	case a.err == nil && a.version >= 0 && a.version != acp.ProtocolVersion && a.version != acp2.ProtocolVersion:
		return &acp.VersionError{Requested: acp2.ProtocolVersion, Own: own, Answered: a.version}
	case a.err == nil:
		return errors.New("draft2/connect: the response to initialize has the shape of neither version")
	case a.err.Code == rpcerr.CodeUnsupportedProtocolVersion:
		return &acp.VersionError{Requested: acp2.ProtocolVersion, Own: own, Supported: a.supported, Err: a.err}
	}
	return a.err
}
