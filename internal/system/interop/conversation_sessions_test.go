package interop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The steps of the conversation that are about sessions and their settings.

func (c *conversation) settings(t *testing.T) {
	require.NoError(t, c.session.SetMode(c.ctx, "code"))
	updates, _ := c.handler.recorded()
	assert.Equal(t, []acp.SessionUpdate{&acp.CurrentModeUpdate{CurrentModeID: "code"}}, updates)
	hasCode(t, rpcerr.CodeInvalidParams, c.session.SetMode(c.ctx, "fly"))
	assert.Equal(t, acp.SessionModeID("code"), c.session.Modes().CurrentModeID)

	require.NoError(t, c.session.SetConfigOption(c.ctx, "model", "big"))
	require.NoError(t, c.session.SetConfigOptionBool(c.ctx, "web", true))
	options := c.session.ConfigOptions()
	require.Len(t, options, 3)
	assert.Equal(t, acp.SessionConfigValueID("big"), options[0].Kind.(*acp.SessionConfigSelect).CurrentValue)
	assert.Equal(t, &acp.SessionConfigBoolean{CurrentValue: true}, options[2].Kind)
	hasCode(t, rpcerr.CodeInvalidParams, c.session.SetConfigOption(c.ctx, "none", "x"))
}

func (c *conversation) loadAndResume(t *testing.T) {
	fresh, err := c.conn.StartSession(c.ctx, &acp.NewSessionRequest{Cwd: c.dir})
	require.NoError(t, err)
	c.session = fresh
	c.say(t, "say a b")
	c.handler.reset("")
	loaded, err := c.conn.LoadSession(c.ctx, &acp.LoadSessionRequest{SessionID: fresh.ID(), Cwd: c.dir})
	require.NoError(t, err)
	assert.Equal(t, acp.SessionModeID("ask"), loaded.Modes.CurrentModeID)
	var replayed []acp.SessionUpdate
	updates, _ := c.handler.recorded()
	for _, u := range updates {
		if _, greeting := u.(*acp.AvailableCommandsUpdate); !greeting {
			replayed = append(replayed, u)
		}
	}
	assert.Equal(t, []acp.SessionUpdate{acp.UserText("say a b"), acp.AgentText("a"), acp.AgentText("b")}, replayed,
		"all of the replay was handled when the call returned")
	var handed []acp.SessionUpdate
	again, err := c.conn.StartLoadedSession(c.ctx, &acp.LoadSessionRequest{SessionID: fresh.ID(), Cwd: c.dir},
		func(_ context.Context, u acp.SessionUpdate) { handed = append(handed, u) })
	require.NoError(t, err)
	assert.Equal(t, fresh.ID(), again.ID())
	assert.Subset(t, handed, replayed, "the helper hands the replay out before it returns")
	again.OnUpdate(nil)
	c.handler.reset("")
	resumed, err := c.conn.ResumeSession(c.ctx, &acp.ResumeSessionRequest{SessionID: fresh.ID(), Cwd: c.dir})
	require.NoError(t, err)
	assert.Len(t, resumed.ConfigOptions, 3)
	updates, _ = c.handler.recorded()
	assert.Empty(t, updates, "no replay")
	_, err = c.conn.LoadSession(c.ctx, &acp.LoadSessionRequest{SessionID: "nope", Cwd: c.dir})
	assert.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
}

func (c *conversation) list(t *testing.T, cwd string) []acp.SessionID {
	t.Helper()
	var ids []acp.SessionID
	for req := (&acp.ListSessionsRequest{Cwd: cwd}); ; {
		page, err := c.conn.ListSessions(c.ctx, req)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(page.Sessions), 2, "pages are small")
		for _, s := range page.Sessions {
			ids = append(ids, s.SessionID)
		}
		if page.NextCursor == "" {
			return ids
		}
		req.Cursor = page.NextCursor
	}
}

func (c *conversation) listCloseDelete(t *testing.T) {
	assert.Equal(t, []acp.SessionID{"session-1", "session-2", "session-3"}, c.list(t, ""))
	assert.Equal(t, []acp.SessionID{"session-1"}, c.list(t, c.dir+"/locked"))
	_, err := c.conn.ListSessions(c.ctx, &acp.ListSessionsRequest{Cursor: "bad"})
	hasCode(t, rpcerr.CodeInvalidParams, err)

	turn := c.session.Prompt(c.ctx, acp.Text("wait"))
	require.NoError(t, c.handler.until(c.ctx, func() bool { return len(c.handler.updates) > 0 }))
	require.NoError(t, c.session.Close(c.ctx))
	res, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, res.StopReason, "closing the session ends its turn")
	for range 2 { // deleting what is gone is fine
		require.NoError(t, c.conn.Session("session-1").Delete(c.ctx))
	}
	assert.Equal(t, []acp.SessionID{"session-2", "session-3"}, c.list(t, ""))
}

func (c *conversation) unstable(t *testing.T) {
	id := acp.SessionID("session-3")
	fork, err := c.conn.ForkSession(c.ctx, &acp.ForkSessionRequest{SessionID: id, Cwd: c.dir})
	require.NoError(t, err)
	assert.NotEqual(t, id, fork.SessionID)
	title, err := c.conn.SetSessionTitle(c.ctx, &acp.SetSessionTitleRequest{SessionID: id, Title: "  Mine "})
	require.NoError(t, err)
	assert.Equal(t, "Mine", title.Title)
	status := func() acp.SessionStatus {
		res, err := c.conn.SessionStatus(c.ctx, &acp.SessionStatusRequest{SessionID: id})
		require.NoError(t, err)
		return res.Status
	}
	_, err = c.conn.ArchiveSession(c.ctx, &acp.ArchiveSessionRequest{SessionID: id})
	require.NoError(t, err)
	assert.Equal(t, acp.SessionStatusSaved, status())
	_, err = c.conn.UnarchiveSession(c.ctx, &acp.UnarchiveSessionRequest{SessionID: id})
	require.NoError(t, err)
	assert.Equal(t, acp.SessionStatusOpen, status())

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
