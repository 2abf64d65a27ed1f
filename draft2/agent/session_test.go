package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Each short method of a session sends the update that its name promises.
func TestSessionSendsUpdates(t *testing.T) {
	terminal := func(use func(*agent.Terminal) error) func(context.Context, *agent.Session) error {
		return func(ctx context.Context, s *agent.Session) error {
			term, err := s.StartTerminal(ctx, &acp.TerminalUpdate{TerminalID: "t", Command: acp.Some("ls")})
			if err != nil {
				return err
			}
			return use(term)
		}
	}
	const announced = `{"sessionUpdate":"terminal_update","terminalId":"t","command":"ls"}`
	for name, tt := range map[string]struct {
		send func(ctx context.Context, s *agent.Session) error
		want []string
	}{
		"message": {func(ctx context.Context, s *agent.Session) error { return s.Message(ctx, "m", "x") },
			[]string{`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"x"}}`}},
		"message that is streamed": {func(ctx context.Context, s *agent.Session) error {
			return s.MessageFrom(ctx, "m", func(yield func(string, error) bool) { _ = yield("x\xc3", nil) && yield("\xa4", nil) })
		}, []string{
			`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"x"}}`,
			`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"ä"}}`}},
		"thought": {func(ctx context.Context, s *agent.Session) error { return s.Thought(ctx, "m", "x") },
			[]string{`{"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"text","text":"x"}}`}},
		"message that replaces": {func(ctx context.Context, s *agent.Session) error {
			return s.ReplaceMessage(ctx, "m", acp.Text("x"), acp.Text("y"))
		}, []string{`{"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}`}},
		"message of the user": {func(ctx context.Context, s *agent.Session) error { return s.UserMessage(ctx, "m", acp.Text("x")) },
			[]string{`{"sessionUpdate":"user_message","messageId":"m","content":[{"type":"text","text":"x"}]}`}},
		"message that is emptied": {func(ctx context.Context, s *agent.Session) error { return s.UserMessage(ctx, "m") },
			[]string{`{"sessionUpdate":"user_message","messageId":"m","content":[]}`}},
		"tool call": {func(ctx context.Context, s *agent.Session) error {
			return s.Update(ctx, &acp.ToolCallUpdate{ToolCallID: "c", Title: acp.Some("T")})
		}, []string{`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"T"}`}},
		"content of a tool call": {func(ctx context.Context, s *agent.Session) error {
			return s.AddToolContent(ctx, "c", &acp.Content{Content: acp.Text("x")})
		}, []string{`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"content","content":{"type":"text","text":"x"}}}`}},
		"plan": {func(ctx context.Context, s *agent.Session) error {
			return s.SendPlan(ctx, "p", acp.PlanEntry{Content: "x", Priority: acp.PlanEntryPriorityLow, Status: acp.PlanEntryStatusPending})
		}, []string{`{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[{"content":"x","priority":"low","status":"pending"}]}}`}},
		"commands": {func(ctx context.Context, s *agent.Session) error { return s.SetCommands(ctx) },
			[]string{`{"sessionUpdate":"available_commands_update","availableCommands":[]}`}},
		"options": {func(ctx context.Context, s *agent.Session) error { return s.SetConfigOptions(ctx) },
			[]string{`{"sessionUpdate":"config_option_update","configOptions":[]}`}},
		"title": {func(ctx context.Context, s *agent.Session) error { return s.SetTitle(ctx, "x") },
			[]string{`{"sessionUpdate":"session_info_update","title":"x"}`}},
		"usage": {func(ctx context.Context, s *agent.Session) error { return s.SendUsage(ctx, 3, 10) },
			[]string{`{"sessionUpdate":"usage_update","used":3,"size":10}`}},
		"output of a terminal, within a character": {terminal(func(term *agent.Terminal) error {
			_, err := term.Write([]byte("\xc3"))
			return err
		}), []string{announced, `{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"ww=="}`}},
		"terminal of a tool call": {func(ctx context.Context, s *agent.Session) error {
			_, err := s.ToolCall("c").StartTerminal(ctx, &acp.TerminalUpdate{TerminalID: "t", Command: acp.Some("ls")})
			return err
		}, []string{announced, `{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"terminal","terminalId":"t"}}`}},
		"exit of a terminal": {terminal(func(term *agent.Terminal) error { return term.Exited(1) }),
			[]string{announced, `{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":{"exitCode":1}}`}},
		"signal to a terminal": {terminal(func(term *agent.Terminal) error { return term.Killed("SIGTERM") }),
			[]string{announced, `{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":{"signal":"SIGTERM"}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, nil, works{"go": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
				return acp.StopReasonEndTurn, tt.send(ctx, s)
			}}, func(r *raw) {
				r.prompt(1, "go")
				r.want("user_message", "running")
				got := map[string]bool{}
				var updates []string
				for !got["response"] || !got["idle"] {
					m := r.Next()
					switch {
					case m.Method == "":
						got["response"] = true
					case len(updates) == len(tt.want):
						got["idle"] = true
					default:
						updates = append(updates, string(m.Params))
					}
				}
				require.Len(t, updates, len(tt.want))
				for i, want := range tt.want {
					assert.JSONEq(t, `{"sessionId":"s1","update":`+want+`}`, updates[i])
				}
			})
		})
	}
}

// An agent that keeps no sessions has an empty list without a cursor, and so every cursor is from
// somewhere else.
func TestNoHistoryListsNothing(t *testing.T) {
	page, err := agent.NoHistory{}.ListSessions(t.Context(), &acp.ListSessionsRequest{})
	require.NoError(t, err)
	assert.Nil(t, page, "the Conn sends an empty list")
	cursor := acp.SessionListCursor("nonsense")
	_, err = agent.NoHistory{}.ListSessions(t.Context(), &acp.ListSessionsRequest{Cursor: &cursor})
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
}
