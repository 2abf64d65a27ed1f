package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// editor is a client that answers permission requests with choose.
type editor struct {
	choose func(ctx context.Context, req *acp.RequestPermissionRequest) *acp.RequestPermissionResponse

	mu   sync.Mutex
	seen []string // each update
	said string   // all messages
}

func (e *editor) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch u := n.Update.(type) {
	case *acp.AgentThoughtChunk:
		e.seen = append(e.seen, "thought "+acp.PlainText(u.Content))
	case *acp.AgentMessageChunk:
		e.said += acp.PlainText(u.Content)
		if len(e.seen) == 0 || e.seen[len(e.seen)-1] != "text" {
			e.seen = append(e.seen, "text")
		}
	case *acp.ToolCall:
		e.seen = append(e.seen, fmt.Sprintf("%s %s", u.Title, u.Status))
	case *acp.ToolCallUpdate:
		e.seen = append(e.seen, fmt.Sprintf("%s %s", u.RawInput, u.Status))
	}
	return nil
}

func (e *editor) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.seen = append(e.seen, fmt.Sprintf("may it %s?", req.ToolCall.RawInput))
	e.mu.Unlock()
	return e.choose(ctx, req), nil
}

// talk sends a prompt to the wrapper, and returns the stop reason and what the client has received.
func talk(t *testing.T, prompt func(s *client.Session) *client.Turn, choose func(context.Context, *acp.RequestPermissionRequest) *acp.RequestPermissionResponse) (reason acp.StopReason, seen []string, said string) {
	synctest.Test(t, func(t *testing.T) {
		near, far := stream.Pipe()
		served := make(chan error, 1)
		go func() { // ends with near
			served <- agent.Serve(context.Background(), far, func(c *agent.Conn) acp.Agent { return &wrapper{conn: c} }, nil)
		}()
		e := &editor{choose: choose}
		conn, err := client.Connect(t.Context(), near, func(*client.Conn) acp.Client { return e }, &client.Options{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		_, err = conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: "none", Prompt: []acp.ContentBlock{acp.Text("x")}})
		assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
		s, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		res, err := prompt(s).Wait()
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.NoError(t, <-served)
		reason, seen, said = res.StopReason, e.seen, e.said
	})
	return reason, seen, said
}

func answer(kind acp.PermissionOptionKind) func(context.Context, *acp.RequestPermissionRequest) *acp.RequestPermissionResponse {
	return func(_ context.Context, req *acp.RequestPermissionRequest) *acp.RequestPermissionResponse {
		return acp.SelectKind(req.Options, kind)
	}
}

func milk(s *client.Session) *client.Turn {
	return s.Prompt(context.Background(), acp.Text("milk"))
}

// The updates before the answer to the question are the same in each turn.
var asked = []string{"thought They want a note.", "text", "note pending", `{"text":"milk"} `, `may it {"text":"milk"}?`}

func TestAllowed(t *testing.T) {
	reason, seen, said := talk(t, milk, answer(acp.PermissionOptionKindAllowOnce))
	assert.Equal(t, acp.StopReasonEndTurn, reason)
	assert.Equal(t, append(asked, " in_progress", " completed", "text"), seen)
	assert.Equal(t, `I write that down. Notes: ["milk"]`, said)
}

func TestRejected(t *testing.T) {
	reason, seen, said := talk(t, milk, answer(acp.PermissionOptionKindRejectOnce))
	assert.Equal(t, acp.StopReasonEndTurn, reason)
	assert.Equal(t, append(asked, " failed", "text"), seen)
	assert.Contains(t, said, "The person rejected this call.")
}

func TestCancelled(t *testing.T) {
	reason, seen, said := talk(t, func(s *client.Session) *client.Turn {
		turn := s.Prompt(context.Background(), acp.Text("milk"))
		for range turn.Updates() { // the thought: the text is still to come
			break
		}
		require.NoError(t, s.Cancel(context.Background()))
		return turn
	}, nil)
	assert.Equal(t, acp.StopReasonCancelled, reason)
	assert.NotContains(t, seen, "note pending")
	assert.NotContains(t, said, "down.")

	var turn *client.Session
	reason, seen, _ = talk(t, func(s *client.Session) *client.Turn { turn = s; return milk(s) }, func(ctx context.Context, _ *acp.RequestPermissionRequest) *acp.RequestPermissionResponse {
		_ = turn.Cancel(ctx)
		return acp.Cancelled()
	})
	assert.Equal(t, acp.StopReasonCancelled, reason)
	assert.Equal(t, append(asked, " failed"), seen)
}
