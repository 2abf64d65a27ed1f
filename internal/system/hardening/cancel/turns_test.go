package cancel_test

import (
	"context"
	"errors"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// turns connects an agent whose prompts run f with a client, directly or through a
// proxy, and starts a session.
func turns(t *testing.T, proxied bool, f func(ctx context.Context, s *agent.Session) error, cl peertest.Do, opts client.Options) *client.Session {
	t.Helper()
	s := pairtest.Setup{ClientOptions: opts}
	if proxied {
		s.Streams = pairtest.Proxied(t, s)
	}
	s.Agent = func(c *agent.Conn) acp.Agent {
		return &peertest.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
			if p, ok := params.(*acp.PromptRequest); ok {
				return nil, f(ctx, c.Session(p.SessionID))
			}
			return nil, nil
		}}
	}
	s.Client = func(*client.Conn) acp.Client { return &peertest.FullClient{Do: cl} }
	session, err := pairtest.Connect(t, s).Client.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	return session
}

// canceller is a turn or a session of either version.
type canceller interface{ Cancel(context.Context) error }

// session is one of either version.
type session interface {
	canceller
	Close(context.Context) error
}

// eachWay cancels a turn in every way there is; end ends its ctx.
func eachWay(t *testing.T, test func(t *testing.T, proxied bool, cancel func(s session, turn canceller, end func()))) {
	ways := map[string]func(session, canceller, func()){
		"ctx":     func(_ session, _ canceller, end func()) { end() },
		"turn":    func(_ session, turn canceller, _ func()) { _ = turn.Cancel(context.Background()) },
		"session": func(s session, _ canceller, _ func()) { _ = s.Cancel(context.Background()) },
		"close":   func(s session, _ canceller, _ func()) { _ = s.Close(context.Background()) },
	}
	for name, cancel := range ways {
		for _, proxied := range []bool{false, true} {
			if proxied {
				name += " through a proxy"
			}
			t.Run(name, func(t *testing.T) {
				pairtest.Bubble(t, func(t *testing.T) { test(t, proxied, cancel) })
			})
		}
	}
}

// Questions to the user are open when the turn is cancelled, and the client's handlers
// take no notice: each question ends for the agent at once, and so does the turn.
func TestCancelWithOpenQuestions(t *testing.T) {
	eachWay(t, func(t *testing.T, proxied bool, cancel func(session, canceller, func())) {
		gate := make(chan struct{})
		var asked atomic.Int64
		errs := make(chan error, 3)
		s := turns(t, proxied, func(ctx context.Context, s *agent.Session) error {
			ask := []func() error{
				func() error { return pairtest.Err(s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "a"})) },
				func() error { return pairtest.Err(s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "b"})) },
			}
			for _, f := range ask {
				go func() { errs <- f() }() // ends with the turn
			}
			return errors.Join(<-errs, <-errs)
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
		begun := time.Now()
		cancel(s, turn, end)
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
		assert.Less(t, time.Since(begun), time.Second)
	})
}

// A terminal is being waited for when the turn is cancelled: the wait ends, the command
// is killed and released, and the last words of the turn still arrive before its end.
func TestCancelWithAnOpenTerminal(t *testing.T) {
	eachWay(t, func(t *testing.T, proxied bool, cancel func(session, canceller, func())) {
		exited := make(chan struct{})
		var waits, kills, releases atomic.Int64
		s := turns(t, proxied, func(ctx context.Context, s *agent.Session) error {
			res, err := s.RunTerminal(ctx, &acp.CreateTerminalRequest{Command: "sleep"})
			if assert.NotNil(t, res) {
				assert.Equal(t, "what it printed", res.Output)
				assert.NoError(t, s.Message(ctx, "killed"))
			}
			return err
		}, func(ctx context.Context, _ string, params any) (any, error) {
			switch params.(type) {
			case *acp.WaitForTerminalExitRequest:
				waits.Add(1)
				select {
				case <-exited:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			case *acp.KillTerminalRequest:
				kills.Add(1)
				close(exited)
			case *acp.ReleaseTerminalRequest:
				releases.Add(1)
			case *acp.TerminalOutputRequest:
				return &acp.TerminalOutputResponse{Output: "what it printed"}, nil
			}
			return nil, nil
		}, client.Options{})
		ctx, end := context.WithCancel(t.Context())
		defer end()
		turn := s.Prompt(ctx, acp.Text("go"))
		synctest.Wait()
		require.EqualValues(t, 1, waits.Load())
		var texts []string
		read := make(chan struct{})
		go func() { // ends with the turn
			defer close(read)
			for u, err := range turn.Updates() {
				assert.NoError(t, err)
				texts = append(texts, acp.PlainText(u.(*acp.AgentMessageChunk).Content))
			}
		}()
		cancel(s, turn, end)
		<-read
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
		if !strings.HasPrefix(path.Base(t.Name()), "close") { // a closed session no longer receives updates
			assert.Equal(t, []string{"killed"}, texts)
		}
		assert.EqualValues(t, 1, kills.Load())
		assert.EqualValues(t, 1, releases.Load())
	})
}

// The agent cancels its permission request: the ctx of the client's handler is cancelled,
// and the response that the handler returns nevertheless has no effect.
func TestAgentWithdrawsAQuestion(t *testing.T) {
	for _, proxied := range []bool{false, true} {
		pairtest.Bubble(t, func(t *testing.T) {
			gone := make(chan error, 1)
			s := turns(t, proxied, func(ctx context.Context, s *agent.Session) error {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				_, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "a"})
				assert.Equal(t, context.DeadlineExceeded, err)
				return nil
			}, func(ctx context.Context, method string, _ any) (any, error) {
				if method == acp.MethodSessionRequestPermission {
					<-ctx.Done()
					gone <- ctx.Err()
				}
				return nil, nil
			}, client.Options{})
			res, err := s.Prompt(t.Context(), acp.Text("go")).Wait()
			require.NoError(t, err)
			assert.Equal(t, acp.StopReasonEndTurn, res.StopReason, "only the question was withdrawn")
			require.Equal(t, context.Canceled, <-gone)
		})
	}
}
