package interop_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The steps of the conversation of version 2 that are about sessions and their settings.

func (c *conversation2) options(t *testing.T) {
	require.NoError(t, c.session.SetConfigOption(c.ctx, "model", "big"))
	require.NoError(t, c.session.SetConfigOptionBool(c.ctx, "web", true))
	res, err := c.conn.SetSessionConfigOption(c.ctx, &acp.SetSessionConfigOptionRequest{
		SessionID: c.session.ID(), ConfigID: "colour",
		Value: &acp.UnknownSessionConfigOptionValue{Type: "_colour", Raw: json.RawMessage(`{"type":"_colour","value":"#000"}`)},
	})
	require.NoError(t, err)
	require.Len(t, res.ConfigOptions, 4)
	assert.JSONEq(t, `{"type":"_colour","currentValue":"#000"}`, string(res.ConfigOptions[3].Kind.(*acp.UnknownSessionConfigKind).Raw))
	options := c.session.ConfigOptions()
	require.Len(t, options, 4)
	assert.Equal(t, acp.SessionConfigValueID("big"), options[0].Kind.(*acp.SessionConfigSelect).CurrentValue)
	assert.Equal(t, &acp.SessionConfigBoolean{CurrentValue: true}, options[2].Kind)
	hasCode(t, rpcerr.CodeInvalidParams, c.session.SetConfigOption(c.ctx, "none", "x"))
}

func (c *conversation2) resume(t *testing.T) {
	fresh, err := c.conn.StartSession(c.ctx, &acp.NewSessionRequest{Cwd: acp.AbsolutePath(c.dir)})
	require.NoError(t, err)
	c.greeted(t, fresh)
	old := c.session
	c.session = fresh
	c.say(t, "say a b")
	c.handler.reset("")

	var handed []acp.SessionUpdate
	again, err := c.conn.StartResumedSession(c.ctx, &acp.ResumeSessionRequest{
		SessionID: fresh.ID(), Cwd: acp.AbsolutePath(c.dir), ReplayFrom: &acp.ReplayFromStart{},
	}, &client.ResumeOptions{OnUpdate: func(_ context.Context, u acp.SessionUpdate) { handed = append(handed, u) }})
	require.NoError(t, err)
	again.OnUpdate(nil)
	assert.Equal(t, fresh.ID(), again.ID())
	order := []string{"user", "user", "agent", "agent", "replay complete", "idle"}
	if !c.marks {
		order = slices.Delete(order, 4, 5)
	}
	assert.Equal(t, order, gists(handed), "all of it was handled when the call returned")
	assert.Equal(t, handed, c.handler.seen())
	assert.Equal(t, acp.Some([]acp.ContentBlock{}), handed[0].(*acp.UserMessage).Content)
	assert.Equal(t, acp.Text("say a b"), handed[1].(*acp.UserMessageChunk).Content)
	assert.Len(t, again.ConfigOptions(), 4)

	c.handler.reset("")
	res, err := c.conn.ResumeSession(c.ctx, &acp.ResumeSessionRequest{SessionID: fresh.ID(), Cwd: acp.AbsolutePath(c.dir)})
	require.NoError(t, err)
	assert.Len(t, res.ConfigOptions, 4)
	assert.Equal(t, []string{"idle"}, gists(c.handler.seen()), "no replay")

	turn := c.working(t)
	_, err = c.conn.StartResumedSession(c.ctx, &acp.ResumeSessionRequest{SessionID: fresh.ID(), Cwd: acp.AbsolutePath(c.dir)}, nil)
	require.NoError(t, err)
	assert.IsType(t, &acp.RunningStateUpdate{}, fresh.State())
	_, err = c.conn.StartResumedSession(c.ctx, &acp.ResumeSessionRequest{
		SessionID: fresh.ID(), Cwd: acp.AbsolutePath(c.dir), ReplayFrom: &acp.ReplayFromStart{}}, nil)
	assert.ErrorIs(t, err, acp.ErrTurnRunning)
	c.finish(t)
	c.ends(t, turn, acp.StopReasonEndTurn, "waitingstopping")

	_, err = c.conn.ResumeSession(c.ctx, &acp.ResumeSessionRequest{
		SessionID: fresh.ID(), Cwd: acp.AbsolutePath(c.dir), ReplayFrom: &acp.UnknownReplayFrom{Type: "_tail", Raw: json.RawMessage(`{"type":"_tail","n":2}`)}})
	hasCode(t, rpcerr.CodeInvalidParams, err)
	_, err = c.conn.ResumeSession(c.ctx, &acp.ResumeSessionRequest{SessionID: "nope", Cwd: acp.AbsolutePath(c.dir)})
	assert.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
	c.session = old
}

func (c *conversation2) listed(t *testing.T, req *acp.ListSessionsRequest) []acp.SessionID {
	t.Helper()
	var ids []acp.SessionID
	for info, err := range c.conn.Sessions(c.ctx, req) {
		require.NoError(t, err)
		ids = append(ids, info.SessionID)
	}
	return ids
}

func (c *conversation2) list(t *testing.T) {
	page, err := c.conn.ListSessions(c.ctx, nil)
	require.NoError(t, err)
	require.NotNil(t, page.NextCursor)
	assert.Empty(t, *page.NextCursor, "the empty string is a cursor like any other")
	assert.Equal(t, []acp.SessionID{"session-1", "session-2", "session-3"}, c.listed(t, nil))
	assert.Equal(t, []acp.SessionID{"session-1"}, c.listed(t, &acp.ListSessionsRequest{Cwd: acp.AbsolutePath(c.dir + "/locked")}))
	_, err = c.conn.ListSessions(c.ctx, &acp.ListSessionsRequest{Cursor: new(acp.SessionListCursor("bad"))})
	hasCode(t, rpcerr.CodeInvalidParams, err)
}

// Closing the session ends its turn, what is held, and background work.
func (c *conversation2) close(t *testing.T) {
	c.handler.reset(keepOpen)
	c.say(t, "background")
	before := c.promptsTold(t)
	turn := c.working(t)
	held := c.session.Prompt(c.ctx, acp.Text("say b"))
	c.prompts(t, before, 2)
	require.NoError(t, c.session.Close(c.ctx))
	c.ends(t, turn, acp.StopReasonCancelled, "waitingstopping")
	_, err := held.Wait()
	hasCode(t, rpcerr.CodeRequestCancelled, err)
	ended := map[string]bool{}
	for _, u := range c.handler.seen() {
		if u, ok := u.(*acp.ToolCallUpdate); ok {
			ended["tool call"] = u.Status.Or("") == acp.ToolCallStatusCancelled
		}
		if u, ok := u.(*acp.TerminalUpdate); ok {
			ended["terminal"] = u.ExitStatus.Or(acp.TerminalExitStatus{}).Signal == "SIGTERM"
		}
	}
	assert.Equal(t, map[string]bool{"tool call": true, "terminal": true}, ended)
	_, err = c.session.Prompt(c.ctx, acp.Text("say x")).Wait()
	assert.ErrorIs(t, err, client.ErrSessionClosed)
}

func (c *conversation2) delete(t *testing.T) {
	for range 2 { // deleting what is gone is fine
		require.NoError(t, c.conn.Session("session-1").Delete(c.ctx))
	}
	assert.Equal(t, []acp.SessionID{"session-2", "session-3"}, c.listed(t, nil))
}

func (c *conversation2) unstable(t *testing.T) {
	id := acp.SessionID("session-3")
	fork, err := c.conn.ForkSession(c.ctx, &acp.ForkSessionRequest{SessionID: id, Cwd: acp.AbsolutePath(c.dir)})
	require.NoError(t, err)
	assert.NotEqual(t, id, fork.SessionID)
	title, err := c.conn.SetSessionTitle(c.ctx, &acp.SetSessionTitleRequest{SessionID: id, Title: "  Mine "})
	require.NoError(t, err)
	assert.Equal(t, "Mine", title.Title)
	status := func() *acp.SessionStatusResponse {
		res, err := c.conn.SessionStatus(c.ctx, &acp.SessionStatusRequest{SessionID: id})
		require.NoError(t, err)
		return res
	}
	_, err = c.conn.ArchiveSession(c.ctx, &acp.ArchiveSessionRequest{SessionID: id})
	require.NoError(t, err)
	assert.Equal(t, &acp.SessionStatusResponse{Status: acp.SessionStatusSaved}, status())
	_, err = c.conn.UnarchiveSession(c.ctx, &acp.UnarchiveSessionRequest{SessionID: id})
	require.NoError(t, err)
	assert.Equal(t, acp.SessionStatusOpen, status().Status)
	assert.IsType(t, &acp.IdleStateUpdate{}, status().State)

	current := func() *acp.ProviderCurrentConfig {
		res, err := c.conn.ListProviders(c.ctx, nil)
		require.NoError(t, err)
		require.Len(t, res.Providers, 1)
		return res.Providers[0].Current
	}
	assert.Nil(t, current())
	_, err = c.conn.SetProvider(c.ctx, &acp.SetProviderRequest{ProviderID: "main", APIType: acp.LLMProtocolOpenAI, BaseURL: "https://example.com/v1"})
	require.NoError(t, err)
	assert.Equal(t, &acp.ProviderCurrentConfig{APIType: acp.LLMProtocolOpenAI, BaseURL: "https://example.com/v1"}, current())
	_, err = c.conn.DisableProvider(c.ctx, &acp.DisableProviderRequest{ProviderID: "main"})
	require.NoError(t, err)
	assert.Nil(t, current())
}
