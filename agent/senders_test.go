package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/schema"
)

// These are all capabilities that updates need of the client, and what else the agent sends of the agent.
const (
	everythingClient = `{"plan":{},"subagents":{},
		"session":{"notices":{},"compaction":{},"promptSuggestions":{},"cursors":{},"configOptions":{"boolean":{}}}}`
	everythingAgent = `{"auth":{"status":{}},"mcpCapabilities":{"acp":true}}`
)

// advertising connects an agent and a client that advertise these capabilities.
func advertising(t *testing.T, own, peer string, a *peertest.Agent) *pair {
	var caps acp.ClientCapabilities
	require.NoError(t, json.Unmarshal([]byte(peer), &caps))
	a.OnInitialize = func(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
		res := &acp.InitializeResponse{AgentCapabilities: &acp.AgentCapabilities{}}
		return res, json.Unmarshal([]byte(own), res.AgentCapabilities)
	}
	return open(t, func(*agent.Conn) acp.Agent {
		return struct {
			*peertest.Agent
			signedIn
		}{Agent: a}
	}, &peertest.Client{}, &caps)
}

// signedIn reports the state of the sign-in.
type signedIn struct{}

func (signedIn) AuthStatus(context.Context, *acp.AuthStatusRequest) (*acp.AuthStatusResponse, error) {
	return &acp.AuthStatusResponse{State: acp.AuthStateAuthenticated}, nil
}

// updates are updates of each kind, and the capability of the client that they need. Kinds that need one by what is
// in them stand in it twice.
var updates = []struct {
	update, needs string
}{
	{`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"x"}}`, ""},
	{`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}`, ""},
	{`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"x"}}`, ""},
	{`{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}`, ""},
	{`{"sessionUpdate":"tool_call_update","toolCallId":"t"}`, ""},
	{`{"sessionUpdate":"plan","entries":[]}`, ""},
	{`{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"p","content":"x"}}`, "plan"},
	{`{"sessionUpdate":"plan_removed","planId":"p"}`, "plan"},
	{`{"sessionUpdate":"available_commands_update","availableCommands":[]}`, ""},
	{`{"sessionUpdate":"current_mode_update","currentModeId":"m"}`, ""},
	{`{"sessionUpdate":"config_option_update","configOptions":[{"id":"o","name":"O","type":"select","currentValue":"v","options":[]}]}`, ""},
	{`{"sessionUpdate":"config_option_update","configOptions":[{"id":"o","name":"O","type":"boolean","currentValue":true}]}`, "session.configOptions.boolean"},
	{`{"sessionUpdate":"session_info_update","title":"t"}`, ""},
	{`{"sessionUpdate":"usage_update","used":1,"size":2}`, ""},
	{`{"sessionUpdate":"notice","severity":"info","title":"t"}`, "session.notices"},
	{`{"sessionUpdate":"compaction_update","compactionId":"c","status":"completed"}`, "session.compaction"},
	{`{"sessionUpdate":"compaction_summary_chunk","compactionId":"c","content":{"type":"text","text":"x"}}`, "session.compaction"},
	{`{"sessionUpdate":"prompt_suggestions_update","suggestions":[{"prompt":[{"type":"text","text":"x"}]}]}`, "session.promptSuggestions"},
	{`{"sessionUpdate":"cursor_update","cursorId":"c","anchor":{"type":"user_message","messageId":"m","position":"before"}}`, "session.cursors"},
	{`{"sessionUpdate":"subagent_update","sessionId":"sub"}`, "subagents"},
	{`{"sessionUpdate":"session_message","messageId":"m","content":[]}`, "subagents"},
	{`{"sessionUpdate":"session_message_chunk","messageId":"m","content":{"type":"text","text":"x"}}`, "subagents"},
}

// Each kind of update that needs a capability is sent only to a client with it. A kind that is new in the schema
// must get a row.
func TestUpdatesAreGated(t *testing.T) {
	raw, err := schema.Files.ReadFile("v1-unstable.json")
	require.NoError(t, err)
	var file struct {
		Defs struct {
			SessionUpdate struct {
				OneOf []struct {
					Properties struct{ SessionUpdate struct{ Const string } }
				}
			}
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	missing := map[string]bool{}
	for _, v := range file.Defs.SessionUpdate.OneOf {
		missing[v.Properties.SessionUpdate.Const] = true
	}
	require.True(t, missing["plan"])
	for name, caps := range map[string]string{"none": `{}`, "all": everythingClient} {
		p := advertising(t, everythingAgent, caps, &peertest.Agent{})
		for _, tt := range updates {
			n := acp.SessionNotification{SessionID: "s1"}
			require.NoError(t, json.Unmarshal([]byte(`{"sessionId":"s1","update":`+tt.update+`}`), &n), tt.update)
			var word struct{ SessionUpdate string }
			require.NoError(t, json.Unmarshal([]byte(tt.update), &word))
			delete(missing, word.SessionUpdate)
			for way, err := range map[string]error{
				"Update": p.agent.Session("s1").Update(t.Context(), n.Update),
				"Notify": p.agent.Notify(t.Context(), acp.MethodSessionUpdate, json.RawMessage(`{"sessionId":"s1","update":`+tt.update+`}`)),
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
	assert.Empty(t, missing, "kinds of updates about which nothing is decided here")
}

// What belongs to a capability of the agent itself is not sent without it.
func TestWhatTheAgentDidNotAdvertise(t *testing.T) {
	for own, wants := range map[string]bool{`{}`: false, everythingAgent: true} {
		p := advertising(t, own, everythingClient, &peertest.Agent{})
		for bit, call := range map[string]func() error{
			"auth.status": func() error {
				return p.agent.AuthStatusUpdate(t.Context(), &acp.AuthStatusUpdateNotification{State: acp.AuthStateAuthenticated})
			},
			"mcpCapabilities.acp": func() error {
				_, err := p.agent.MessageMCP(t.Context(), &acp.MessageMCPRequest{ServerID: "s", RequestID: "r", Method: "tools/list"})
				return err
			},
		} {
			err := call()
			var invalid *acp.InvalidError
			if !wants {
				require.ErrorAs(t, err, &invalid, bit)
				assert.ErrorContains(t, err, "the agent did not advertise "+bit)
				continue
			}
			assert.NotErrorAs(t, err, &invalid, "%s: it was sent", bit)
		}
	}
}

// A client that did not advertise boolean options gets none, and the list of the agent is not changed.
func TestSwitchesAreLeftOut(t *testing.T) {
	options := []acp.SessionConfigOption{
		{ID: "fast", Name: "Fast", Kind: &acp.SessionConfigBoolean{CurrentValue: true}},
		{ID: "model", Name: "Model", Kind: &acp.SessionConfigSelect{CurrentValue: "m"}},
	}
	for caps, want := range map[string]int{`{}`: 1, everythingClient: 2} {
		p := advertising(t, `{}`, caps, &peertest.Agent{OnNewSession: func(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
			return &acp.NewSessionResponse{SessionID: "s1", ConfigOptions: options}, nil
		}})
		res, err := p.client.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		assert.Len(t, res.ConfigOptions, want)
		assert.NoError(t, p.agent.Session("s1").SetConfigOptions(t.Context(), options...), "the other options are sent")
		assert.Len(t, options, 2)
		assert.IsType(t, &acp.SessionConfigBoolean{}, options[0].Kind)
	}
}
