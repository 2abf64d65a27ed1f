package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

// eachCancel cancels a turn in both ways. play gets a turn whose prompt was sent and has no
// response, while the agent works on an earlier one.
func eachCancel(t *testing.T, play func(t *testing.T, peer *rawpeer.Peer, first, held *client.Turn, prompt rawpeer.Message, cancel func())) {
	for _, way := range []string{"ctx", "Cancel"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, peer := session(t, &viewer{}, nil)
				first := s.Prompt(t.Context(), acp.Text("first"))
				peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
				sendUpdate(peer, "running")
				ctx, end := context.WithCancel(t.Context())
				defer end()
				held := s.Prompt(ctx, acp.Text("held"))
				prompt := peer.Expect("session/prompt")
				play(t, peer, first, held, prompt, func() {
					if way == "ctx" {
						end()
					} else {
						require.NoError(t, held.Cancel(t.Context()))
						require.NoError(t, held.Cancel(t.Context()), "again")
					}
				})
			})
		})
	}
}

// cancelOf checks that a message cancels a request.
func cancelOf(t *testing.T, m, request rawpeer.Message) {
	t.Helper()
	assert.JSONEq(t, `{"requestId":`+string(request.ID)+`}`, string(m.Params))
}

// A prompt that the agent holds is cancelled alone.
func TestHeldPromptIsWithdrawn(t *testing.T) {
	eachCancel(t, func(t *testing.T, peer *rawpeer.Peer, first, held *client.Turn, prompt rawpeer.Message, cancel func()) {
		cancel()
		cancelOf(t, peer.Expect("$/cancel_request"), prompt)
		peer.Fail(prompt, -32800, "Request cancelled")
		_, err := held.Wait()
		require.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
		_, err = held.Accepted()
		require.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
		sendUpdate(peer, "idle end_turn")
		idle, err := first.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, idle.StopReason)
	})
}

// If the agent was quicker, the message is part of the conversation and the request
// succeeds; the work on it is cancelled.
func TestPromptIsInsertedWhileItIsWithdrawn(t *testing.T) {
	eachCancel(t, func(t *testing.T, peer *rawpeer.Peer, _, held *client.Turn, prompt rawpeer.Message, cancel func()) {
		cancel()
		cancelOf(t, peer.Expect("$/cancel_request"), prompt)
		sendUpdate(peer, "echo u2")
		peer.Answer(prompt, `{"messageId":"u2"}`)
		peer.Expect("session/cancel")
		sendUpdate(peer, "idle cancelled")
		idle, err := held.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, idle.StopReason)
	})
}

// Once the message is part of the conversation, only the session can be cancelled.
func TestTurnThatHasBegunIsNotWithdrawn(t *testing.T) {
	eachCancel(t, func(t *testing.T, peer *rawpeer.Peer, _, held *client.Turn, prompt rawpeer.Message, cancel func()) {
		sendUpdate(peer, "echo u2")
		synctest.Wait()
		cancel()
		peer.Expect("session/cancel")
		peer.Answer(prompt, `{"messageId":"u2"}`)
		synctest.Wait()
		sendUpdate(peer, "idle cancelled")
		idle, err := held.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, idle.StopReason)
	})
}

// A prompt beside which there is no other work is cancelled with its session, as in version 1.
func TestOnlyPromptIsNotWithdrawn(t *testing.T) {
	for _, state := range []string{"", "idle"} {
		synctest.Test(t, func(t *testing.T) {
			s, peer := session(t, &viewer{}, nil)
			if state != "" {
				sendUpdate(peer, state)
				synctest.Wait()
			}
			turn := s.Prompt(t.Context(), acp.Text("hi"))
			prompt := peer.Expect("session/prompt")
			require.NoError(t, turn.Cancel(t.Context()))
			peer.Expect("session/cancel")
			peer.Fail(prompt, -32800, "Request cancelled")
			_, err := turn.Wait()
			require.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
		})
	}
}

// The agent may work on something that no prompt of this client began: a prompt that it
// holds meanwhile is withdrawn too.
func TestPromptBesideWorkOfTheAgentIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, peer := session(t, &viewer{}, nil)
		sendUpdate(peer, "requires_action")
		synctest.Wait()
		turn := s.Prompt(t.Context(), acp.Text("hi"))
		prompt := peer.Expect("session/prompt")
		require.NoError(t, turn.Cancel(t.Context()))
		cancelOf(t, peer.Expect("$/cancel_request"), prompt)
		peer.Fail(prompt, -32800, "Request cancelled")
		_, err := turn.Wait()
		require.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
	})
}

// An agent that does not respond to the prompt that is withdrawn does not keep the caller.
func TestWithdrawnPromptWithoutResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, peer := session(t, &viewer{}, &client.Options{CancelGrace: 3 * time.Second})
		first := s.Prompt(t.Context(), acp.Text("first"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		begun := time.Now()
		held := s.Prompt(ctx, acp.Text("held"))
		prompt := peer.Expect("session/prompt")
		cancelOf(t, peer.Expect("$/cancel_request"), prompt)
		_, err := held.Wait()
		assert.Equal(t, context.DeadlineExceeded, err)
		assert.Equal(t, 4*time.Second, time.Since(begun))
		peer.Fail(prompt, -32800, "Request cancelled") // the caller no longer waits for it
		sendUpdate(peer, "idle end_turn")
		idle, err := first.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, idle.StopReason)
	})
}
