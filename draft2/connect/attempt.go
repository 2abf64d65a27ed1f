package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	thread2 "github.com/acpkit/go-sdk/draft2/thread"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// attempt negotiates with one agent over one stream. There is no connection before the version is
// known.
type attempt struct {
	n     *negotiation
	probe *probe
}

// settle sends initialize, in both versions or the one that is offered, and returns the connection of the
// agent's version.
func (a *attempt) settle(first, second bool) (*Conn, error) {
	v1, v2, err := a.n.opts.params()
	if err != nil {
		return nil, err
	}
	switch {
	case !first:
		return a.alone(acp2.ProtocolVersion, v2)
	case !second:
		return a.alone(acp.ProtocolVersion, v1)
	}
	both, err := merged(v1, v2)
	if err != nil {
		return nil, fmt.Errorf("draft2/connect: the params of initialize: %w", err)
	}
	got, err := a.probe.ask(a.n.start, both)
	if err != nil {
		return nil, a.again(err)
	}
	switch got.verdict() {
	case speaksV2:
		got.result = got.as(acp2.ProtocolVersion)
		return a.open(acp2.ProtocolVersion, &got)
	case speaksV1:
		return a.speaksV1(got, v1)
	case tryV1:
		return a.tryV1(got, v1)
	}
	return nil, got.refusal()
}

// params returns the params of initialize in each version, as the connection of that version would send them.
func (o *Options) params() (v1, v2 []byte, err error) {
	if v1, err = json.Marshal(o.InitializeV1); err == nil {
		v2, err = json.Marshal(o.InitializeV2)
	}
	if err != nil {
		err = fmt.Errorf("draft2/connect: the params of initialize: %w", err)
	}
	return v1, v2, err
}

// alone sends initialize in the only version that is offered.
func (a *attempt) alone(version int, params []byte) (*Conn, error) {
	got, err := a.probe.ask(a.n.start, params)
	if err != nil {
		return nil, err
	}
	if version == acp2.ProtocolVersion && got.verdict() == speaksV1 {
		return nil, &acp.VersionError{Requested: version, Own: []int{version}, Answered: acp.ProtocolVersion}
	}
	return a.open(version, &got)
}

// speaksV1 continues in version 1. If the agent may not have received all capabilities of the
// client, it gets a second initialize, which version 1 allows at any time. This goes over the same
// stream, or over a new one if the endpoint accepts one initialize only.
func (a *attempt) speaksV1(got answer, params []byte) (*Conn, error) {
	if lossy(params) {
		single := a.probe.features.SingleInitialize
		if single && a.n.dial != nil {
			return nil, &againError{errSingle}
		}
		if !single {
			again, err := a.probe.ask(a.n.start, params)
			if err != nil {
				return nil, a.again(err)
			}
			if again.verdict() == speaksV1 {
				got = again
			} // otherwise the agent rejects the second initialize, and the first one counts
		}
	}
	got.result = got.as(acp.ProtocolVersion)
	return a.open(acp.ProtocolVersion, &got)
}

var errSingle = errors.New("draft2/connect: the endpoint takes one initialize, which may not have told the agent of all capabilities")

// tryV1 sends initialize again in version 1. It uses a new stream if possible, because the agent
// may be in a bad state.
func (a *attempt) tryV1(got answer, params []byte) (*Conn, error) {
	if a.n.dial != nil {
		return nil, &againError{got.refusal()}
	}
	conn, err := a.alone(acp.ProtocolVersion, params)
	if err != nil {
		return nil, fmt.Errorf("%w (version %d before: %w)", named(err), acp2.ProtocolVersion, got.refusal())
	}
	return conn, nil
}

// again wraps an error that may not occur if the agent is dialed again in version 1.
func (a *attempt) again(err error) error {
	if a.n.dial == nil || a.n.start.Err() != nil {
		return err
	}
	return &againError{err}
}

// open makes the connection of the version, which gets the response to its initialize from got.
func (a *attempt) open(version int, got *answer) (*Conn, error) {
	c, o := newConn(version), &a.n.opts
	var err error
	s := newAnswered(a.probe, got)
	if version == acp.ProtocolVersion {
		c.set1 = new(thread.Set)
		c.v1 = client.New(s, func(conn *client.Conn) acp.Client {
			if o.V1 == nil {
				return c.set1.Client(c.clientV1(o.Permission, conn))
			}
			return c.set1.Client(o.V1(conn))
		}, c.optionsV1(o.ConnV1))
		c.life, c.back = c.v1, &backendV1{conn: c.v1, set: c.set1}
		if err = c.v1.Start(context.WithoutCancel(a.n.ctx)); err == nil {
			_, err = c.v1.Initialize(a.n.start, o.InitializeV1)
		}
	} else {
		c.set2 = new(thread2.Set)
		c.v2 = client2.New(s, func(conn *client2.Conn) acp2.Client {
			if o.V2 == nil {
				return c.set2.Client(c.clientV2(o.Permission, conn))
			}
			return c.set2.Client(o.V2(conn))
		}, c.optionsV2(o.ConnV2))
		c.life, c.back = c.v2, &backendV2{conn: c.v2, set: c.set2}
		if err = c.v2.Start(context.WithoutCancel(a.n.ctx)); err == nil {
			_, err = c.v2.Initialize(a.n.start, o.InitializeV2)
		}
	}
	if err != nil {
		c.Close()
		_ = c.Wait() // the connection was never used
		return nil, err
	}
	c.OnEnd(c.ended)
	return c, nil
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

// attempt connects over s in one of the versions. If both are set, the newer one is preferred.
func (n *negotiation) attempt(s stream.Stream, first, second bool) (*Conn, error) {
	p := newProbe(s, n.opts.Logger)
	conn, err := (&attempt{n: n, probe: p}).settle(first, second)
	if err != nil {
		s.Close()
		return nil, endpoint.Silent(n.ctx, err, n.opts.Handshake, endpoint.NoiseOf(s), p.features.SingleInitialize)
	}
	return conn, nil
}
