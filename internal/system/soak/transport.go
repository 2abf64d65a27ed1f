package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// Where an end breaks off, handlers that wait for nothing else are not waited for long.
const drainGrace = 200 * time.Millisecond

var (
	quiet         = slog.New(slog.DiscardHandler)
	agentOptions  = &agent.Options{Logger: quiet, Limits: agent.Limits{DrainGrace: drainGrace}}
	clientOptions = &client.Options{Logger: quiet, Limits: client.Limits{DrainGrace: drainGrace}}
)

// An end is either end of a connection.
type end interface {
	Start(ctx context.Context) error
	Close() error
	Wait() error
	Err() error
}

// join returns the streams of an agent and a client that reach each other, over pipes in
// memory or of the operating system, and the ends of the proxies between them.
func join(r *rand.Rand) (forAgent, forClient stream.Stream, between []end, err error) {
	if forAgent, forClient, err = pipe(r); err != nil {
		return nil, nil, nil, err
	}
	for range max(0, r.IntN(4)-1) {
		lower := forClient
		var upper stream.Stream
		if upper, forClient, err = pipe(r); err != nil {
			return nil, nil, nil, err
		}
		var below *client.Conn
		above := agent.New(upper, func(above *agent.Conn) acp.Agent {
			below = client.New(lower, func(*client.Conn) acp.Client { return above }, clientOptions)
			return below
		}, agentOptions)
		between = append(between, below, above)
	}
	return forAgent, forClient, between, nil
}

func pipe(r *rand.Rand) (one, other stream.Stream, err error) {
	if r.IntN(2) == 0 {
		one, other = stream.Pipe()
		return one, other, nil
	}
	r1, w1, err1 := os.Pipe()
	r2, w2, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, fmt.Errorf("opening pipes: %w", err)
	}
	return stream.Lines(r1, w2, nil), stream.Lines(r2, w1, &stream.LinesOptions{Tolerant: true}), nil
}
