package cancel_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
)

// turns2 is turns in version 2.
func turns2(t *testing.T, proxied bool, f func(ctx context.Context, s *agent.Session) error, cl peertest.Do, opts client.Options) *client.Session {
	t.Helper()
	s := pairtest2.Setup{ClientOptions: opts}
	if proxied {
		s.Streams = pairtest2.Proxied(t, s)
	}
	s.Agent = func(c *agent.Conn) acp.Agent {
		return &peertest2.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
			req, ok := params.(*acp.PromptRequest)
			if !ok {
				return nil, nil
			}
			s := c.Session(req.SessionID)
			return s.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) { return "", f(ctx, s) })
		}}
	}
	s.Client = func(*client.Conn) acp.Client { return &peertest2.FullClient{Do: cl} }
	session, err := pairtest2.Connect(t, s).Client.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	return session
}

// TestCancelWithOpenQuestions in version 2: the last message of the turn arrives, then the
// idle state with the stop reason cancelled. The session is then in the idle state, no
// longer in the state requires_action.
func TestCancelWithOpenQuestionsOfVersion2(t *testing.T) {
	eachWay(t, func(t *testing.T, proxied bool, cancel func(session, canceller, func())) {
		gate := make(chan struct{})
		var asked atomic.Int64
		s := turns2(t, proxied, func(ctx context.Context, s *agent.Session) error {
			errs := make(chan error, 2)
			for _, title := range []string{"a", "b"} {
				go func() { _, err := s.AskPermission(ctx, title, nil); errs <- err }() // ends with the turn
			}
			err := errors.Join(<-errs, <-errs)
			assert.Error(t, err)
			return errors.Join(err, s.Message(ctx, "m", "last words"))
		}, func(_ context.Context, method string, _ any) (any, error) {
			if method == acp.MethodSessionRequestPermission {
				asked.Add(1)
				<-gate
			}
			return nil, nil
		}, client.Options{})
		defer close(gate)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		turn := s.Prompt(ctx, acp.Text("go"))
		synctest.Wait()
		require.EqualValues(t, 2, asked.Load())
		assert.IsType(t, &acp.RequiresActionStateUpdate{}, s.State())
		begun := time.Now()
		cancel(s, turn, end)
		text, err := turn.Text()
		assert.Equal(t, &client.StopError{Reason: acp.StopReasonCancelled}, err)
		assert.Equal(t, "last words", text)
		idle, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, idle.StopReason)
		assert.Less(t, time.Since(begun), time.Second)
		assert.Equal(t, idle, s.State())
	})
}

// An agent that does not end its cancelled turn: the caller waits for the grace and no longer, the
// late end is swallowed, and the session can be used again.
func TestTurnOfVersion2ThatDoesNotEnd(t *testing.T) {
	pairtest.Bubble(t, func(t *testing.T) {
		ours, peer := rawpeer.Pipe(t)
		var log pairtest.Log
		c := pairtest2.StartClient(t, ours, pairtest2.Setup{ClientOptions: client.Options{Logger: log.Logger()}})
		go func() { // ends with the response
			peer.Answer(peer.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}`)
		}()
		_, err := c.Initialize(t.Context(), nil)
		require.NoError(t, err)
		s := c.Session("s")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		turn := s.Prompt(ctx, acp.Text("go"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"first"}`)
		peer.Expect("session/cancel")
		_, err = turn.Wait()
		require.Equal(t, context.DeadlineExceeded, err)
		assert.Equal(t, 11*time.Second, time.Since(begun))

		turn = s.Prompt(t.Context(), acp.Text("again"))
		second := peer.Expect("session/prompt")
		peer.Notify("session/update", `{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"cancelled"}}`) // at last
		peer.Answer(second, `{"messageId":"second"}`)
		peer.Notify("session/update", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"mine"}}}`)
		peer.Notify("session/update", `{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}`)
		text, err := turn.Text()
		require.NoError(t, err)
		assert.Equal(t, "mine", text)
		end, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, end.StopReason)
		assert.NotContains(t, log.String(), "level=WARN")
	})
}
