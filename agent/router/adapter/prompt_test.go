package adapter_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
)

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

// A cancel withdraws the question. The agent receives the outcome cancelled.
func TestCancelDuringPermission(t *testing.T) {
	a := &testAgent{works: map[string]work{"ask": asking(acp.ToolCallUpdate{ToolCallID: "t", Title: "T"})}}
	scene(t, a, a, func(p *testClient) {
		p.prompt(1, "ask")
		p.want(userMessage("m1", "ask"), running)
		p.want(waiting)
		assert.Contains(t, p.read(), `"id":1,"method":"session/request_permission"`)
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
