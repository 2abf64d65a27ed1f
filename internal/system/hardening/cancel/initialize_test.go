package cancel_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	"github.com/acpkit/go-sdk/stream"
)

// initializer is a client of either version before its handshake.
type initializer struct {
	version    int
	answer     string // of an agent of that version
	initialize func(context.Context) error
	negotiated func() int
}

var initializers = []func(t *testing.T, s stream.Stream) *initializer{
	func(t *testing.T, s stream.Stream) *initializer {
		c := pairtest.StartClient(t, s, pairtest.Setup{})
		return &initializer{1, `{"protocolVersion":1}`, func(ctx context.Context) error { return pairtest.Err(c.Initialize(ctx, nil)) }, c.ProtocolVersion}
	},
	func(t *testing.T, s stream.Stream) *initializer {
		c := pairtest2.StartClient(t, s, pairtest2.Setup{})
		return &initializer{2, `{"protocolVersion":2,"info":{"name":"a","version":"1"}}`, func(ctx context.Context) error { return pairtest.Err(c.Initialize(ctx, nil)) }, c.ProtocolVersion}
	},
}

// A peer that does not answer initialize: the deadline holds, and what comes late is
// swallowed.
func TestDeadlineOnInitialize(t *testing.T) {
	for i, newClient := range initializers {
		t.Run(fmt.Sprint("version ", i+1), func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				ours, peer := rawpeer.Pipe(t)
				c := newClient(t, ours)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				begun := time.Now()
				require.ErrorIs(t, c.initialize(ctx), context.DeadlineExceeded)
				assert.Equal(t, time.Second, time.Since(begun))
				assert.Zero(t, c.negotiated())
				first := peer.Expect("initialize")
				peer.Expect("$/cancel_request")
				peer.Answer(first, c.answer)
				synctest.Wait()
				assert.Zero(t, c.negotiated(), "an answer that came too late counts for nothing")

				go func() { peer.Answer(peer.Expect("initialize"), c.answer) }() // ends with the answer
				require.NoError(t, c.initialize(t.Context()))
				assert.Equal(t, c.version, c.negotiated())
			})
			pairtest.Bubble(t, func(t *testing.T) { // the peer does not read
				near, _ := stream.Pipe()
				c := newClient(t, near)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				require.ErrorIs(t, c.initialize(ctx), context.DeadlineExceeded)
			})
		})
	}
}
