package client_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// The ctx of Connect is for the handshake. If it ends later, a prompt under the same ctx is cancelled
// at the agent, and its turn ends as the agent says.
func TestTheConnectionOutlivesTheCtxOfConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		s, peer := rawpeer.Pipe(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var agent sync.WaitGroup
		agent.Go(func() { // ends with the response to the prompt
			peer.Initialize("{}")
			peer.Answer(peer.Expect("session/new"), `{"sessionId":"s1"}`)
			prompt := peer.Expect("session/prompt")
			peer.Update("s1", "so far")
			peer.Expect("session/cancel")
			peer.Answer(prompt, `{"stopReason":"cancelled"}`)
		})
		conn, err := client.Connect(ctx, s, good, nil)
		require.NoError(t, err)
		session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		begun := time.Now()
		turn := session.Prompt(ctx, acp.Text("x"))
		said, err := turn.Text()
		assert.Equal(t, "so far", said)
		var stop *client.StopError
		require.ErrorAs(t, err, &stop)
		assert.Equal(t, acp.StopReasonCancelled, stop.Reason)
		assert.LessOrEqual(t, time.Since(begun), time.Minute)
		agent.Wait()
		assert.NoError(t, conn.Err(), "it lives on")
		conn.Close()
		assert.NoError(t, conn.Wait())
	})
}

// An agent that does not respond to initialize is left after the time of the option, and the error says
// that.
func TestHandshakeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		for _, own := range []time.Duration{0, time.Hour, time.Second} {
			s, peer := rawpeer.Pipe(t)
			var agent sync.WaitGroup
			agent.Go(func() { peer.Expect("initialize"); peer.Next(); peer.ExpectEnd() }) // ends with the connection
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			begun := time.Now()
			_, err := client.Connect(ctx, s, good, &client.Options{Handshake: own})
			cancel()
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			if own == time.Second {
				assert.EqualError(t, err, "the agent has not responded to initialize in 1s, the time of Options.Handshake: context deadline exceeded")
				assert.Equal(t, time.Second, time.Since(begun))
			} else {
				assert.EqualError(t, err, "the agent has not responded to initialize: context deadline exceeded")
				assert.Equal(t, time.Minute, time.Since(begun))
			}
			agent.Wait()
		}
	})
}

// A turn of an agent that sends nothing is cancelled. What the agent waits for at this end is not its
// silence.
func TestIdleLimit(t *testing.T) {
	const limit = 10 * time.Second
	permission := `{"sessionId":"s1","toolCall":{"toolCallId":"t"},"options":[{"optionId":"o","name":"O","kind":"allow_once"}]}`
	slow := &peertest.Client{OnPermission: func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		time.Sleep(time.Minute) // the person thinks
		return acp.Selected("o"), nil
	}}
	for name, c := range map[string]struct {
		agent func(peer *rawpeer.Peer) // after the prompt has arrived
		after time.Duration            // when the turn ends
		last  time.Duration            // when the last message came; -1: none did
		fine  bool
	}{
		"silent from the start": {func(*rawpeer.Peer) {}, limit, -1, false},
		"silent after a while": {func(peer *rawpeer.Peer) {
			for range 5 {
				time.Sleep(9 * time.Second)
				peer.Update("s1", "x")
			}
		}, 55 * time.Second, 45 * time.Second, false},
		"another session speaks": {func(peer *rawpeer.Peer) {
			time.Sleep(5 * time.Second)
			peer.Update("other", "x")
		}, limit, -1, false},
		"a subagent speaks": {func(peer *rawpeer.Peer) {
			peer.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":"subagent_update","sessionId":"sub","toolCallId":"t","status":"running"}}`)
			for range 2 {
				time.Sleep(8 * time.Second)
				peer.Update("sub", "x")
			}
		}, 26 * time.Second, 16 * time.Second, false},
		"an extension speaks": {func(peer *rawpeer.Peer) {
			time.Sleep(5 * time.Second)
			peer.Call("7", "_alive", "{}")
			peer.Next() // the refusal
		}, 15 * time.Second, 5 * time.Second, false},
		"the person thinks": {func(peer *rawpeer.Peer) {
			time.Sleep(5 * time.Second)
			peer.Call("7", "session/request_permission", permission)
			peer.Next() // the response
			time.Sleep(5 * time.Second)
			peer.Update("s1", "done")
		}, 70 * time.Second, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				session, peer := session(t, slow, &client.Options{IdleLimit: limit, Unstable: true})
				var agent sync.WaitGroup
				agent.Go(func() { // ends with the turn
					prompt := peer.Expect("session/prompt")
					c.agent(peer)
					if !c.fine {
						peer.Expect("session/cancel")
					}
					peer.Answer(prompt, map[bool]string{true: endTurn, false: `{"stopReason":"cancelled"}`}[c.fine])
				})
				begun := time.Now()
				res, err := session.Prompt(t.Context(), acp.Text("x")).Wait()
				assert.Equal(t, c.after, time.Since(begun))
				agent.Wait()
				if c.fine {
					require.NoError(t, err)
					assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
					return
				}
				var idle *acp.IdleError
				require.ErrorAs(t, err, &idle)
				assert.Equal(t, limit, idle.Limit)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				if c.last < 0 {
					assert.ErrorContains(t, err, "nothing about the session for 10s, since the prompt was sent")
					return
				}
				assert.Equal(t, begun.Add(c.last), idle.Last)
				assert.ErrorContains(t, err, "the last message came at "+idle.Last.Format(time.TimeOnly))
			})
		})
	}
	// The agent ends the turn itself as it is cancelled: that is its end. One that ignores the cancel does
	// not keep the error away.
	synctest.Test(t, func(t *testing.T) {
		session, peer := session(t, slow, &client.Options{IdleLimit: limit})
		var agent sync.WaitGroup
		agent.Go(func() { // ends with the second prompt
			prompt := peer.Expect("session/prompt")
			peer.Expect("session/cancel")
			peer.Answer(prompt, endTurn)
			peer.Expect("session/prompt")
			peer.Expect("session/cancel")
		})
		_, err := session.Prompt(t.Context(), acp.Text("x")).Wait()
		assert.NoError(t, err)
		_, err = session.Prompt(t.Context(), acp.Text("x")).Wait()
		assert.ErrorAs(t, err, new(*acp.IdleError))
		agent.Wait()
	})
}
