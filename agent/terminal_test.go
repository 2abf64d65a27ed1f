package agent_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/rpcerr"
)

// terminalClient is a client with one terminal, whose command runs for a while.
type terminalClient struct {
	peertest.FullClient
	slow  time.Duration // duration of terminal/create
	runs  time.Duration // duration of the command
	noOut bool          // reading the output fails

	mu      sync.Mutex
	log     []string // the requests
	updates []acp.SessionUpdate
	killed  chan struct{}
}

func newTerminalClient(runs time.Duration) *terminalClient {
	h := &terminalClient{runs: runs, killed: make(chan struct{})}
	h.Do = h.handle
	return h
}

func (h *terminalClient) handle(ctx context.Context, method string, params any) (any, error) {
	h.mu.Lock()
	if n, ok := params.(*acp.SessionNotification); ok {
		h.updates = append(h.updates, n.Update)
	} else {
		h.log = append(h.log, strings.TrimPrefix(method, "terminal/"))
	}
	h.mu.Unlock()
	switch method {
	case acp.MethodTerminalCreate:
		<-time.After(h.slow)
		return &acp.CreateTerminalResponse{TerminalID: "t1"}, nil
	case acp.MethodTerminalOutput:
		if h.noOut {
			return nil, rpcerr.ResourceNotFound("t1")
		}
		return &acp.TerminalOutputResponse{Output: "text", Truncated: true}, nil
	case acp.MethodTerminalWaitForExit:
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-h.killed:
			return &acp.WaitForTerminalExitResponse{Signal: "SIGKILL"}, nil
		case <-time.After(h.runs):
			return &acp.WaitForTerminalExitResponse{ExitCode: new(uint32(3))}, nil
		}
	case acp.MethodTerminalKill:
		close(h.killed)
	}
	return nil, nil
}

func (h *terminalClient) did() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

var listFiles = &acp.CreateTerminalRequest{SessionID: "s1", Command: "ls"}

func TestRunTerminal(t *testing.T) {
	for _, tt := range []struct {
		name  string
		runs  time.Duration
		noOut bool
		ctx   func(context.Context) (context.Context, context.CancelFunc)
		want  *agent.TerminalResult
		err   error
		did   []string
	}{
		{
			name: "to its end",
			runs: time.Second,
			want: &agent.TerminalResult{Output: "text", Truncated: true, ExitCode: new(uint32(3))},
			did:  []string{"create", "wait_for_exit", "output", "release"},
		},
		{
			name: "timeout",
			runs: time.Hour,
			ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Minute)
			},
			want: &agent.TerminalResult{Output: "text", Truncated: true, Signal: "SIGKILL"},
			err:  context.DeadlineExceeded,
			did:  []string{"create", "wait_for_exit", "kill", "wait_for_exit", "output", "release"},
		},
		{
			name:  "output fails",
			noOut: true,
			err:   rpcerr.ErrResourceNotFound,
			did:   []string{"create", "wait_for_exit", "output", "release"},
		},
		{
			name: "ended before",
			ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return ctx, cancel
			},
			err: context.Canceled,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				h := newTerminalClient(tt.runs)
				h.noOut = tt.noOut
				_, err := inPrompt(t, h, nil, func(ctx context.Context, s *agent.Session) error {
					if tt.ctx != nil {
						var cancel context.CancelFunc
						ctx, cancel = tt.ctx(ctx)
						defer cancel()
					}
					res, err := s.RunTerminal(ctx, listFiles)
					assert.ErrorIs(t, err, tt.err)
					assert.Equal(t, tt.want, res)
					return nil
				})
				require.NoError(t, err)
				assert.Equal(t, tt.did, h.did())
			})
		})
	}
}

// If the response with the terminal's id arrives too late, the terminal is released.
func TestTerminalOfAnAbandonedCreateIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		h := newTerminalClient(time.Hour)
		h.slow = 2 * time.Second
		_, err := inPrompt(t, h, nil, func(ctx context.Context, s *agent.Session) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := s.StartTerminal(ctx, listFiles)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			return nil
		})
		require.NoError(t, err)
		<-time.After(5 * time.Second)
		assert.Equal(t, []string{"create", "release"}, h.did())
	})
}

// If the connection ends, the error is that of the connection, not of the handler's ctx.
func TestTerminalOfAConnectionThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		h := newTerminalClient(time.Hour)
		h.slow = 2 * time.Second
		var c *agent.Conn
		errs := make(chan error, 3)
		p := open(t, func(conn *agent.Conn) acp.Agent {
			c = conn
			return &peertest.Agent{OnPrompt: func(ctx context.Context, _ *acp.PromptRequest) (*acp.PromptResponse, error) {
				for range 2 {
					_, err := c.StartTerminal(ctx, listFiles)
					errs <- err
				}
				_, err := c.CreateTerminal(ctx, listFiles)
				errs <- err
				return nil, err
			}}
		}, h, nil)
		time.AfterFunc(time.Second, func() { c.Close() })
		_, err := p.client.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s1"})
		require.Error(t, err)
		for range 3 {
			assert.EqualError(t, <-errs, "acp: connection closed")
		}
		<-time.After(h.slow) // the client ignores its ctx
	})
}

func TestTerminalHandle(t *testing.T) {
	h := newTerminalClient(time.Hour)
	_, err := inPrompt(t, h, nil, func(ctx context.Context, s *agent.Session) error {
		term, err := s.StartTerminal(ctx, listFiles)
		require.NoError(t, err)
		assert.Equal(t, acp.TerminalID("t1"), term.ID())
		assert.Equal(t, &acp.Terminal{TerminalID: "t1"}, term.Content())
		ended, cancel := context.WithCancel(ctx)
		cancel()
		require.NoError(t, term.Kill(ended), "works when the turn is over")
		require.NoError(t, term.Release(ended))
		require.NoError(t, term.Release(ended), "twice")
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"create", "kill", "release"}, h.did())
}

// The client sees the terminal in the tool call while the command runs.
func TestTerminalOfAToolCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTerminalClient(time.Second)
		_, err := inPrompt(t, h, nil, func(ctx context.Context, s *agent.Session) error {
			res, err := s.ToolCall("c1").RunTerminal(ctx, listFiles)
			require.NoError(t, err)
			assert.Equal(t, new(uint32(3)), res.ExitCode)
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, []acp.SessionUpdate{&acp.ToolCallUpdate{
			ToolCallID: "c1", Status: acp.ToolCallStatusInProgress, Content: []acp.ToolCallContent{&acp.Terminal{TerminalID: "t1"}},
		}}, h.updates)
		assert.Equal(t, []string{"create", "wait_for_exit", "output", "release"}, h.did())
	})
}
