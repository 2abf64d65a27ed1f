package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
)

// conversation is one connection from start to end.
type conversation struct {
	load *load
	seed uint64
	conn *client.Conn
	user *user

	// broken: an end was closed in the middle, so that errors of the kind are to be
	// expected.
	broken atomic.Bool
}

// converse runs one connection from start to end with a random mix of what programs do.
func converse(ctx context.Context, l *load, seed uint64) error {
	l.connections.Add(1)
	c := &conversation{load: l, seed: seed, user: newUser(l)}
	r := c.random(0)
	connect := c.connect
	if r.IntN(2) == 0 {
		l.second.Add(1)
		connect = c.connect2
	}
	ends, play, err := connect(r)
	if err != nil {
		return err
	}
	l.proxies.Add(int64(len(ends)/2 - 1))
	// The connection outlives ctx: what has begun is brought to its end.
	life := context.WithoutCancel(ctx)
	for _, e := range ends {
		if err := e.Start(life); err != nil {
			return err
		}
	}
	if r.IntN(8) == 0 {
		l.broken.Add(1)
		victim := ends[r.IntN(len(ends))]
		timer := time.AfterFunc(time.Duration(r.IntN(100))*time.Millisecond, func() {
			c.broken.Store(true)
			_ = victim.Close() // what it says is checked below
		})
		defer timer.Stop()
	}
	err = c.talk(ctx, play)
	var all []error
	for _, e := range ends {
		if failed := e.Err(); failed != nil && !c.broken.Load() {
			all = append(all, fmt.Errorf("ended before it was closed: %w", failed))
		}
	}
	for _, e := range ends { // the ends of a proxy know nothing of each other
		all = append(all, e.Close())
	}
	for _, e := range ends {
		// The ends are closed one after the other. One that still writes the response to a
		// call that was given up finds its peer closed.
		if failed := e.Wait(); !errors.Is(failed, acp.ErrClosed) {
			all = append(all, failed)
		}
	}
	if n := c.user.open(); n > 0 && !c.broken.Load() {
		all = append(all, fmt.Errorf("%d terminals were not released", n))
	}
	return errors.Join(append(all, err)...)
}

// part is what the client of one version does: the handshake, and one session.
type part struct {
	initialize func(context.Context) error
	session    func(context.Context, *rand.Rand) error
}

// connect connects two ends of version 1, and returns all ends, those of proxies first.
func (c *conversation) connect(r *rand.Rand) ([]end, *part, error) {
	forAgent, forClient, ends, err := join(r)
	if err != nil {
		return nil, nil, err
	}
	worker := &worker{load: c.load, seed: c.seed}
	c.conn = client.New(forClient, func(*client.Conn) acp.Client { return c.user }, clientOptions)
	ends = append(ends, agent.New(forAgent, func(conn *agent.Conn) acp.Agent { worker.conn = conn; return worker }, agentOptions), c.conn)
	return ends, &part{func(ctx context.Context) error { _, err := c.conn.Initialize(ctx, nil); return err }, c.session}, nil
}

// random returns the source of randomness for one part of the conversation.
func (c *conversation) random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(c.seed, part)) }

// talk is the client's part.
func (c *conversation) talk(ctx context.Context, play *part) error {
	if err := play.initialize(context.WithoutCancel(ctx)); err != nil {
		return c.excuse(err)
	}
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for n := range errs {
		wg.Go(func() { errs[n] = c.excuse(play.session(ctx, c.random(uint64(n+1)))) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// excuse lets errors pass that follow from an end in the middle. Through a proxy they
// come as errors of the other end.
func (c *conversation) excuse(err error) error {
	if c.broken.Load() {
		return nil
	}
	return err
}
