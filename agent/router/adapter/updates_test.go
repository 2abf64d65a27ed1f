package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/router/adapter"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// send returns work that sends updates.
func send(updates ...acp.SessionUpdate) work {
	return func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		for _, u := range updates {
			if err := a.conn.Session(req.SessionID).Update(ctx, u); err != nil {
				return nil, err
			}
		}
		return endTurn()
	}
}

func TestUpdates(t *testing.T) {
	text := func(s string) *acp.TextContent { return acp.Text(s) }
	call := func(id string) *acp.ToolCallUpdate { return &acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(id)} }
	old, line := "a\n", uint32(0)
	for _, tt := range []struct {
		name string
		send []acp.SessionUpdate
		want []string
	}{
		{"chunks of one message", []acp.SessionUpdate{acp.AgentText("a"), acp.AgentText("b")}, []string{agentChunk("m2", "a"), agentChunk("m2", "b")}},
		{"another author begins another message", []acp.SessionUpdate{acp.AgentText("a"), acp.AgentThought("b"), acp.AgentText("c")}, []string{
			agentChunk("m2", "a"), `agent_thought_chunk {"messageId":"m3","content":{"type":"text","text":"b"}}`, agentChunk("m4", "c"),
		}},
		{"ids of the agent", []acp.SessionUpdate{
			&acp.AgentMessageChunk{MessageID: "x", Content: text("a")}, &acp.AgentMessageChunk{MessageID: "y", Content: text("b")},
			&acp.AgentMessageChunk{MessageID: "x", Content: text("c")}, acp.AgentText("d"),
		}, []string{agentChunk("x", "a"), agentChunk("y", "b"), agentChunk("x", "c"), agentChunk("y", "d")}},
		{"an empty chunk separates nothing", []acp.SessionUpdate{acp.AgentText("a"), acp.AgentThought(""), acp.AgentText("b")}, []string{agentChunk("m2", "a"), agentChunk("m2", "b")}},
		{"a new tool call separates, a change of it does not", []acp.SessionUpdate{acp.AgentText("a"), call("t"), acp.AgentText("b"), call("t"), acp.AgentText("c")}, []string{
			agentChunk("m2", "a"), `tool_call_update {"toolCallId":"t"}`, agentChunk("m3", "b"), `tool_call_update {"toolCallId":"t"}`, agentChunk("m3", "c"),
		}},
		{"settings separate nothing", []acp.SessionUpdate{acp.AgentText("a"), &acp.UsageUpdate{Used: 1, Size: 2}, acp.AgentText("b")}, []string{
			agentChunk("m2", "a"), `usage_update {"used":1,"size":2}`, agentChunk("m2", "b"),
		}},
		{"an image", []acp.SessionUpdate{&acp.AgentMessageChunk{Content: &acp.ImageContent{Data: "", MIMEType: "image/png"}}}, []string{
			`agent_message_chunk {"messageId":"m2","content":{"type":"image","data":"","mimeType":"image/png"}}`,
		}},
		{"content of an unknown kind", []acp.SessionUpdate{&acp.AgentMessageChunk{Content: &acp.UnknownContentBlock{Type: "x", Raw: json.RawMessage(`{"type":"x","a":1}`)}}}, []string{
			`agent_message_chunk {"messageId":"m2","content":{"type":"x","a":1}}`,
		}},
		{"a tool call", []acp.SessionUpdate{&acp.ToolCall{
			ToolCallID: "t", Title: "Edit", Name: "edit", Kind: acp.ToolKindEdit, Status: acp.ToolCallStatusInProgress,
			RawInput: json.RawMessage(`{"a":1}`), RawOutput: json.RawMessage(`null`), Meta: acp.Meta{"m": true},
			Locations: []acp.ToolCallLocation{{Path: "/f", Line: &line}},
			Content: []acp.ToolCallContent{
				acp.ToolText("out"), &acp.Terminal{TerminalID: "x"}, &acp.Diff{Path: "/f", OldText: &old, NewText: "b\n", Meta: acp.Meta{"d": true}}, &acp.Diff{Path: "/n", NewText: "n\n"},
			},
		}}, []string{
			`tool_call_update {"toolCallId":"t","title":"Edit","name":"edit","kind":"edit","status":"in_progress","rawInput":{"a":1},"_meta":{"m":true},` +
				`"locations":[{"path":"/f"}],"content":[{"type":"content","content":{"type":"text","text":"out"}},{"type":"terminal","terminalId":"x"},` +
				`{"type":"diff","changes":[{"operation":"modify","path":"/f","fileType":"text"}],"_meta":{"d":true},` +
				`"patch":{"format":"git_patch","text":"diff --git /f /f\n--- /f\n+++ /f\n@@ -1 +1 @@\n-a\n+b\n"}},` +
				`{"type":"diff","changes":[{"operation":"add","path":"/n","fileType":"text"}],` +
				`"patch":{"format":"git_patch","text":"diff --git /n /n\nnew file mode 100644\n--- /dev/null\n+++ /n\n@@ -0,0 +1 @@\n+n\n"}}]}`,
		}},
		{"an empty list clears, an absent one does not", []acp.SessionUpdate{&acp.ToolCallUpdate{ToolCallID: "t", Content: []acp.ToolCallContent{}}}, []string{
			`tool_call_update {"toolCallId":"t","content":[]}`,
		}},
		{"a plan", []acp.SessionUpdate{&acp.Plan{Entries: []acp.PlanEntry{{Content: "c", Priority: "high", Status: "pending"}}}, &acp.Plan{}}, []string{
			`plan_update {"plan":{"type":"items","planId":"plan","entries":[{"content":"c","priority":"high","status":"pending"}]}}`,
			`plan_update {"plan":{"type":"items","planId":"plan","entries":[]}}`,
		}},
		{"other plans", []acp.SessionUpdate{&acp.PlanUpdate{Plan: &acp.PlanMarkdown{PlanID: "p", Content: "x"}}, &acp.PlanRemoved{PlanID: "p"}}, []string{
			`plan_update {"plan":{"type":"markdown","planId":"p","content":"x"}}`, `plan_removed {"planId":"p"}`,
		}},
		{"what both versions have", []acp.SessionUpdate{
			&acp.Notice{Severity: "info", Title: "n"}, &acp.CompactionUpdate{CompactionID: "c", Status: "in_progress"},
			&acp.CompactionSummaryChunk{CompactionID: "c", Content: text("s")}, &acp.SessionInfoUpdate{Title: acp.Null[string](), UpdatedAt: acp.Some("2026-01-01T00:00:00Z")},
		}, []string{
			`notice {"severity":"info","title":"n"}`, `compaction_update {"compactionId":"c","status":"in_progress"}`,
			`compaction_summary_chunk {"compactionId":"c","content":{"type":"text","text":"s"}}`, `session_info_update {"title":null,"updatedAt":"2026-01-01T00:00:00Z"}`,
		}},
		{"kinds that no version knows are kept, those of version 2 mean something else", []acp.SessionUpdate{
			&acp.UnknownSessionUpdate{Type: "_new", Raw: json.RawMessage(`{"sessionUpdate":"_new","a":[1]}`)},
			&acp.UnknownSessionUpdate{Type: "state_update", Raw: json.RawMessage(`{"sessionUpdate":"state_update","state":"idle"}`)},
		}, []string{`_new {"a":[1]}`}},
		{"the prompt repeated", []acp.SessionUpdate{acp.UserText("g"), acp.UserText("o"), acp.UserText("more")}, []string{
			`user_message_chunk {"messageId":"m2","content":{"type":"text","text":"more"}}`,
		}},
		{"what only begins like the prompt", []acp.SessionUpdate{acp.UserText("g"), acp.UserText("one")}, []string{
			`user_message_chunk {"messageId":"m2","content":{"type":"text","text":"g"}}`,
			`user_message_chunk {"messageId":"m2","content":{"type":"text","text":"one"}}`,
		}},
		{"a mode of an agent without modes", []acp.SessionUpdate{&acp.CurrentModeUpdate{CurrentModeID: "x"}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &testAgent{works: map[string]work{"go": send(tt.send...)}}
			scene(t, a, a, func(p *testClient) {
				p.prompt(1, "go")
				p.want(userMessage("m1", "go"), running)
				p.want(append(tt.want, idle("end_turn"))...)
			})
		})
	}
}

// An update after the end of a turn belongs to no turn and begins a new message.
func TestLateUpdate(t *testing.T) {
	a := &testAgent{works: map[string]work{"hi": sayHello}}
	scene(t, a, a, func(p *testClient) {
		p.prompt(1, "hi")
		p.want(userMessage("m1", "hi"), running)
		p.want(agentChunk("m2", "Hel"), agentChunk("m2", "lo"), idle("end_turn"))
		assert.NoError(t, a.conn.Session("s1").Message(t.Context(), "late"))
		p.want(agentChunk("m3", "late"))
	})
}

func TestModesAsAnOption(t *testing.T) {
	own := &testAgent{modes: &acp.SessionModeState{CurrentModeID: "ask", AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask", Description: "asks"}, {ID: "do", Name: "Do"}}}}
	a := &moded{testAgent: own}
	list := func(current string) string {
		return `{"configOptions":[{"configId":"mode","name":"Mode","category":"mode","type":"select","currentValue":"` + current +
			`","options":[{"value":"ask","name":"Ask","description":"asks"},{"value":"do","name":"Do"}]}]}`
	}
	scene(t, a, own, func(p *testClient) {
		p.call(1, "session/resume", `{"sessionId":"s1","cwd":"/"}`)
		p.want(plainIdle, result(1, list("ask")))
		p.call(2, "session/set_config_option", `{"sessionId":"s1","configId":"mode","type":"id","value":"do"}`)
		p.want(result(2, list("do")))
		assert.Equal(t, []any{&acp.SetSessionModeRequest{SessionID: "s1", ModeID: "do"}}, a.asked)
		assert.NoError(t, own.conn.Session("s1").Mode(t.Context(), "ask"))
		p.want(`config_option_update ` + list("ask"))
		p.call(3, "session/set_config_option", `{"sessionId":"s1","configId":"mode","type":"boolean","value":true}`)
		p.want(`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Invalid params: the agent does not support values of this type for the option","data":{"configId":"mode"}}}`)
		p.call(4, "session/set_config_option", `{"sessionId":"no","configId":"mode","type":"id","value":"do"}`)
		p.want(notFound("4", "no"))
	})
}

// If the agent has options, they replace its modes.
func TestOptionsOfTheAgent(t *testing.T) {
	own := &testAgent{modes: &acp.SessionModeState{CurrentModeID: "ask", AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask"}}}, opts: []acp.SessionConfigOption{
		{ID: "o", Name: "O", Kind: &acp.SessionConfigBoolean{CurrentValue: true}},
		{ID: "g", Name: "G", Kind: &acp.SessionConfigSelect{CurrentValue: "v", Options: acp.SessionConfigSelectOptions{
			Grouped: []acp.SessionConfigSelectGroup{{Group: "gr", Name: "Gr", Options: []acp.SessionConfigSelectOption{{Value: "v", Name: "V"}}}},
		}}},
	}}
	const option = `{"configId":"o","name":"O","type":"boolean","currentValue":true}`
	const group = `{"configId":"g","name":"G","type":"select","currentValue":"v","options":[{"groupId":"gr","name":"Gr","options":[{"value":"v","name":"V"}]}]}`
	a := &moded{testAgent: own}
	scene(t, a, own, func(p *testClient) {
		p.call(1, "session/resume", `{"sessionId":"s1","cwd":"/"}`)
		p.want(plainIdle, result(1, `{"configOptions":[`+option+`,`+group+`]}`))
		assert.NoError(t, own.conn.Session("s1").ConfigOptions(t.Context(), own.opts[0]))
		p.want(`config_option_update {"configOptions":[` + option + `]}`)
		assert.NoError(t, own.conn.Session("s1").Mode(t.Context(), "ask"))
		p.call(2, "session/set_config_option", `{"sessionId":"s1","configId":"o","type":"boolean","value":false}`)
		p.want(result(2, `{"configOptions":[`+group+`]}`))
		p.call(3, "session/set_config_option", `{"sessionId":"s1","configId":"mode","type":"id","value":"x"}`)
		p.want(result(3, `{"configOptions":[`+group+`]}`))
		assert.Equal(t, []any{
			&acp.SetSessionConfigOptionRequest{SessionID: "s1", ConfigID: "o", Value: &acp.SessionConfigBooleanValue{Value: false}},
			&acp.SetSessionConfigOptionRequest{SessionID: "s1", ConfigID: "mode", Value: &acp.SessionConfigValue{Value: "x"}},
		}, a.asked)
	})
}

// moded is an agent with modes and options.
type moded struct {
	*testAgent
	asked []any
}

func (a *moded) SetSessionMode(_ context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	a.asked = append(a.asked, req)
	return nil, nil
}

func (a *moded) SetSessionConfigOption(_ context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	a.asked = append(a.asked, req)
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: a.opts[1:]}, nil
}

// eager sends a title directly after its response to session/new.
type eager struct{ *testAgent }

func (a eager) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	res, err := a.testAgent.NewSession(ctx, req)
	agent.AfterResponse(ctx, func(ctx context.Context) { _ = a.conn.Session(res.SessionID).Title(ctx, "t") })
	return res, err
}

// An update that the agent sends directly after the response to session/new reaches the client
// after that response. Otherwise the client would not know the session.
func TestUpdatesComeAfterTheResponseThatNamesTheirSession(t *testing.T) {
	near, far := stream.Pipe()
	served := make(chan error, 1)
	newV1 := func(conn *agent.Conn) acp.Agent { return eager{&testAgent{conn: conn}} }
	go func() { // ends with the connection
		served <- agent2.Serve(context.Background(), far, adapter.FromV1(newV1, &adapter.Options{Logger: quiet}), &agent2.Options{Logger: quiet})
	}()
	p := rawpeer.New(t, near)
	p.Call("0", "initialize", `{"protocolVersion":2,"info":{"name":"t","version":"1"},"capabilities":{}}`)
	p.Next()
	const runs = 5000
	early := 0
	for n := range runs {
		p.Call(fmt.Sprint(n+1), "session/new", `{"cwd":"/","mcpServers":[]}`)
		if p.Next().Method != "" {
			early++
		}
		p.Next()
	}
	assert.Zero(t, early, "of %d", runs)
	require.NoError(t, near.Close())
	<-served
}
