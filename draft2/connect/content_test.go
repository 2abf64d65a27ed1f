package connect_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// The content of a prompt and of a session has the right form in each version.
func TestWhatIsSent(t *testing.T) {
	size, priority := int64(7), 0.5
	blocks := []thread.Block{
		{Type: "text", Text: "t", Annotations: &thread.Annotations{Audience: []string{"user"}, LastModified: "l", Priority: &priority}, Meta: thread.Meta{"k": 1}},
		{Type: "image", Data: "YQ==", MIMEType: "image/png", URI: "file:///i"},
		{Type: "audio", Data: "YQ==", MIMEType: "audio/wav"},
		{Type: "resource_link", URI: "file:///l", Name: "n", Title: "t", Description: "d", MIMEType: "a/b", Size: &size, Icons: []thread.Icon{{URI: "https://e.com/i", Theme: "dark"}}},
		{Type: "resource", Text: "r", URI: "file:///r", MIMEType: "a/b", ResourceMeta: thread.Meta{"k": 2}},
		{Type: "resource", Data: "YQ==", URI: "file:///b"},
		{Type: "_x", Raw: json.RawMessage(`{"type":"_x","n":1}`)},
	}
	servers := []connect.MCPServer{
		{Name: "c", Command: "/bin/c", Args: []string{"a"}, Env: map[string]string{"B": "2", "A": "1"}},
		{Name: "h", URL: "https://e.com/h", Headers: map[string]string{"K": "v"}},
	}
	link := `{"type":"resource_link","uri":"file:///l","name":"n","title":"t","description":"d","mimeType":"a/b","size":7}`
	icons := `{"type":"resource_link","uri":"file:///l","name":"n","title":"t","description":"d","mimeType":"a/b","size":7,"icons":[{"src":"https://e.com/i","theme":"dark"}]}`
	prompt := func(link string) string {
		return `[{"type":"text","text":"t","annotations":{"audience":["user"],"lastModified":"l","priority":0.5},"_meta":{"k":1}},
			{"type":"image","data":"YQ==","mimeType":"image/png","uri":"file:///i"},{"type":"audio","data":"YQ==","mimeType":"audio/wav"},` + link + `,
			{"type":"resource","resource":{"text":"r","uri":"file:///r","mimeType":"a/b","_meta":{"k":2}}},{"type":"resource","resource":{"blob":"YQ==","uri":"file:///b"}},{"type":"_x","n":1}]`
	}
	for version, c := range map[int]struct{ initialized, prompt, servers, value string }{
		1: {`{"protocolVersion":1,"agentCapabilities":{"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"mcpCapabilities":{"http":true,"sse":true},"sessionCapabilities":{"additionalDirectories":{}}}}`,
			prompt(link), `[{"name":"c","command":"/bin/c","args":["a"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},
				{"type":"http","name":"h","url":"https://e.com/h","headers":[{"name":"K","value":"v"}]},{"type":"sse","name":"s","url":"https://e.com/s","headers":[]}]`, `"fast"`},
		2: {`{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{"prompt":{"image":{},"audio":{},"embeddedContext":{}},"mcp":{"stdio":{},"http":{}},"additionalDirectories":{}}}}`,
			prompt(icons), `[{"type":"stdio","name":"c","command":"/bin/c","args":["a"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},
				{"type":"http","name":"h","url":"https://e.com/h","headers":[{"name":"K","value":"v"}]}]`, `"fast","type":"id"`},
	} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			leak.Check(t)
			a := newAgents(t, func(p *rawpeer.Peer) {
				p.Answer(p.Expect("initialize"), c.initialized)
				m := p.Expect("session/new")
				assert.JSONEq(t, `{"cwd":"/w","additionalDirectories":["/x"],"mcpServers":`+c.servers+`}`, string(m.Params))
				p.Answer(m, `{"sessionId":"s"}`)
				for _, value := range []string{c.value, `true,"type":"boolean"`} {
					m = p.Expect("session/set_config_option")
					assert.JSONEq(t, `{"sessionId":"s","configId":"o","value":`+value+`}`, string(m.Params))
					p.Answer(m, `{"configOptions":[]}`)
				}
				m = p.Expect("session/prompt")
				assert.JSONEq(t, `{"sessionId":"s","prompt":`+c.prompt+`}`, string(m.Params))
				p.Fail(m, -32603, "enough")
				p.ExpectEnd()
			})
			conn, err := connect.Connect(t.Context(), a.dial, nil)
			require.NoError(t, err)
			f := conn.Features()
			assert.True(t, f.Image && f.Audio && f.Resource && f.HTTP && f.Stdio && f.AdditionalDirectories)
			list := servers
			if f.SSE {
				list = append(list[:2:2], connect.MCPServer{Name: "s", URL: "https://e.com/s", SSE: true})
			} else {
				_, err := conn.StartSession(t.Context(), &connect.SessionParams{Cwd: "/w", MCPServers: []connect.MCPServer{{Name: "s", SSE: true}}})
				assert.ErrorContains(t, err, "SSE")
			}
			s, err := conn.StartSession(t.Context(), &connect.SessionParams{Cwd: "/w", AdditionalDirectories: []string{"/x"}, MCPServers: list})
			require.NoError(t, err)
			require.NoError(t, s.SetOption(t.Context(), "o", "fast"))
			require.NoError(t, s.SetOptionBool(t.Context(), "o", true))
			_, err = s.Prompt(t.Context(), blocks...).Wait()
			assert.ErrorContains(t, err, "enough")
			end(t, conn)
		})
	}
}

// A system prompt is sent with each request that opens a session, if the agent advertises that. What it
// did not advertise, or could not apply, is not sent.
func TestSystemPrompt(t *testing.T) {
	brief := &acp.SystemPrompt{Mode: acp.SystemPromptModeAppend, Content: []acp.ContentBlock{acp.Text("Be brief.")}, Meta: acp.Meta{"k": 1}}
	const sent = `{"mode":"append","content":[{"type":"text","text":"Be brief."}],"_meta":{"k":1}}`
	for version, c := range map[int]struct{ initialized, load, none, override string }{
		1: {`{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}%s}}}`, "session/load",
			"sessionCapabilities.systemPrompt", "sessionCapabilities.systemPrompt.mode.override"},
		2: {`{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{"mcp":{}%s}}}`, "session/resume",
			"session.systemPrompt", "session.systemPrompt.mode.override"},
	} {
		start := func(conn *connect.Conn, p *acp.SystemPrompt) error {
			_, err := conn.StartSession(t.Context(), &connect.SessionParams{Cwd: "/w", SystemPrompt: p})
			return err
		}
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			leak.Check(t)
			a := newAgents(t, func(p *rawpeer.Peer) {
				p.Answer(p.Expect("initialize"), fmt.Sprintf(c.initialized, `,"systemPrompt":{}`))
				for _, method := range []string{"session/new", c.load, "session/resume"} {
					m := p.Expect(method)
					got, err := json.Marshal(asked(t, m)["systemPrompt"])
					assert.NoError(t, err)
					assert.JSONEq(t, sent, string(got), method)
					p.Answer(m, `{"sessionId":"s"}`)
				}
				p.ExpectEnd()
			})
			conn, err := connect.Connect(t.Context(), a.dial, nil)
			require.NoError(t, err)
			require.NoError(t, start(conn, brief))
			_, err = conn.LoadSession(t.Context(), "t", &connect.SessionParams{Cwd: "/w", SystemPrompt: brief})
			require.NoError(t, err)
			_, err = conn.ResumeSession(t.Context(), "u", &connect.SessionParams{Cwd: "/w", SystemPrompt: brief})
			require.NoError(t, err)

			var lacks *acp.CapabilityError
			require.ErrorAs(t, start(conn, &acp.SystemPrompt{Mode: acp.SystemPromptModeOverride, Content: brief.Content}), &lacks)
			assert.Equal(t, c.override, lacks.Capability)
			for _, content := range [][]acp.ContentBlock{nil, {acp.Text(" ")}, {acp.Text("x"), &acp.ImageContent{MIMEType: "image/png"}}, {nil}} {
				assert.Error(t, start(conn, &acp.SystemPrompt{Mode: acp.SystemPromptModeAppend, Content: content}))
			}
			end(t, conn)
		})
		t.Run(fmt.Sprint(version, " not advertised"), func(t *testing.T) {
			a := newAgents(t, func(p *rawpeer.Peer) {
				p.Answer(p.Expect("initialize"), fmt.Sprintf(c.initialized, ""))
				p.ExpectEnd()
			})
			conn, err := connect.Connect(t.Context(), a.dial, nil)
			require.NoError(t, err)
			var lacks *acp.CapabilityError
			require.ErrorAs(t, start(conn, brief), &lacks)
			assert.Equal(t, c.none, lacks.Capability)
			end(t, conn)
		})
	}
}

// Values of options go with each request that opens a session, if the agent advertises that it takes them.
func TestInitialOptions(t *testing.T) {
	options := []connect.InitialOption{{ID: "model", Value: "m"}, {ID: "fast", On: new(false)}}
	for version, c := range map[int]struct{ initialized, load, none, sent string }{
		1: {`{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}%s}}}`, "session/load",
			"sessionCapabilities.options", `[{"configId":"model","value":"m"},{"configId":"fast","type":"boolean","value":false}]`},
		2: {`{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{"mcp":{}%s}}}`, "session/resume",
			"session.options", `[{"configId":"model","type":"id","value":"m"},{"configId":"fast","type":"boolean","value":false}]`},
	} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			a := newAgents(t, func(p *rawpeer.Peer) {
				p.Answer(p.Expect("initialize"), fmt.Sprintf(c.initialized, `,"options":{}`))
				for _, method := range []string{"session/new", c.load, "session/resume"} {
					m := p.Expect(method)
					got, err := json.Marshal(asked(t, m)["configOptions"])
					assert.NoError(t, err)
					assert.JSONEq(t, c.sent, string(got), method)
					p.Answer(m, `{"sessionId":"s"}`)
				}
				p.ExpectEnd()
			})
			conn, err := connect.Connect(t.Context(), a.dial, nil)
			require.NoError(t, err)
			assert.True(t, conn.Features().SessionOptions)
			p := &connect.SessionParams{Cwd: "/w", Options: options}
			_, err = conn.StartSession(t.Context(), p)
			require.NoError(t, err)
			_, err = conn.LoadSession(t.Context(), "t", p)
			require.NoError(t, err)
			_, err = conn.ResumeSession(t.Context(), "u", p)
			require.NoError(t, err)
			end(t, conn)
		})
		t.Run(fmt.Sprint(version, " not advertised"), func(t *testing.T) {
			a := newAgents(t, func(p *rawpeer.Peer) {
				p.Answer(p.Expect("initialize"), fmt.Sprintf(c.initialized, ""))
				p.ExpectEnd()
			})
			conn, err := connect.Connect(t.Context(), a.dial, nil)
			require.NoError(t, err)
			assert.False(t, conn.Features().SessionOptions)
			_, err = conn.StartSession(t.Context(), &connect.SessionParams{Cwd: "/w", Options: options})
			var lacks *acp.CapabilityError
			require.ErrorAs(t, err, &lacks)
			assert.Equal(t, c.none, lacks.Capability)
			end(t, conn)
		})
	}
}
