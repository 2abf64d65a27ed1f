package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestSessionSendsUpdatesInOneLineEach(t *testing.T) {
	leak.Check(t)
	c := &peertest.Client{}
	steps := []struct {
		send func(context.Context, *agent.Session) error
		want string
	}{
		{func(ctx context.Context, s *agent.Session) error { return s.Message(ctx, "hi") },
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}`},
		{func(ctx context.Context, s *agent.Session) error {
			return s.MessageFrom(ctx, func(yield func(string, error) bool) { yield("hey", nil) })
		}, `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hey"}}`},
		{func(ctx context.Context, s *agent.Session) error { return s.Thought(ctx, "hm") },
			`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`},
		{func(ctx context.Context, s *agent.Session) error { return s.UserMessage(ctx, "do") },
			`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"do"}}`},
		{func(ctx context.Context, s *agent.Session) error {
			return s.SendPlan(ctx, acp.PlanEntry{Content: "a", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusPending})
		}, `{"sessionUpdate":"plan","entries":[{"content":"a","priority":"high","status":"pending"}]}`},
		{func(ctx context.Context, s *agent.Session) error { return s.SetCommands(ctx) },
			`{"sessionUpdate":"available_commands_update","availableCommands":[]}`},
		{func(ctx context.Context, s *agent.Session) error { return s.SetMode(ctx, "ask") },
			`{"sessionUpdate":"current_mode_update","currentModeId":"ask"}`},
		{func(ctx context.Context, s *agent.Session) error { return s.SetConfigOptions(ctx) },
			`{"sessionUpdate":"config_option_update","configOptions":[]}`},
		{func(ctx context.Context, s *agent.Session) error { return s.SetTitle(ctx, "Fix") },
			`{"sessionUpdate":"session_info_update","title":"Fix"}`},
		{func(ctx context.Context, s *agent.Session) error { return s.SetTitle(ctx, "") },
			`{"sessionUpdate":"session_info_update","title":null}`},
		{func(ctx context.Context, s *agent.Session) error { return s.SendUsage(ctx, 10, 200) },
			`{"sessionUpdate":"usage_update","used":10,"size":200}`},
		{func(ctx context.Context, s *agent.Session) error {
			return s.SendNotice(ctx, acp.NoticeSeverityWarning, "Low", "tokens")
		}, `{"sessionUpdate":"notice","severity":"warning","title":"Low","description":"tokens"}`},
		{func(ctx context.Context, s *agent.Session) error {
			_, err := s.StartToolCall(ctx, &acp.ToolCall{ToolCallID: "c1", Title: "Read", Kind: acp.ToolKindRead})
			return err
		}, `{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Read","kind":"read","status":"in_progress"}`},
		{func(ctx context.Context, s *agent.Session) error {
			return s.ToolCall("c1").Progress(ctx, acp.ToolText("half"))
		},
			`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"half"}}]}`},
		{func(ctx context.Context, s *agent.Session) error { return s.ToolCall("c1").Finish(ctx) },
			`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}`},
		{func(ctx context.Context, s *agent.Session) error {
			return s.ToolCall("c1").Fail(ctx, rpcerr.ResourceNotFound("/x"))
		}, `{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed",
			"content":[{"type":"content","content":{"type":"text","text":"Resource not found: /x"}}],
			"rawOutput":{"code":-32002,"message":"Resource not found: /x","data":{"uri":"/x"}}}`},
		{func(ctx context.Context, s *agent.Session) error {
			return s.ToolCall("c1").Update(ctx, &acp.ToolCallUpdate{Title: "Other"})
		}, `{"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"Other"}`},
	}
	caps := &acp.ClientCapabilities{Session: &acp.ClientSessionCapabilities{Notices: &acp.NoticeCapabilities{}}}
	_, err := inPrompt(t, c, caps, func(ctx context.Context, s *agent.Session) error {
		for _, step := range steps {
			if err := step.send(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	got := c.Updates()
	require.Len(t, got, len(steps))
	for i, step := range steps {
		b, err := json.Marshal(got[i])
		require.NoError(t, err)
		assert.JSONEq(t, step.want, string(b))
	}
}

func TestToolCallsWithoutAnIDGetFreshOnes(t *testing.T) {
	_, err := inPrompt(t, &peertest.Client{}, nil, func(ctx context.Context, s *agent.Session) error {
		call := &acp.ToolCall{Title: "x"}
		a, err := s.StartToolCall(ctx, call)
		require.NoError(t, err)
		b, err := s.StartToolCall(ctx, call)
		require.NoError(t, err)
		assert.NotEmpty(t, a.ID())
		assert.NotEqual(t, a.ID(), b.ID())
		assert.Equal(t, &acp.ToolCall{Title: "x"}, call, "the caller's value stays")
		_, err = s.StartToolCall(ctx, nil)
		assert.Error(t, err)
		return nil
	})
	require.NoError(t, err)
}

// A cancelled turn ends with the stop reason cancelled, unless the agent returns its own response.
// An update that the agent sends after the cancel still arrives.
func TestCancelledTurn(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(context.Context) (*acp.PromptResponse, error)
		want acp.StopReason
	}{
		{"ctx error", func(ctx context.Context) (*acp.PromptResponse, error) { return nil, ctx.Err() }, acp.StopReasonCancelled},
		{"any error", func(context.Context) (*acp.PromptResponse, error) { return nil, errors.New("broken") }, acp.StopReasonCancelled},
		{"nothing", func(context.Context) (*acp.PromptResponse, error) { return nil, nil }, acp.StopReasonCancelled},
		{"response of its own", func(context.Context) (*acp.PromptResponse, error) {
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		}, acp.StopReasonEndTurn},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				c := &peertest.Client{}
				var cause error
				var told atomic.Bool
				p := open(t, func(conn *agent.Conn) acp.Agent {
					return &peertest.Agent{
						OnPrompt: func(ctx context.Context, _ *acp.PromptRequest) (*acp.PromptResponse, error) {
							<-ctx.Done()
							cause = context.Cause(ctx)
							s := conn.Session("s1")
							if err := s.Message(ctx, "stopping"); err != nil {
								return nil, err
							}
							return tt.end(ctx)
						},
						OnCancel: func(context.Context, *acp.CancelNotification) error { told.Store(true); return nil },
					}
				}, c, nil)
				ctx, cancel := context.WithCancel(t.Context())
				go func() { // ends at once
					synctest.Wait()
					cancel()
				}()
				res, err := p.client.Prompt(ctx, &acp.PromptRequest{SessionID: "s1"})
				require.NoError(t, err)
				assert.Equal(t, tt.want, res.StopReason)
				assert.ErrorIs(t, cause, acp.ErrTurnCancelled)
				assert.Equal(t, []string{"stopping"}, c.Texts())
				synctest.Wait()
				assert.True(t, told.Load(), "Agent.Cancel was called")
			})
		})
	}
}

// A client may answer a permission request with the outcome cancelled before it sends
// session/cancel. If the agent returns the error of that request, the stop reason is cancelled.
func TestTurnWhoseQuestionWasCancelled(t *testing.T) {
	c := &peertest.Client{OnPermission: func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		return acp.Cancelled(), nil
	}}
	res, err := inPrompt(t, c, nil, func(ctx context.Context, s *agent.Session) error {
		_, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "c1"})
		return fmt.Errorf("asking: %w", err)
	})
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
}

func TestPromptWithoutAnAnswerIsAnInternalError(t *testing.T) {
	for name, answer := range map[string]*acp.PromptResponse{"nil": nil, "no stop reason": {}} {
		t.Run(name, func(t *testing.T) {
			p := open(t, func(*agent.Conn) acp.Agent {
				return &peertest.Agent{OnPrompt: func(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) { return answer, nil }}
			}, &peertest.Client{}, nil)
			_, err := p.client.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s1"})
			assert.ErrorIs(t, err, rpcerr.ErrInternal)
		})
	}
}

func TestUpdatesThatLackSomethingAreNotSent(t *testing.T) {
	c := &peertest.Client{}
	_, err := inPrompt(t, c, nil, func(ctx context.Context, s *agent.Session) error {
		for want, u := range map[string]acp.SessionUpdate{
			"update: must be present":                            nil,
			"update.content: must be present":                    &acp.AgentMessageChunk{},
			"update.toolCallId: must not be empty":               &acp.ToolCall{Title: "x"},
			"update.entries[0].status: must not be empty":        &acp.Plan{Entries: []acp.PlanEntry{{Content: "x", Priority: acp.PlanEntryPriorityLow}}},
			"update.content[0].path: must be an absolute path":   &acp.ToolCall{ToolCallID: "c", Content: []acp.ToolCallContent{&acp.Diff{Path: "x"}}},
			"update.locations[0].path: must be an absolute path": &acp.ToolCallUpdate{ToolCallID: "c", Locations: []acp.ToolCallLocation{{Path: "x"}}},
		} {
			err := s.Update(ctx, u)
			_, invalid := errors.AsType[*acp.InvalidError](err)
			assert.True(t, invalid, want)
			assert.ErrorContains(t, err, want)
		}
		return nil
	})
	require.NoError(t, err)
	assert.Empty(t, c.Updates())
}

func TestAskPermission(t *testing.T) {
	leak.Check(t)
	for _, tt := range []struct {
		name    string
		outcome acp.RequestPermissionOutcome
		allowed bool
		err     string
	}{
		{"allow", &acp.SelectedPermissionOutcome{OptionID: "allow_once"}, true, ""},
		{"reject", &acp.SelectedPermissionOutcome{OptionID: "reject_once"}, false, ""},
		{"not offered", &acp.SelectedPermissionOutcome{OptionID: "always"}, false, "not offered"},
		{"cancelled", &acp.CancelledPermissionOutcome{}, false, "turn cancelled"},
		{"unknown", &acp.UnknownRequestPermissionOutcome{Type: "maybe", Raw: []byte(`{"outcome":"maybe"}`)}, false, "unknown kind"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked *acp.RequestPermissionRequest
			c := &peertest.Client{OnPermission: func(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
				asked = req
				return &acp.RequestPermissionResponse{Outcome: tt.outcome}, nil
			}}
			_, err := inPrompt(t, c, nil, func(ctx context.Context, s *agent.Session) error {
				choice, err := s.ToolCall("c1").AskPermission(ctx)
				if tt.err != "" {
					assert.ErrorContains(t, err, tt.err)
					return nil
				}
				assert.Equal(t, tt.allowed, agent.Allows(choice))
				return err
			})
			require.NoError(t, err)
			assert.Equal(t, acp.ToolCallID("c1"), asked.ToolCall.ToolCallID)
			assert.Len(t, asked.Options, 2)
		})
	}
}

// With CheckIDs, an update of a session that the agent has not opened is not sent, and the error names
// the session. Those of a session that is being opened, of a subagent and of a closed session are sent.
func TestUpdateOfAnUnknownSession(t *testing.T) {
	s, peer := rawpeer.Pipe(t)
	a := &peertest.Agent{}
	c := rawpeer.Start(t, agent.New(s, func(*agent.Conn) acp.Agent { return a }, &agent.Options{CheckIDs: true, Unstable: true}))
	peer.Call("1", "initialize", `{"protocolVersion":1,"clientCapabilities":{"subagents":{}}}`)
	peer.Next()
	assert.EqualError(t, c.Session("nope").Message(t.Context(), "x"),
		`agent: an update of the session "nope", which is not open: send updates with the id of the prompt, or of the response that opened the session`)
	a.OnNewSession = func(ctx context.Context, _ *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
		return &acp.NewSessionResponse{SessionID: "s"}, c.Session("s").SetTitle(ctx, "early")
	}
	peer.Call("2", "session/new", `{"cwd":"/","mcpServers":[]}`)
	assert.Equal(t, "session/update", peer.Next().Method)
	peer.Next()
	require.NoError(t, c.Session("s").Update(t.Context(), &acp.SubagentUpdate{SessionID: "sub"}))
	require.NoError(t, c.Session("sub").Message(t.Context(), "x"))
	assert.ErrorContains(t, c.Session("sup").Message(t.Context(), "x"), `"sup"`)
}
