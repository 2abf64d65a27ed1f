package streamhttp

import (
	"context"
	"sync/atomic"

	"github.com/acpkit/go-sdk/internal/inbox"
	"github.com/acpkit/go-sdk/stream"
)

const (
	// messageCost is added to the length of a message, because a short one takes memory too:
	// the buffer of its body, and its envelope.
	messageCost = 1 << 10
	// maxWaiting is how many messages wait for room. Each takes a request that is open.
	maxWaiting = 1024
)

// inbound holds the messages that have arrived at a server, in order, until they are read.
type inbound struct {
	*inbox.Inbox[stream.Message]
	turn    chan struct{} // held by the request or notification that waits for room
	waiting atomic.Int64  // messages that wait for the turn, or for room
}

func newInbound(limit int64) *inbound {
	return &inbound{Inbox: inbox.New(limit, inboundCost), turn: make(chan struct{}, 1)}
}

func inboundCost(m stream.Message) int { return messageCost + len(m.Data) }

// put adds a message. Most messages wait for room, one after the other; errCrowded means that too
// many wait. A response that is awaited does not wait, because messages in the full queue may be
// waiting for it.
func (in *inbound) put(ctx context.Context, m stream.Message, awaited bool) error {
	if !awaited {
		defer in.waiting.Add(-1)
		if in.waiting.Add(1) > maxWaiting {
			return errCrowded
		}
		select {
		case in.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		defer func() { <-in.turn }()
		if _, err := in.Wait(ctx, inboundCost(m)); err != nil {
			return err
		}
	}
	return in.Put(m, nil)
}
