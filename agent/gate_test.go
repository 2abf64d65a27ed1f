package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// form and web return elicitations of the two modes.
func form() *acp.CreateElicitationRequest {
	return &acp.CreateElicitationRequest{Message: "who?", Mode: &acp.ElicitationFormMode{
		Scope: &acp.ElicitationSessionScope{SessionID: "s1"}, RequestedSchema: acp.ElicitationSchema{},
	}}
}

func web(url string) *acp.CreateElicitationRequest {
	return &acp.CreateElicitationRequest{Message: "visit", Mode: &acp.ElicitationURLMode{
		Scope: &acp.ElicitationSessionScope{SessionID: "s1"}, ElicitationID: "e1", URL: url,
	}}
}

func TestCallsThatTheClientDidNotAdvertise(t *testing.T) {
	p := open(t, good, &peertest.Client{}, &acp.ClientCapabilities{})
	c, s := p.agent, p.agent.Session("s1")
	for _, tt := range []struct {
		capability string
		call       func(context.Context) error
	}{
		{"fs.readTextFile", func(ctx context.Context) error { _, err := s.ReadFile(ctx, "/x"); return err }},
		{"fs.writeTextFile", func(ctx context.Context) error { return s.WriteFile(ctx, "/x", "") }},
		{"terminal", func(ctx context.Context) error {
			_, err := c.RunTerminal(ctx, &acp.CreateTerminalRequest{SessionID: "s1", Command: "ls"})
			return err
		}},
		{"terminal", func(ctx context.Context) error {
			_, err := c.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: "s1", TerminalID: "t"})
			return err
		}},
		{"elicitation.form", func(ctx context.Context) error { _, err := c.CreateElicitation(ctx, form()); return err }},
		{"elicitation.url", func(ctx context.Context) error {
			_, err := c.CreateElicitation(ctx, web("https://x.test/"))
			return err
		}},
		{"elicitation.url", func(ctx context.Context) error {
			return c.CompleteElicitation(ctx, &acp.CompleteElicitationNotification{ElicitationID: "e1"})
		}},
		{"session.notices", func(ctx context.Context) error { return s.SendNotice(ctx, acp.NoticeSeverityInfo, "t", "") }},
		{"session.compaction", func(ctx context.Context) error {
			return s.Update(ctx, &acp.CompactionUpdate{CompactionID: "c", Status: acp.CompactionStatusCompleted})
		}},
		{"plan", func(ctx context.Context) error { return s.Update(ctx, &acp.PlanRemoved{PlanID: "p"}) }},
		{"session.promptSuggestions", func(ctx context.Context) error { return s.Update(ctx, &acp.PromptSuggestionsUpdate{}) }},
		{"session.cursors", func(ctx context.Context) error { return s.Update(ctx, &acp.CursorUpdate{CursorID: "c"}) }},
		{"subagents", func(ctx context.Context) error { return s.Update(ctx, &acp.SubagentUpdate{SessionID: "s2"}) }},
		{"fs.readTextFile", func(ctx context.Context) error {
			return c.Call(ctx, "fs/read_text_file", map[string]string{"sessionId": "s1", "path": "/x"}, nil)
		}},
	} {
		err := tt.call(t.Context())
		var missing *acp.CapabilityError
		if assert.ErrorAs(t, err, &missing, tt.capability) {
			assert.Equal(t, tt.capability, missing.Capability)
			assert.NotEmpty(t, missing.Method)
		}
	}
	assert.NoError(t, s.Message(t.Context(), "plain updates need nothing"))
}

// Suggestions of content that either end did not advertise are not sent, nor blank ones.
func TestSuggestions(t *testing.T) {
	image := &acp.ImageContent{MIMEType: "image/png", Data: "AA=="}
	for name, tt := range map[string]struct {
		caps acp.PromptSuggestionsCapabilities
		u    []acp.ContentBlock
		want string
	}{
		"text":               {acp.PromptSuggestionsCapabilities{}, []acp.ContentBlock{acp.Text("go")}, ""},
		"image":              {acp.PromptSuggestionsCapabilities{}, []acp.ContentBlock{image}, "session.promptSuggestions.image"},
		"image of the agent": {acp.PromptSuggestionsCapabilities{Image: &acp.PromptSuggestionsImageCapabilities{}}, []acp.ContentBlock{image}, "promptCapabilities.image"},
		"blank":              {acp.PromptSuggestionsCapabilities{}, []acp.ContentBlock{acp.Text(" \n")}, "blank"},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, good, &peertest.Client{}, &acp.ClientCapabilities{Session: &acp.ClientSessionCapabilities{PromptSuggestions: &tt.caps}})
			err := p.agent.Session("s1").Update(t.Context(), &acp.PromptSuggestionsUpdate{Suggestions: []acp.PromptSuggestion{{Prompt: tt.u}}})
			if tt.want != "" {
				assert.ErrorContains(t, err, tt.want)
				return
			}
			assert.NoError(t, err)
		})
	}
}

func TestUnstableCallsNeedTheOption(t *testing.T) {
	p := connect(t, good, &peertest.Client{}, nil)
	_, err := p.client.Initialize(t.Context(), nil)
	require.NoError(t, err)
	err = p.agent.AuthStatusUpdate(t.Context(), &acp.AuthStatusUpdateNotification{State: acp.AuthStateAuthenticated})
	assert.ErrorContains(t, err, "set Options.Unstable")
	code, _ := rpcerr.CodeOf(err)
	assert.Equal(t, rpcerr.CodeMethodNotFound, code, "as a proxy passes it on")
}

func TestOnlyWebPagesAreSent(t *testing.T) {
	p := open(t, good, &peertest.Client{}, &acp.ClientCapabilities{})
	for _, url := range []string{"file:///etc/passwd", "javascript:alert(1)", "vscode://x", "https:", "http:///x", "%zz", "//host/x"} {
		_, err := p.agent.CreateElicitation(t.Context(), web(url))
		var invalid *acp.InvalidError
		if assert.ErrorAs(t, err, &invalid, url) {
			assert.Equal(t, "url", invalid.Fields[0].Path)
		}
	}
}
