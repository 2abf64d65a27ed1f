package adapter_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
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
