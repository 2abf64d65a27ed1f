package client_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

const question = `"title":"May I?","options":[{"optionId":"o","name":"O","kind":"allow_once"}]`

// ask asks a question about a subject.
func ask(peer *rawpeer.Peer, id, subject string) {
	if subject != "" {
		subject = `,"subject":` + subject
	}
	peer.Call(id, "session/request_permission", `{"sessionId":"s1",`+question+subject+`}`)
}

// responses returns the outcomes of the next responses, by their ids.
func responses(t *testing.T, peer *rawpeer.Peer, n int) map[string]string {
	got := map[string]string{}
	for range n {
		m := peer.Next()
		var res struct{ Outcome struct{ Outcome string } }
		if m.Error == nil {
			require.NoError(t, json.Unmarshal(m.Result, &res), "%s", m.Raw)
			got[string(m.ID)] = res.Outcome.Outcome
		}
	}
	return got
}

const (
	aboutCall     = `{"type":"tool_call","toolCall":{"toolCallId":"c1"}}`
	aboutOther    = `{"type":"tool_call","toolCall":{"toolCallId":"c2"}}`
	aboutCommand  = `{"type":"command","command":"serve","cwd":"/","terminalId":"t1"}`
	inBackground  = `,"background":[{"type":"tool_call","toolCallId":"c1"},{"type":"terminal","terminalId":"t1"}]`
	runningUpdate = `{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"running"` + inBackground + `}}`
)

// A cancel ends the questions of the session, except those about background work. A close
// ends all.
func TestCancelEndsQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &viewer{}
		s, peer := session(t, v, nil)
		var asked atomic.Int32
		v.permission = func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			asked.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		turn := s.Prompt(t.Context(), acp.Text("hi"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
		peer.Notify("session/update", runningUpdate)
		ask(peer, `"call"`, aboutCall)
		ask(peer, `"command"`, aboutCommand)
		ask(peer, `"other"`, aboutOther)
		ask(peer, `"none"`, "")
		synctest.Wait()
		require.EqualValues(t, 4, asked.Load())
		require.NoError(t, turn.Cancel(t.Context()))
		peer.Expect("session/cancel")
		assert.Equal(t, map[string]string{`"other"`: "cancelled", `"none"`: "cancelled"}, responses(t, peer, 2))

		ask(peer, `"late"`, aboutOther) // the agent has not read the cancel
		assert.Equal(t, map[string]string{`"late"`: "cancelled"}, responses(t, peer, 1))
		assert.EqualValues(t, 4, asked.Load())
		peer.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"cancelled"`+inBackground+`}}`)
		_, err := turn.Wait()
		require.NoError(t, err)
		require.NoError(t, turn.Cancel(t.Context()), "does nothing")

		ask(peer, `"new"`, "")
		synctest.Wait()
		assert.EqualValues(t, 5, asked.Load(), "the work has ended, so this is about other work")
		require.NoError(t, s.Cancel(t.Context()))
		peer.Expect("session/cancel")
		assert.Equal(t, map[string]string{`"new"`: "cancelled"}, responses(t, peer, 1))

		closed := make(chan error, 1)
		go func() { closed <- s.Close(context.WithoutCancel(t.Context())) }() // ends with the response
		m := peer.Expect("session/close")
		assert.Equal(t, map[string]string{`"call"`: "cancelled", `"command"`: "cancelled"}, responses(t, peer, 2))
		peer.Answer(m, `{}`)
		require.NoError(t, <-closed)
	})
}

// A session that is used with the plain methods keeps the same rules.
func TestCancelEndsQuestionsOfPlainSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &viewer{}
		conn, peer := open(t, v, `{"session":{}}`, nil)
		v.permission = func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		prompt := func() uint64 {
			go func() { peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`) }() // ends with the response
			_, err := conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text("hi")}})
			require.NoError(t, err)
			return conn.CurrentTurn("s1")
		}
		first := prompt()
		assert.NotZero(t, first)
		peer.Notify("session/update", runningUpdate)
		ask(peer, `"call"`, aboutCall)
		ask(peer, `"other"`, aboutOther)
		synctest.Wait()
		require.NoError(t, conn.Cancel(t.Context(), &acp.CancelSessionNotification{SessionID: "s1"}))
		peer.Expect("session/cancel")
		assert.Equal(t, map[string]string{`"other"`: "cancelled"}, responses(t, peer, 1))
		sendUpdate(peer, "idle cancelled")
		synctest.Wait()
		assert.Zero(t, conn.CurrentTurn("s1"))
		assert.NotEqual(t, first, prompt())
		sendUpdate(peer, "idle cancelled +") // the list of background work is now empty
		ask(peer, `"again"`, aboutCall)
		synctest.Wait()
		require.NoError(t, conn.Cancel(t.Context(), &acp.CancelSessionNotification{SessionID: "s1"}))
		peer.Expect("session/cancel")
		assert.Equal(t, map[string]string{`"call"`: "cancelled", `"again"`: "cancelled"}, responses(t, peer, 2))
	})
}

// The number of the current turn is that of the one that began last.
func TestCurrentTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &viewer{}
		s, peer := session(t, v, nil)
		current := func() uint64 { synctest.Wait(); return v.conn.CurrentTurn("s1") }
		assert.Zero(t, current())
		var prompts []rawpeer.Message
		var turns []*client.Turn
		for range 3 {
			turns = append(turns, s.Prompt(t.Context(), acp.Text("hi")))
			prompts = append(prompts, peer.Expect("session/prompt"))
		}
		first := current()
		assert.NotZero(t, first, "none has begun, and it is the oldest")
		sendUpdate(peer, "echo u1")
		assert.Equal(t, first, current())
		peer.Answer(prompts[0], `{"messageId":"u1"}`)
		peer.Answer(prompts[1], `{"messageId":"u2"}`)
		second := current()
		assert.Greater(t, second, first)
		sendUpdate(peer, "idle end_turn")
		third := current()
		assert.Greater(t, third, second)
		peer.Fail(prompts[2], -32800, "Request cancelled")
		assert.Zero(t, current())
		for _, turn := range turns {
			turn.Wait()
		}
	})
}

// A prompt whose message is part of the conversation is not sent again, even if the agent
// asks for a sign-in at the end of the work.
func TestAcceptedPromptIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &viewer{}
		s, peer := session(t, v, nil)
		login := func(context.Context, error, []acp.AuthMethod) (acp.AuthMethodID, error) { return "key", nil }
		attempts := 0
		prompt := func(ctx context.Context) error {
			attempts++
			_, err := s.Prompt(ctx, acp.Text("hi")).Wait()
			return err
		}
		go func() { // ends with the end of the turn
			peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
			peer.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32000,"message":"Sign in"}}}`)
		}()
		assert.Error(t, v.conn.AuthenticateAndRetry(t.Context(), login, prompt))
		assert.Equal(t, 1, attempts)

		attempts = 0
		go func() { // ends with the end of the turn
			peer.Fail(peer.Expect("session/prompt"), -32000, "Sign in")
			m := peer.Expect("auth/login")
			assert.JSONEq(t, `{"methodId":"key"}`, string(m.Params))
			peer.Answer(m, `{}`)
			peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
			sendUpdate(peer, "idle end_turn")
		}()
		assert.NoError(t, v.conn.AuthenticateAndRetry(t.Context(), login, prompt))
		assert.Equal(t, 2, attempts)
	})
}
