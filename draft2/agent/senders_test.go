package agent_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/schema"
)

// These are all capabilities that updates need of the client, and what else the agent sends of the agent.
const (
	everythingClient = `{"session":{"promptSuggestions":{},"commands":{"skill":{}}}}`
	everythingAgent  = `{"auth":{"status":{}},"session":{"mcp":{"acp":{}},"prompt":{"skill":{}}}}`
)

// telling is an agent that advertises caps and lists a skill for each session.
type telling struct {
	scripted
	caps *acp.AgentCapabilities
}

func (a *telling) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{Info: acp.Implementation{Name: "t", Version: "1"}, Capabilities: a.caps}, nil
}

func (a *telling) AuthStatus(context.Context, *acp.AuthStatusRequest) (*acp.AuthStatusResponse, error) {
	return &acp.AuthStatusResponse{State: acp.AuthStateAuthenticated}, nil
}

func (a *telling) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1", AvailableCommands: listed}, nil
}

// advertising connects an agent and a client that advertise these capabilities.
func advertising(t *testing.T, own, peer string) (*agent.Conn, *rawpeer.Peer) {
	a := &telling{caps: &acp.AgentCapabilities{}}
	require.NoError(t, json.Unmarshal([]byte(own), a.caps))
	near, far := rawpeer.Pipe(t)
	conn := rawpeer.Start(t, agent.New(near, func(c *agent.Conn) acp.Agent { a.conn = c; return a }, &agent.Options{Unstable: true}))
	far.Call("0", "initialize", `{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":`+peer+`}`)
	require.Nil(t, far.Next().Error)
	return conn, far
}

const aSkill = `{"sessionUpdate":"available_commands_update","availableCommands":[{"type":"skill","name":"x","description":"X"}]}`

// updates are updates of each kind, and the capability of the client that they need. A kind that needs one by what is
// in it stands here twice.
var updates = []struct {
	update, needs string
}{
	{`{"sessionUpdate":"user_message_chunk","messageId":"m","content":{"type":"text","text":"x"}}`, ""},
	{`{"sessionUpdate":"user_message","messageId":"m","content":[]}`, ""},
	{`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"x"}}`, ""},
	{`{"sessionUpdate":"agent_message","messageId":"m","content":[]}`, ""},
	{`{"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"text","text":"x"}}`, ""},
	{`{"sessionUpdate":"agent_thought","messageId":"m","content":[]}`, ""},
	{`{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}`, ""},
	{`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":{"type":"content","content":{"type":"text","text":"x"}}}`, ""},
	{`{"sessionUpdate":"tool_call_update","toolCallId":"t"}`, ""},
	{`{"sessionUpdate":"terminal_update","terminalId":"t"}`, ""},
	{`{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"eA=="}`, ""},
	{`{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"p","content":"x"}}`, ""},
	{`{"sessionUpdate":"plan_removed","planId":"p"}`, ""},
	{`{"sessionUpdate":"available_commands_update","availableCommands":[{"type":"command","name":"x","description":"X"}]}`, ""},
	{aSkill, "session.commands.skill"},
	{`{"sessionUpdate":"config_option_update","configOptions":[{"configId":"o","name":"O","type":"boolean","currentValue":true}]}`, ""},
	{`{"sessionUpdate":"session_info_update","title":"t"}`, ""},
	{`{"sessionUpdate":"usage_update","used":1,"size":2}`, ""},
	{`{"sessionUpdate":"notice","severity":"info","title":"t"}`, ""},
	{`{"sessionUpdate":"compaction_update","compactionId":"c","status":"completed"}`, ""},
	{`{"sessionUpdate":"compaction_summary_chunk","compactionId":"c","content":{"type":"text","text":"x"}}`, ""},
	{`{"sessionUpdate":"prompt_suggestions_update","suggestions":[{"prompt":[{"type":"text","text":"x"}]}]}`, "session.promptSuggestions"},
	{`{"sessionUpdate":"cursor_update","cursorId":"c","anchor":{"type":"user_message","messageId":"m","position":"before"}}`, ""},
	{`{"sessionUpdate":"subagent_update","sessionId":"sub"}`, ""},
	{`{"sessionUpdate":"session_message","messageId":"m","content":[]}`, ""},
	{`{"sessionUpdate":"session_message_chunk","messageId":"m","content":{"type":"text","text":"x"}}`, ""},
}

// Each kind of update that needs a capability is sent only to a client with it. A kind that is new in the schema
// must get a row.
func TestUpdatesAreGated(t *testing.T) {
	raw, err := schema.Files.ReadFile("v2-unstable.json")
	require.NoError(t, err)
	var file struct {
		Defs struct {
			SessionUpdate struct {
				AnyOf []struct {
					Properties struct{ SessionUpdate struct{ Const string } }
				}
			}
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	missing := map[string]bool{}
	for _, v := range file.Defs.SessionUpdate.AnyOf {
		missing[v.Properties.SessionUpdate.Const] = true
	}
	require.True(t, missing["state_update"])
	delete(missing, "")                // any other kind
	delete(missing, "replay_complete") // which the Conn sends itself
	synctest.Test(t, func(t *testing.T) {
		for name, caps := range map[string]string{"none": `{}`, "all": everythingClient} {
			conn, _ := advertising(t, everythingAgent, caps)
			for _, tt := range updates {
				var n acp.UpdateSessionNotification
				raw := json.RawMessage(`{"sessionId":"s1","update":` + tt.update + `}`)
				require.NoError(t, json.Unmarshal(raw, &n), tt.update)
				var word struct{ SessionUpdate string }
				require.NoError(t, json.Unmarshal([]byte(tt.update), &word))
				delete(missing, word.SessionUpdate)
				for way, err := range map[string]error{
					"Update": conn.Session("s1").Update(t.Context(), n.Update),
					"Notify": conn.Notify(t.Context(), acp.MethodSessionUpdate, raw),
				} {
					if caps != `{}` || tt.needs == "" {
						assert.NoError(t, err, "%s, %s: %s", name, way, tt.update)
						continue
					}
					var lacks *acp.CapabilityError
					if assert.ErrorAs(t, err, &lacks, "%s: %s", way, tt.update) {
						assert.Equal(t, tt.needs, lacks.Capability)
					}
				}
			}
		}
	})
	assert.Empty(t, missing, "kinds of updates about which nothing is decided here")
}

// What belongs to a capability of the agent itself is not sent without it.
func TestWhatTheAgentDidNotAdvertise(t *testing.T) {
	skills := json.RawMessage(`{"sessionId":"s1","update":` + aSkill + `}`)
	for bit, call := range map[string]func(context.Context, *agent.Conn) error{
		"auth.status": func(ctx context.Context, c *agent.Conn) error {
			return c.AuthStatusUpdate(ctx, &acp.AuthStatusUpdateNotification{State: acp.AuthStateAuthenticated})
		},
		"session.mcp.acp": func(ctx context.Context, c *agent.Conn) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel() // nobody responds
			_, err := c.MessageMCP(ctx, &acp.MessageMCPRequest{ServerID: "s", RequestID: "r", Method: "tools/list"})
			return err
		},
		"session.prompt.skill": func(ctx context.Context, c *agent.Conn) error {
			return c.Notify(ctx, acp.MethodSessionUpdate, skills)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, _ := advertising(t, `{"session":{}}`, everythingClient)
			err := call(t.Context(), conn)
			var invalid *acp.InvalidError
			require.ErrorAs(t, err, &invalid, bit)
			assert.ErrorContains(t, err, "the agent did not advertise "+bit)

			conn, _ = advertising(t, everythingAgent, everythingClient)
			assert.NotErrorAs(t, call(t.Context(), conn), &invalid, bit)
		})
	}
}

// Skills are left out of responses, too, unless both ends advertised them.
func TestSkillsOfBothEnds(t *testing.T) {
	for own, want := range map[string]string{`{"session":{}}`: `[{"type":"command","name":"web","description":"d"}]`, everythingAgent: ""} {
		synctest.Test(t, func(t *testing.T) {
			_, far := advertising(t, own, everythingClient)
			far.Call("1", "session/new", `{"cwd":"/"}`)
			var res struct{ AvailableCommands json.RawMessage }
			require.NoError(t, json.Unmarshal(far.Next().Result, &res))
			if want == "" {
				assert.Contains(t, string(res.AvailableCommands), `"skill"`)
				return
			}
			assert.JSONEq(t, want, string(res.AvailableCommands))
		})
	}
}
