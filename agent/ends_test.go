package agent_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

func TestOnEnd(t *testing.T) {
	leak.Check(t)
	for name, end := range map[string]func(conn *agent.Conn, peer *rawpeer.Peer){
		"closed here":   func(conn *agent.Conn, _ *rawpeer.Peer) { conn.Close() },
		"closed there":  func(_ *agent.Conn, peer *rawpeer.Peer) { peer.Close() },
		"never started": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s, peer := rawpeer.Pipe(t)
			var events []string
			conn := agent.New(s, func(c *agent.Conn) acp.Agent {
				c.OnEnd(func() {
					select {
					case <-c.Done():
					default:
						events = append(events, "too early")
					}
					events = append(events, "first")
				})
				c.OnEnd(func() { events = append(events, "second"); panic("but the next one runs") })
				return &peertest.Agent{}
			}, nil)
			conn.OnEnd(func() { events = append(events, "third") })
			if end != nil {
				require.NoError(t, conn.Start(t.Context()))
				end(conn, peer)
				require.NoError(t, conn.Wait())
			} else {
				conn.Close()
			}
			assert.Equal(t, []string{"first", "second", "third"}, events)
			conn.OnEnd(func() { events = append(events, "late") })
			assert.Equal(t, []string{"first", "second", "third", "late"}, events)
		})
	}
}
