package client_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/rpcerr"
)

// elicitor is a viewer that can also ask for input, and counts how often.
type elicitor struct {
	viewer
	forms atomic.Int64
}

func (e *elicitor) CreateElicitation(context.Context, *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	e.forms.Add(1)
	return &acp.CreateElicitationResponse{Action: &acp.ElicitationDeclineAction{}}, nil
}

func (*elicitor) CompleteElicitation(context.Context, *acp.CompleteElicitationNotification) error {
	return nil
}

func TestInitializeFillsInWhatIsLeftOpen(t *testing.T) {
	for _, tt := range []struct {
		name string
		req  *acp.InitializeRequest
		want string
	}{
		{"nil", nil, `{"protocolVersion":2,"info":{"name":"unknown","version":"unknown"},"capabilities":{"elicitation":{"form":{},"url":{}}}}`},
		{"own", &acp.InitializeRequest{Info: acp.Implementation{Name: "c", Version: "3"}, Capabilities: &acp.ClientCapabilities{}},
			`{"protocolVersion":2,"info":{"name":"c","version":"3"},"capabilities":{}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, peer := dial(t, &elicitor{}, nil)
				assert.Zero(t, conn.ProtocolVersion())
				go func() { // ends with the response
					m := peer.Expect("initialize")
					assert.JSONEq(t, tt.want, string(m.Params))
					peer.Answer(m, `{"protocolVersion":2,"info":{"name":"a","version":"1"},"authMethods":[{"type":"agent","methodId":"key","name":"Key"}]}`)
				}()
				res, err := conn.Initialize(t.Context(), tt.req)
				require.NoError(t, err)
				assert.Equal(t, "a", res.Info.Name)
				assert.Equal(t, "a", conn.PeerInfo().Name)
				assert.Equal(t, 2, conn.ProtocolVersion())
				assert.Equal(t, &acp.AgentCapabilities{}, conn.AgentCapabilities())
				assert.Len(t, conn.AuthMethods(), 1)
			})
		})
	}
}

// Messages that the agent sends before its response are handled after it. The id of a request is a
// string or an integer.
func TestBeforeAndAfterTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handled := 0
		conn, peer := dial(t, &viewer{update: func(context.Context, *acp.UpdateSessionNotification) error {
			handled++
			return nil
		}}, nil)
		done := make(chan error, 1)
		go func() { // ends with the response
			_, err := conn.Initialize(t.Context(), nil)
			done <- err
		}()
		m := peer.Expect("initialize")
		const ask = `{"sessionId":"s1","title":"May I?","options":[{"optionId":"o","name":"O","kind":"allow_once"}]}`
		sendUpdate(peer, "early")
		peer.Call(`7`, "session/request_permission", ask)
		peer.Call(`null`, "session/request_permission", ask)
		synctest.Wait()
		assert.Zero(t, handled)
		peer.Answer(m, initialized(`{}`))
		require.NoError(t, <-done)
		synctest.Wait()
		assert.Equal(t, 1, handled)
		ids := map[string]bool{}
		for range 2 {
			m, _ := peer.Recv()
			ids[string(m.ID)] = m.Error == nil
		}
		assert.Equal(t, map[string]bool{"7": true, "null": false}, ids)
		peer.Call(`1.5`, "session/request_permission", ask)
		assert.Equal(t, "-32600 null", peer.Next().String())
	})
}

// The text of Explain has no control characters of the agent.
func TestExplainShowsMethods(t *testing.T) {
	conn, peer := dial(t, &viewer{}, nil)
	go func() { // ends with the response
		peer.Answer(peer.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"a","version":"1"},"authMethods":[
			{"type":"terminal","methodId":"tty","name":"Terminal","description":"in a shell","args":["auth","login"]},
			{"type":"terminal","methodId":"bare","name":"Bare"},
			{"type":"agent","methodId":"sly\u001b[2J","name":"A\nB","description":"\u202eevil"}]}`)
	}()
	_, err := conn.Initialize(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "Authentication required (-32000)\nSign in to the agent first.\n"+
		"  tty: Terminal (in a shell); run the agent's command auth login\n"+
		"  bare: Bare; run the agent's command\n"+
		"  sly: A B (evil)", client.Explain(conn, rpcerr.AuthRequired(nil)))
}

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
		"initial values": {`{"session":{}}`, "session.options", start(func(r *acp.NewSessionRequest) {
			r.ConfigOptions = []acp.InitialSessionConfigOption{{ConfigID: "c", Value: &acp.SessionConfigValue{Value: "v"}}}
		})},
		"skill": {`{"session":{"prompt":{}}}`, "session.prompt.skill", prompt(&acp.SkillReference{Name: "s"})},
		"second skill": {`{"session":{"prompt":{"skill":{}}}}`, "session.prompt.skill.inline", func(ctx context.Context, c *client.Conn) error {
			_, err := c.Session("s1").Prompt(ctx, &acp.SkillReference{Name: "s"}, &acp.SkillReference{Name: "t"}).Wait()
			return err
		}},
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
					assert.Contains(t, m.Raw, `"reason":"unknown_session"`)
				}
			}
		}
	})
}
