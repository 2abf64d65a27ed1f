package interop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The steps of the conversation of version 2 in which prompts overlap, and work ends early.

// working begins a turn that ends by a cancel or by finish.
func (c *conversation2) working(t *testing.T) *client.Turn {
	t.Helper()
	turn := c.session.Prompt(c.ctx, acp.Text("wait"))
	c.wait(t, func() bool { return c.handler.saysLocked("waiting") })
	return turn
}

// finish ends the turn of working.
func (c *conversation2) finish(t *testing.T) {
	t.Helper()
	require.NoError(t, c.conn.Notify(c.ctx, "_interop/finish", map[string]acp.SessionID{"sessionId": c.session.ID()}))
}

// ends waits for the end of a turn.
func (c *conversation2) ends(t *testing.T, turn *client.Turn, reason acp.StopReason, said string) {
	t.Helper()
	text, _ := turn.Text() // Wait has the error
	assert.Equal(t, said, text)
	idle, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, reason, idle.StopReason)
}

// prompts waits until the agent was told of n prompts since the step began.
func (c *conversation2) prompts(t *testing.T, before, n int) {
	t.Helper()
	for c.promptsTold(t) < before+n {
		require.NoError(t, c.ctx.Err(), "the agent was not told")
	}
}

func (c *conversation2) promptsTold(t *testing.T) int {
	t.Helper()
	n := 0
	for _, e := range journal(c.ctx, t, c.conn) {
		if e.What == acp.MethodSessionPrompt {
			n++
		}
	}
	return n
}

// A turn ends by Turn.Cancel, Session.Cancel, and by the end of the prompt's ctx. All send
// session/cancel; the turn's last words arrive.
func (c *conversation2) cancel(t *testing.T) {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	for _, end := range []func(*client.Turn) error{
		func(turn *client.Turn) error { return turn.Cancel(c.ctx) },
		func(*client.Turn) error { return c.session.Cancel(c.ctx) },
		func(*client.Turn) error { cancel(); return nil },
	} {
		c.handler.reset("")
		turn := c.session.Prompt(ctx, acp.Text("wait"))
		c.wait(t, func() bool { return c.handler.saysLocked("waiting") })
		require.NoError(t, end(turn))
		c.ends(t, turn, acp.StopReasonCancelled, "waitingstopping")
	}
}

// Prompts that the agent holds become part of the conversation one after the other, in
// the order in which they were sent.
func (c *conversation2) held(t *testing.T) {
	before := c.promptsTold(t)
	first := c.working(t)
	second := c.session.Prompt(c.ctx, acp.Text("say b"))
	third := c.session.Prompt(c.ctx, acp.Text("say c"))
	c.prompts(t, before, 3)
	assert.Equal(t, []string{"user", "running", "agent"}, gists(c.handler.seen()), "the others are held")
	c.finish(t)
	c.ends(t, first, acp.StopReasonEndTurn, "waitingstopping")
	c.ends(t, second, acp.StopReasonEndTurn, "b")
	c.ends(t, third, acp.StopReasonEndTurn, "c")
	assert.Equal(t, []string{
		"user", "running", "agent", "agent", "idle", "user", "running", "agent", "idle", "user", "running", "agent", "idle",
	}, gists(c.handler.seen()))
}

// A cancel ends the work, and fails what is held.
func (c *conversation2) heldCancelled(t *testing.T) {
	before := c.promptsTold(t)
	first := c.working(t)
	second := c.session.Prompt(c.ctx, acp.Text("say b"))
	third := c.session.Prompt(c.ctx, acp.Text("say c"))
	c.prompts(t, before, 3)
	require.NoError(t, c.session.Cancel(c.ctx))
	c.ends(t, first, acp.StopReasonCancelled, "waitingstopping")
	for _, turn := range []*client.Turn{second, third} {
		_, err := turn.Accepted()
		hasCode(t, rpcerr.CodeRequestCancelled, err)
		_, err = turn.Wait()
		hasCode(t, rpcerr.CodeRequestCancelled, err)
	}
	assert.Equal(t, []string{"user", "running", "agent", "agent", "idle"}, gists(c.handler.seen()))
}

// One held prompt is cancelled alone, by $/cancel_request.
func (c *conversation2) oneHeldCancelled(t *testing.T) {
	before := c.promptsTold(t)
	first := c.working(t)
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	refused := make(chan error, 1)
	go func() { // ends by cancel
		_, err := c.conn.Prompt(ctx, &acp.PromptRequest{SessionID: c.session.ID(), Prompt: []acp.ContentBlock{acp.Text("say b")}})
		refused <- err
	}()
	c.prompts(t, before, 2)
	third := c.session.Prompt(c.ctx, acp.Text("say c"))
	c.prompts(t, before, 3)
	cancel()
	hasCode(t, rpcerr.CodeRequestCancelled, <-refused)
	c.finish(t)
	c.ends(t, first, acp.StopReasonEndTurn, "waitingstopping")
	c.ends(t, third, acp.StopReasonEndTurn, "c")
}

// A cancel does not reach a prompt that is sent behind it.
func (c *conversation2) promptBehindCancel(t *testing.T) {
	first := c.working(t)
	require.NoError(t, c.session.Cancel(c.ctx))
	second := c.session.Prompt(c.ctx, acp.Text("say after"))
	c.ends(t, first, acp.StopReasonCancelled, "waitingstopping")
	c.ends(t, second, acp.StopReasonEndTurn, "after")
}

// A prompt that becomes part of the conversation at once shares the end of the work in
// progress, and gets its updates.
func (c *conversation2) joins(t *testing.T) {
	first := c.working(t)
	second := c.session.Prompt(c.ctx, acp.Text("also x y"))
	_, err := second.Accepted()
	require.NoError(t, err)
	c.finish(t)
	c.ends(t, first, acp.StopReasonEndTurn, "waiting")
	c.ends(t, second, acp.StopReasonEndTurn, "xystopping")
	assert.Equal(t, []string{"user", "running", "agent", "user", "agent", "agent", "agent", "idle"}, gists(c.handler.seen()))
}

// Background work outlives its turn and a cancel of the session, and so does its question.
func (c *conversation2) background(t *testing.T) {
	c.handler.reset(keepOpen)
	_, idle := c.say(t, "background")
	require.Len(t, idle.Background, 2)
	assert.Equal(t, &acp.BackgroundToolCall{ToolCallID: "call-4"}, idle.Background[0])
	terminal, ok := idle.Background[1].(*acp.BackgroundTerminal)
	require.True(t, ok, "%T", idle.Background[1])
	c.wait(t, func() bool { return c.handler.seenLocked("session/request_permission") })

	require.NoError(t, c.session.Cancel(c.ctx))
	_, idle = c.say(t, "say on")
	assert.Len(t, idle.Background, 2)
	for _, e := range c.handler.told() {
		assert.NotEqual(t, "session/request_permission cancelled", e.What, "the cancel is not about background work")
	}

	call := &acp.CancelToolCallRequest{SessionID: c.session.ID(), ToolCallID: "call-4"}
	_, err := c.conn.CancelToolCall(c.ctx, call)
	require.NoError(t, err)
	left := func(n int) func() bool {
		return func() bool {
			u, ok := c.handler.updates[len(c.handler.updates)-1].(*acp.SessionStateUpdate)
			if !ok {
				return false
			}
			idle, ok := u.StateUpdate.(*acp.IdleStateUpdate)
			return ok && len(idle.Background) == n
		}
	}
	c.wait(t, left(1))
	c.wait(t, func() bool { return c.handler.seenLocked("session/request_permission cancelled") })
	seen := c.handler.seen()
	assert.Equal(t, []string{"call cancelled", "idle"}, gists(seen[len(seen)-2:]), "the end is announced before it leaves the list")
	_, err = c.conn.CancelToolCall(c.ctx, call)
	hasCode(t, rpcerr.CodeInvalidParams, err)

	kill := &acp.CancelTerminalRequest{SessionID: c.session.ID(), TerminalID: terminal.TerminalID}
	_, err = c.conn.CancelTerminal(c.ctx, kill)
	require.NoError(t, err)
	c.wait(t, left(0))
	seen = c.handler.seen()
	end, ok := seen[len(seen)-2].(*acp.TerminalUpdate)
	require.True(t, ok)
	assert.Equal(t, acp.Some(acp.TerminalExitStatus{Signal: "SIGTERM"}), end.ExitStatus)
	_, err = c.conn.CancelTerminal(c.ctx, kill)
	hasCode(t, rpcerr.CodeInvalidParams, err)
}
