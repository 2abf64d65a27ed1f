package client_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/v2"
)

// A call that the agent does not support is not sent.
func TestCapabilities(t *testing.T) {
	start := func(mutate func(*acp.NewSessionRequest)) func(context.Context, *client.Conn) error {
		return func(ctx context.Context, c *client.Conn) error {
			req := &acp.NewSessionRequest{Cwd: "/"}
			mutate(req)
			_, err := c.StartSession(ctx, req)
			return err
		}
	}
	prompt := func(block acp.ContentBlock) func(context.Context, *client.Conn) error {
		return func(ctx context.Context, c *client.Conn) error {
			_, err := c.Session("s1").Prompt(ctx, block).Wait()
			return err
		}
	}
	for name, tt := range map[string]struct {
		caps, missing string
		call          func(context.Context, *client.Conn) error
	}{
		"no sessions": {`{}`, "session", start(func(*acp.NewSessionRequest) {})},
		"list": {`{}`, "session", func(ctx context.Context, c *client.Conn) error {
			_, err := c.ListSessions(ctx, nil)
			return err
		}},
		"folders": {`{"session":{}}`, "session.additionalDirectories", start(func(r *acp.NewSessionRequest) { r.AdditionalDirectories = []acp.AbsolutePath{"/a"} })},
		"stdio": {`{"session":{"mcp":{"http":{}}}}`, "session.mcp.stdio", start(func(r *acp.NewSessionRequest) {
			r.MCPServers = []acp.MCPServer{&acp.MCPServerStdio{Name: "m", Command: "/m"}}
		})},
		"http": {`{"session":{"mcp":{"stdio":{}}}}`, "session.mcp.http", start(func(r *acp.NewSessionRequest) {
			r.MCPServers = []acp.MCPServer{&acp.MCPServerHTTP{Name: "m", URL: "http://m"}}
		})},
		"system prompt": {`{"session":{"systemPrompt":{}}}`, "session.systemPrompt.mode.override",
			start(func(r *acp.NewSessionRequest) { r.SystemPrompt = &acp.SystemPrompt{Mode: acp.SystemPromptModeOverride} })},
		"image":    {`{"session":{"prompt":{"audio":{}}}}`, "session.prompt.image", prompt(&acp.ImageContent{Data: "", MIMEType: "image/png"})},
		"audio":    {`{"session":{"prompt":{"image":{}}}}`, "session.prompt.audio", prompt(&acp.AudioContent{Data: "", MIMEType: "audio/wav"})},
		"resource": {`{"session":{"prompt":{}}}`, "session.prompt.embeddedContext", prompt(&acp.EmbeddedResource{Resource: &acp.TextResourceContents{URI: "file:///a"}})},
		"delete":   {`{"session":{}}`, "session.delete", func(ctx context.Context, c *client.Conn) error { return c.Session("s1").Delete(ctx) }},
		"close":    {`{}`, "session", func(ctx context.Context, c *client.Conn) error { return c.Session("s1").Close(ctx) }},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _ := open(t, &viewer{}, tt.caps, &client.Options{Unstable: true})
			var missing *acp.CapabilityError
			require.ErrorAs(t, tt.call(t.Context(), conn), &missing)
			assert.Equal(t, tt.missing, missing.Capability)
		})
	}
}

// A form or page of a session that is not open is refused.
func TestFormsOfUnknownSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		viewer := &elicitor{}
		_, peer := session(t, viewer, nil)
		synctest.Wait()
		for i, c := range []struct {
			scope string
			shown bool
		}{
			{`"sessionId":"s2"`, false},
			{`"sessionId":"s1"`, true},
			{`"requestId":7`, true},
			{`"sessionId":"child"`, true},
		} {
			if i == 3 {
				peer.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":"subagent_update","sessionId":"child"}}`)
			}
			for j, mode := range []string{`"mode":"form","requestedSchema":{"type":"object","properties":{}}`, `"mode":"url","elicitationId":"e","url":"https://x.test"`} {
				before := viewer.forms.Load()
				peer.Call(fmt.Sprint(10*i+j), "elicitation/create", `{`+c.scope+`,"message":"who?",`+mode+`}`)
				m, ok := peer.Recv()
				require.True(t, ok)
				assert.Equal(t, c.shown, viewer.forms.Load() > before, c.scope)
				if c.shown {
					assert.Nil(t, m.Error, c.scope)
				} else if assert.NotNil(t, m.Error, c.scope) {
					assert.Equal(t, -32602, m.Error.Code)
				}
			}
		}
	})
}
