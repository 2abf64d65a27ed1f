package agent_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// brief is an agent that embeds NoHistory. Its work lasts until it is cancelled.
type brief struct {
	agent.NoHistory
	conn *agent.Conn
}

func (b *brief) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return nil, nil
}

func (b *brief) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (b *brief) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := b.conn.Session(req.SessionID)
	return s.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) { return untilCancelled(ctx, s) })
}

// An agent without a history keeps the rules of the methods that it does not write: nothing
// is listed or resumed, a cancel ends the work, and the response to a close is the last.
func TestNoHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := rawpeer.Pipe(t)
		served := make(chan error, 1)
		go func() { // ends when the client closes its end
			served <- agent.Serve(t.Context(), near, func(c *agent.Conn) acp.Agent { return &brief{conn: c} }, nil)
		}()
		r := &raw{far, t}
		r.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`)
		r.want("response 0")
		r.Send(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}`)
		assert.JSONEq(t, `{"sessions":[]}`, string(r.Next().Result))
		r.Send(`{"jsonrpc":"2.0","id":2,"method":"session/resume","params":{"sessionId":"old","cwd":"/"}}`)
		r.want("error 2 -32002")
		for _, end := range []string{
			`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`,
			`{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"s1"}}`,
		} {
			r.prompt(3, "work")
			r.want("user_message", "running", "response 3")
			synctest.Wait()
			r.Send("%s", end)
			r.want("agent_message_chunk", "idle cancelled")
		}
		r.want("response 4")
		synctest.Wait() // what the agent still writes is written
		far.Close()
		assert.NoError(t, <-served)
	})
}
