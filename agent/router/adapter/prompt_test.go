package adapter_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

func sayHello(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := a.conn.Session(req.SessionID)
	_ = s.Message(ctx, "Hel")
	_ = s.Message(ctx, "lo")
	return endTurn()
}

// A turn of version 1 becomes a prompt of version 2, from acceptance to the idle state.
func TestTurn(t *testing.T) {
	a := &testAgent{works: map[string]work{"hi": sayHello}}
	scene(t, a, a, func(p *testClient) {
		p.prompt(1, "hi")
		p.want(userMessage("m1", "hi"), running)
		p.wantAny(result(1, `{"messageId":"m1"}`), agentChunk("m2", "Hel"), agentChunk("m2", "lo"), idle("end_turn"))
		p.prompt(2, "hi")
		p.want(userMessage("m3", "hi"), running)
		p.wantAny(result(2, `{"messageId":"m3"}`), agentChunk("m4", "Hel"), agentChunk("m4", "lo"), idle("end_turn"))
	})
}

func TestUsageOfTheTurn(t *testing.T) {
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
