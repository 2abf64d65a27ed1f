package adapters_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The agents do what is less common: ask with forms, leave work in the background, start
// subagents, fail, and answer nothing.
func TestWork(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a *adapter) {
		place := newWorkplace(t, a)
		rec := &recording{place: place}
		t.Run("process", func(t *testing.T) {
			c := converse(t, place, rec)
			c.start(t)
			t.Run("form", c.form)
			t.Run("background", c.background)
			t.Run("subagent", c.subagent)
			t.Run("failure", c.failure)
			t.Run("silence", c.silence)
			t.Run("fork", c.fork)
			t.Run("several sessions", c.several)
			t.Run("close during a turn", c.closeDuring)
		})
		rec.write(t, "transcripts-v2", "-work")
	})
}

// with sets an option of the agent for the time of f, if it has a value for that.
func (c *conversation) with(t *testing.T, option, value, usual string, f func()) {
	if value == "" {
		f()
		return
	}
	require.NoError(t, c.session.SetConfigOption(c.ctx, acp.SessionConfigID(option), acp.SessionConfigValueID(value)))
	f()
	require.NoError(t, c.session.SetConfigOption(c.ctx, acp.SessionConfigID(option), acp.SessionConfigValueID(usual)))
}

func (c *conversation) form(t *testing.T) {
	c.viewer.next("")
	c.with(t, "collaboration_mode", c.place.adapter.askingMode, "default", func() {
		text, err := c.prompt("ask").Text()
		require.NoError(t, err)
		assert.Contains(t, text, "Thank you.")
	})
	assert.EqualValues(t, 1, c.viewer.forms.Load())
	heard := c.place.model.result.Load()
	require.NotNil(t, heard)
	assert.Contains(t, *heard, "red")
	assert.Equal(t, []string{"running", "requires_action", "running", "idle"}, c.viewer.story())
}

func (c *conversation) background(t *testing.T) {
	end, err := c.prompt("background").Wait()
	require.NoError(t, err)
	s := c.snapshot()
	terminal := s.Terminals.At(s.Terminals.Len() - 1)
	assert.Nil(t, terminal.Exit, "it goes on")
	if !c.place.adapter.lists {
		assert.Empty(t, end.Background)
		c.text(t)
		return
	}
	assert.Equal(t, []model.Background{{Type: "terminal", ID: terminal.ID}}, s.Turn.Background)
	assert.True(t, terminal.Cancellable)
	c.cancel(t) // ends the turn alone
	assert.Len(t, c.snapshot().Turn.Background, 1)

	_, err = c.conn.CancelTerminal(c.ctx, &acp.CancelTerminalRequest{SessionID: c.session.ID(), TerminalID: acp.TerminalID(terminal.ID)})
	require.NoError(t, err)
	c.until(t, func(s *model.Snapshot) bool { return len(s.Turn.Background) == 0 })
	_, err = c.conn.CancelTerminal(c.ctx, &acp.CancelTerminalRequest{SessionID: c.session.ID(), TerminalID: acp.TerminalID(terminal.ID)})
	code, _ := rpcerr.CodeOf(err)
	assert.Equal(t, rpcerr.CodeInvalidParams, code, "%v", err)
}

// until waits until the thread of the session is as it should be.
func (c *conversation) until(t *testing.T, ok func(*model.Snapshot) bool) {
	t.Helper()
	for s := range c.threads.Thread(c.session.ID()).Watch(c.ctx) {
		if ok(s) {
			return
		}
	}
	require.NoError(t, c.ctx.Err())
}

func (c *conversation) subagent(t *testing.T) {
	if !c.place.adapter.lists {
		t.Log("this model has no tool for it")
		return
	}
	text, err := c.prompt("delegate").Text()
	require.NoError(t, err)
	assert.Contains(t, text, "It was done.")
	var sub *model.Subagent
	for _, item := range c.snapshot().Items.All() {
		if s, ok := item.(*model.Subagent); ok {
			sub = s
		}
	}
	require.NotNil(t, sub)
	assert.Equal(t, "idle", sub.State)
	assert.Equal(t, "end_turn", sub.StopReason)
	child := c.threads.Thread(acp.SessionID(sub.SessionID)).Snapshot()
	assert.Equal(t, model.StateIdle, child.Turn.State)
	assert.Contains(t, messages(child), "agent: One two three.")
}

func (c *conversation) failure(t *testing.T) {
	end, err := c.prompt("fail").Wait()
	require.NotNil(t, end, "%v", err)
	assert.Equal(t, acp.StopReasonError, end.StopReason)
	assert.ErrorContains(t, err, "the model refuses")
	failed := c.snapshot().Turn
	assert.Equal(t, "error", failed.StopReason)
	require.NotNil(t, failed.Error)
	assert.Contains(t, failed.Error.Message, "the model refuses")
	c.text(t)
}

// silence is a model that never answers: the caller gives up.
func (c *conversation) silence(t *testing.T) {
	ctx, cancel := context.WithTimeout(c.ctx, 500*time.Millisecond)
	defer cancel()
	end, err := c.session.Prompt(ctx, acp.Text(scriptMark+"silent")).Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, end.StopReason)
	c.text(t)
}

func (c *conversation) fork(t *testing.T) {
	s, err := c.conn.StartForkedSession(c.ctx, &acp.ForkSessionRequest{SessionID: c.session.ID(), Cwd: acp.AbsolutePath(c.place.dir)})
	require.NoError(t, err)
	assert.NotEqual(t, c.session.ID(), s.ID())
	text, err := s.Prompt(c.ctx, acp.Text(scriptMark+"say")).Text()
	require.NoError(t, err)
	assert.Contains(t, text, "One two three.")
	require.NoError(t, s.Close(c.ctx))
}

func (c *conversation) several(t *testing.T) {
	sessions := []*client.Session{c.session}
	for range 2 {
		s, err := c.conn.StartSession(c.ctx, &acp.NewSessionRequest{Cwd: acp.AbsolutePath(c.place.dir)})
		require.NoError(t, err)
		sessions = append(sessions, s)
	}
	var wg sync.WaitGroup
	for i, s := range sessions {
		wg.Go(func() {
			for n := range 3 {
				text, err := s.Prompt(c.ctx, acp.Text(fmt.Sprint(scriptMark, "say ", i, n))).Text()
				assert.NoError(t, err)
				assert.Contains(t, text, "One two three.")
			}
		})
	}
	wg.Wait()
	for i, s := range sessions {
		said := messages(c.threads.Thread(s.ID()).Snapshot())
		at := slices.Index(said, fmt.Sprint("user: script: say ", i, 0))
		require.GreaterOrEqual(t, at, 0, "%q", said)
		assert.Equal(t, []string{
			fmt.Sprint("user: script: say ", i, 0), "agent: One two three.",
			fmt.Sprint("user: script: say ", i, 1), "agent: One two three.",
			fmt.Sprint("user: script: say ", i, 2), "agent: One two three.",
		}, said[at:])
	}
}

func (c *conversation) closeDuring(t *testing.T) {
	turn := c.prompt("wait")
	waits(t, turn)
	require.NoError(t, c.session.Close(c.ctx))
	end, err := turn.Wait()
	if err == nil {
		assert.Equal(t, acp.StopReasonCancelled, end.StopReason)
	} else {
		assert.ErrorIs(t, err, client.ErrSessionClosed)
	}
}
