package client_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// The ctx of Connect is for the handshake, which Options.Handshake bounds too.
func TestLimitsOfConnect(t *testing.T) {
	newClient := func(*client.Conn) acp.Client { return &viewer{} }
	synctest.Test(t, func(t *testing.T) {
		s, peer := rawpeer.Pipe(t)
		ctx, cancel := context.WithCancel(t.Context())
		var agent sync.WaitGroup
		agent.Go(func() { peer.Answer(peer.Expect("initialize"), initialized("{}")) }) // ends with the response
		conn, err := client.Connect(ctx, s, newClient, nil)
		require.NoError(t, err)
		cancel()
		time.Sleep(time.Minute)
		assert.NoError(t, conn.Err(), "it lives on")
		conn.Close()
		assert.NoError(t, conn.Wait())
		agent.Wait()
	})
	synctest.Test(t, func(t *testing.T) {
		s, _ := rawpeer.Pipe(t)
		_, err := client.Connect(t.Context(), s, newClient, &client.Options{Handshake: time.Second})
		assert.EqualError(t, err, "the agent has not responded to initialize in 1s, the time of Options.Handshake: context deadline exceeded")
	})
}

// A turn of an agent that sends nothing is cancelled, before and after its message was accepted. While
// the person is asked, the agent is not silent.
func TestIdleLimit(t *testing.T) {
	const limit = 10 * time.Second
	for name, c := range map[string]struct {
		agent func(peer *rawpeer.Peer, prompt rawpeer.Message)
		after time.Duration
		fine  bool
	}{
		"before the response": {func(peer *rawpeer.Peer, prompt rawpeer.Message) {
			peer.Expect("session/cancel")
			peer.Fail(prompt, -32800, "cancelled")
		}, limit, false},
		"after the response": {func(peer *rawpeer.Peer, prompt rawpeer.Message) {
			peer.Answer(prompt, `{"messageId":"u1"}`)
			time.Sleep(5 * time.Second)
			sendUpdate(peer, "running")
			peer.Expect("session/cancel")
			sendUpdate(peer, "idle cancelled")
		}, 15 * time.Second, false},
		"and ignores the cancel": {func(peer *rawpeer.Peer, prompt rawpeer.Message) {
			peer.Answer(prompt, `{"messageId":"u1"}`)
			peer.Expect("session/cancel")
		}, 20 * time.Second, false},
		"the person thinks": {func(peer *rawpeer.Peer, prompt rawpeer.Message) {
			peer.Answer(prompt, `{"messageId":"u1"}`)
			peer.Call("7", "session/request_permission", `{"sessionId":"s1","title":"t","options":[{"optionId":"o","name":"O","kind":"allow_once"}]}`)
			peer.Next() // the response
			sendUpdate(peer, "idle end_turn")
		}, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				thinks := func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
					time.Sleep(time.Minute)
					return acp.Selected("o"), nil
				}
				session, peer := session(t, &viewer{permission: thinks}, &client.Options{IdleLimit: limit})
				var agent sync.WaitGroup
				agent.Go(func() { c.agent(peer, peer.Expect("session/prompt")) }) // ends with the turn
				begun := time.Now()
				turn := session.Prompt(t.Context(), acp.Text("x"))
				idle, err := turn.Wait()
				assert.Equal(t, c.after, time.Since(begun))
				if c.fine {
					require.NoError(t, err)
					assert.Equal(t, acp.StopReasonEndTurn, idle.StopReason)
				} else {
					assert.ErrorAs(t, err, new(*acp.IdleError))
				}
				agent.Wait()
			})
		})
	}
}
