package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

func sayHello(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := a.conn.Session(req.SessionID)
	_ = s.Message(ctx, "Hel")
	_ = s.Message(ctx, "lo")
	return endTurn()
}

// A turn of version 1 becomes a prompt of version 2, from acceptance to the idle state. The usage is
// that of its own turn.
func TestTurn(t *testing.T) {
	a := &testAgent{works: map[string]work{
		"count": func(context.Context, *testAgent, *acp.PromptRequest) (*acp.PromptResponse, error) {
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn, Usage: &acp.Usage{TotalTokens: 3, InputTokens: 2, OutputTokens: 1}}, nil
		},
		"hi": sayHello,
	}}
	scene(t, a, a, func(p *testClient) {
		p.prompt(1, "count")
		p.want(userMessage("m1", "count"), running)
		p.wantAny(result(1, `{"messageId":"m1"}`),
			`state_update {"state":"idle","stopReason":"end_turn","usage":{"totalTokens":3,"inputTokens":2,"outputTokens":1},"background":[]}`)
		p.prompt(2, "hi")
		p.want(userMessage("m2", "hi"), running)
		p.wantAny(result(2, `{"messageId":"m2"}`), agentChunk("m3", "Hel"), agentChunk("m3", "lo"), idle("end_turn"))
	})
}

func TestErrorOfTheTurn(t *testing.T) {
	a := &testAgent{works: map[string]work{
		"auth": func(context.Context, *testAgent, *acp.PromptRequest) (*acp.PromptResponse, error) {
			return nil, rpcerr.AuthRequired(map[string]any{"why": "expired"})
		},
		"secret": func(context.Context, *testAgent, *acp.PromptRequest) (*acp.PromptResponse, error) {
			return nil, errors.New("/home/me is full")
		},
	}}
	scene(t, a, a, func(p *testClient) {
		p.prompt(1, "auth")
		p.want(userMessage("m1", "auth"), running)
		p.wantAny(result(1, `{"messageId":"m1"}`),
			`state_update {"state":"idle","stopReason":"error","error":{"code":-32000,"message":"Authentication required","data":{"why":"expired"}},"background":[]}`)
		p.prompt(2, "secret")
		p.want(userMessage("m2", "secret"), running)
		p.wantAny(result(2, `{"messageId":"m2"}`),
			`state_update {"state":"idle","stopReason":"error","error":{"code":-32603,"message":"Internal error","data":{"errorId":"ID"}},"background":[]}`)
	})
}

// Pending prompts keep their order. A cancel ends the turn and fails the pending prompts, but not
// those sent after it.
func TestHeldPrompts(t *testing.T) {
	var order []string
	a := &testAgent{works: map[string]work{
		"wait": func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
			<-ctx.Done()
			order = append(order, "cancelled")
			time.Sleep(time.Second)
			return nil, ctx.Err()
		},
		"hi": func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
			order = append(order, "hi")
			time.Sleep(time.Second)
			return endTurn()
		},
	}}
	scene(t, a, a, func(p *testClient) {
		p.prompt(1, "wait")
		p.want(userMessage("m1", "wait"), running, result(1, `{"messageId":"m1"}`))
		synctest.Wait()
		p.prompt(2, "hi")
		synctest.Wait()
		p.Send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		p.prompt(3, "hi")
		p.want(cancelled(2), idle("cancelled"))
		p.want(userMessage("m2", "hi"), running, result(3, `{"messageId":"m2"}`), idle("end_turn"))
		p.prompt(4, "hi")
		p.prompt(5, "wait")
		p.prompt(6, "hi")
		p.want(userMessage("m3", "hi"), running, result(4, `{"messageId":"m3"}`), idle("end_turn"))
		p.want(userMessage("m4", "wait"), running, result(5, `{"messageId":"m4"}`))
		p.Send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":6}}`)
		p.want(cancelled(6))
		synctest.Wait()
		p.Send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		p.want(idle("cancelled"))
	})
	assert.Equal(t, []string{"cancelled", "hi", "hi", "cancelled"}, order)
}

// If a cancelled turn does not end, it ends for the client after CancelGrace.
func TestCancelGrace(t *testing.T) {
	var release chan struct{} // must be made in the bubble
	a := &testAgent{works: map[string]work{"stuck": func(context.Context, *testAgent, *acp.PromptRequest) (*acp.PromptResponse, error) {
		<-release
		return endTurn()
	}}}
	scene(t, a, a, func(p *testClient) {
		release = make(chan struct{})
		p.prompt(1, "stuck")
		p.want(userMessage("m1", "stuck"), running, result(1, `{"messageId":"m1"}`))
		synctest.Wait()
		start := time.Now()
		p.Send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		p.want(idle("cancelled"))
		assert.Equal(t, 10*time.Second, time.Since(start))
		close(release)
	})
}

func TestPromptsThatAreRefused(t *testing.T) {
	a := &testAgent{caps: &acp.AgentCapabilities{PromptCapabilities: &acp.PromptCapabilities{Image: true}}}
	scene(t, a, a, func(p *testClient) {
		p.call(1, "session/prompt", `{"sessionId":"s2","prompt":[{"type":"text","text":"x"}]}`)
		p.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Session not found: s2","data":{"sessionId":"s2"}}}`)
		p.call(2, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"audio","data":"","mimeType":"audio/wav"}]}`)
		p.want(failure(2, -32602, "Invalid params: prompt: the agent did not advertise session.prompt.audio"))
		p.call(3, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"image","data":"","mimeType":"image/png"}]}`)
		p.want(`user_message {"messageId":"m1","content":[{"type":"image","data":"","mimeType":"image/png"}]}`, running)
		p.wantAny(result(3, `{"messageId":"m1"}`), idle("end_turn"))
	})
}

var options = []acp.PermissionOption{{OptionID: "y", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}, {OptionID: "n", Name: "No", Kind: acp.PermissionOptionKindRejectOnce}}

// asking returns work that asks for permission and sends the answer as text.
func asking(call acp.ToolCallUpdate) work {
	return func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		s := a.conn.Session(req.SessionID)
		res, err := a.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{SessionID: req.SessionID, ToolCall: call, Options: options, Meta: acp.Meta{"q": true}})
		text := fmt.Sprint(err)
		if err == nil {
			text = fmt.Sprintf("%T", res.Outcome)
			if o, ok := res.Outcome.(*acp.SelectedPermissionOutcome); ok {
				text = string(o.OptionID)
			}
		}
		_ = s.Message(ctx, text)
		return endTurn()
	}
}

func request(id int, title, call string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s1","title":%q,"subject":{"type":"tool_call","toolCall":%s},`+
		`"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}],"_meta":{"q":true}}}`, id, title, call)
}

func TestPermission(t *testing.T) {
	a := &testAgent{works: map[string]work{
		"announce": send(&acp.ToolCall{ToolCallID: "known", Title: "Known"}),
		"known":    asking(acp.ToolCallUpdate{ToolCallID: "known", Kind: acp.ToolKindEdit}),
		"new":      asking(acp.ToolCallUpdate{ToolCallID: "new", Title: "New"}),
		"nameless": asking(acp.ToolCallUpdate{ToolCallID: "nameless"}),
	}}
	scene(t, a, a, func(p *testClient) {
		p.prompt(1, "announce")
		p.want(userMessage("m1", "announce"), running)
		p.want(`tool_call_update {"toolCallId":"known","title":"Known"}`, idle("end_turn"))
		for i, tt := range []struct{ text, title, call, answer, want string }{
			{"known", "Known", `{"toolCallId":"known","kind":"edit"}`, `{"outcome":{"outcome":"selected","optionId":"n"}}`, "n"},
			{"new", "New", `{"toolCallId":"new","title":"New"}`, `{"outcome":{"outcome":"cancelled"}}`, "*acp.CancelledPermissionOutcome"},
			{"nameless", "nameless", `{"toolCallId":"nameless"}`, `{"outcome":{"outcome":"later"}}`, "*acp.UnknownRequestPermissionOutcome"},
		} {
			p.prompt(2+i, tt.text)
			p.want(userMessage(fmt.Sprint("m", 2+2*i), tt.text), running)
			p.want(waiting, request(1+i, tt.title, tt.call))
			p.Send(`{"jsonrpc":"2.0","id":%d,"result":%s}`, 1+i, tt.answer)
			p.want(running, agentChunk(fmt.Sprint("m", 3+2*i), tt.want), idle("end_turn"))
		}
	})
}

// A cancel withdraws the question. The agent receives the outcome cancelled.
func TestCancelDuringPermission(t *testing.T) {
	a := &testAgent{works: map[string]work{"ask": asking(acp.ToolCallUpdate{ToolCallID: "t", Title: "T"})}}
	scene(t, a, a, func(p *testClient) {
		p.prompt(1, "ask")
		p.want(userMessage("m1", "ask"), running)
		p.want(waiting, request(1, "T", `{"toolCallId":"t","title":"T"}`))
		synctest.Wait()
		p.Send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		var got []string
		for len(got) == 0 || !strings.Contains(got[len(got)-1], `"idle"`) {
			got = append(got, p.read())
		}
		assert.Contains(t, got, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
		assert.JSONEq(t, full(idle("cancelled")), got[len(got)-1])
		p.Send(`{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled"}}}`)
	})
}

// A request that clients of version 2 do not support fails at the agent.
func TestFilesAndTerminals(t *testing.T) {
	var errs []error
	a := &testAgent{works: map[string]work{"files": func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		_, err := a.conn.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: req.SessionID, Path: "/f"})
		errs = append(errs, err)
		_, err = a.conn.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: req.SessionID, Path: "/f"})
		errs = append(errs, err)
		_, err = a.conn.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: req.SessionID, Command: "ls"})
		errs = append(errs, err)
		return endTurn()
	}}}
	scene(t, a, a, func(p *testClient) {
		p.prompt(1, "files")
		p.want(userMessage("m1", "files"), running)
		p.want(idle("end_turn"))
	})
	for i, capability := range []string{"fs.readTextFile", "fs.writeTextFile", "terminal"} {
		var missing *acp.CapabilityError
		if assert.ErrorAs(t, errs[i], &missing) {
			assert.Equal(t, capability, missing.Capability)
		}
	}
}

// Forms have the same content in both versions. The state of the session requires an action
// meanwhile.
func TestElicitation(t *testing.T) {
	var values map[string]acp.ElicitationContentValue
	var errs []error
	a := &testAgent{works: map[string]work{"ask": func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		s := a.conn.Session(req.SessionID)
		v, err := s.AskForm(ctx, "Which?", acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{"a": &acp.StringPropertySchema{}}})
		values, errs = v, append(errs, err)
		_, err = s.AskForm(ctx, "Which?", acp.ElicitationSchema{})
		errs = append(errs, err)
		return endTurn()
	}}}
	scene(t, a, a, func(p *testClient) {
		p.prompt(1, "ask")
		p.want(userMessage("m1", "ask"), running)
		p.want(waiting, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Which?","mode":"form","sessionId":"s1","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`)
		p.Send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"a":"x"}}}`)
		p.want(running, waiting, `{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Which?","mode":"form","sessionId":"s1","requestedSchema":{"type":"object","properties":{}}}}`)
		p.Send(`{"jsonrpc":"2.0","id":2,"result":{"action":"later"}}`)
		p.want(running, idle("end_turn"))
	})
	assert.Equal(t, map[string]acp.ElicitationContentValue{"a": acp.ElicitationString("x")}, values)
	assert.NoError(t, errs[0])
	assert.ErrorIs(t, errs[1], agent.ErrNoInput)
}
