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

// deaf is a stream whose writes wait until hear is called, or the stream is closed.
type deaf struct {
	*hooked
	hear func()
}

func (d *deaf) Close() error {
	defer d.hear()
	return d.hooked.Close()
}

// startDeaf returns a proxy whose client does not read until hear is called. writing receives a
// value when the proxy writes to the client.
func startDeaf(t *testing.T) (p *proxy.Proxy, client, agent *testEnd, writing <-chan struct{}, hear func()) {
	t.Helper()
	begun, hears := make(chan struct{}, 1), make(chan struct{})
	hear = sync.OnceFunc(func() { close(hears) })
	p, client, agent = startOver(t, nil, func(s stream.Stream) stream.Stream {
		return &deaf{&hooked{Stream: s, write: func(msg []byte) error {
			select {
			case begun <- struct{}{}:
			default:
			}
			<-hears
			return s.Write(msg)
		}}, hear}
	}, unchanged)
	return p, client, agent, begun, hear
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
