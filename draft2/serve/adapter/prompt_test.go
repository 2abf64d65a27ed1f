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

// A cancel withdraws the question and ends the turn. Whether the agent reads the outcome cancelled or
// the end of its ctx first is open.
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
