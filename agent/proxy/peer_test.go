package proxy_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/proxy"
	"github.com/acpkit/go-sdk/stream"
)

// deaf is a stream whose peer does not read until hears is closed.
type deaf struct {
	stream.Stream
	writing, hears chan struct{}
	closed         func()
}

func (d *deaf) Write(msg []byte) error {
	select {
	case d.writing <- struct{}{}:
	default:
	}
	<-d.hears
	return d.Stream.Write(msg)
}

func (d *deaf) Close() error {
	err := d.Stream.Close()
	d.closed()
	return err
}

// startDeaf returns a proxy whose client does not read until hear is called. writing receives a
// value when the proxy writes to the client.
func startDeaf(t *testing.T) (p *proxy.Proxy, client, agent *testEnd, writing <-chan struct{}, hear func()) {
	t.Helper()
	d := &deaf{writing: make(chan struct{}, 1), hears: make(chan struct{})}
	hear = sync.OnceFunc(func() { close(d.hears) })
	d.closed = hear
	p, client, agent = startOver(t, nil, func(s stream.Stream) stream.Stream {
		d.Stream = s
		return d
	}, unchanged)
	return p, client, agent, d.writing, hear
}

// A call of the proxy ends with its ctx even if the peer does not read. A message whose write has
// begun is sent when the peer reads, followed by a cancel.
func TestPeerThatDoesNotRead(t *testing.T) {
	p, client, agent, writing, hear := startDeaf(t)
	agent.send(`{"jsonrpc":"2.0","method":"n"}`)
	<-writing
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := p.Client().Call(ctx, "own", nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, p.Client().Notify(ctx, "own", nil), context.DeadlineExceeded)

	hear()
	var asked json.RawMessage
	for {
		var m struct {
			ID     json.RawMessage
			Params struct{ RequestID json.RawMessage }
		}
		require.NoError(t, json.Unmarshal([]byte(client.receive()), &m))
		if m.ID != nil {
			asked = m.ID
		} else if m.Params.RequestID != nil {
			assert.Equal(t, string(asked), string(m.Params.RequestID))
			return
		}
	}
}

// When the proxy ends during a write, Call and Notify return an error that matches acp.ErrClosed.
func TestPeerAtTheEnd(t *testing.T) {
	for name, send := range map[string]func(context.Context, *proxy.Peer) error{
		"call": func(ctx context.Context, x *proxy.Peer) error {
			_, err := x.Call(ctx, "own", nil)
			return err
		},
		"notify": func(ctx context.Context, x *proxy.Peer) error { return x.Notify(ctx, "own", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			p, _, _, writing, _ := startDeaf(t)
			ended := make(chan error, 1)
			go func() { ended <- send(t.Context(), p.Client()) }() // ends with the proxy
			<-writing
			p.Close()
			require.ErrorIs(t, <-ended, acp.ErrClosed)
		})
	}
}
