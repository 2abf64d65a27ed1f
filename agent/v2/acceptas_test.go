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

// librarian is an agent that gives the messages of the user ids of its own.
type librarian struct{ brief }

func (l *librarian) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	id := acp.MessageID(acp.PlainText(req.Prompt...))
	return l.conn.Session(req.SessionID).AcceptAs(ctx, id, req, func(context.Context) (acp.StopReason, error) { return "", nil })
}

// The message and the response have the id that the agent has chosen, and a prompt whose id
// is empty has neither message nor work.
func TestAcceptAs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := rawpeer.Pipe(t)
		served := make(chan error, 1)
		go func() { // ends when the client closes its end
			served <- agent.Serve(t.Context(), near, func(c *agent.Conn) acp.Agent { return &librarian{brief{conn: c}} }, nil)
		}()
		r := &raw{far, t}
		r.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`)
		r.want("response 0")
		r.prompt(1, "shelf 7")
		assert.Contains(t, r.Next().Raw, `"messageId":"shelf 7"`)
		r.want("running")
		for range 2 { // the response and the end of the work
			if m := r.Next(); m.Method == "" {
				assert.JSONEq(t, `{"messageId":"shelf 7"}`, string(m.Result))
			}
		}
		r.prompt(2, "")
		for range 2 {
			if m := r.Next(); m.Method == "" {
				assert.Equal(t, -32603, m.Error.Code)
			}
		}
		r.prompt(3, "shelf 8") // it goes on
		assert.Contains(t, r.Next().Raw, `"messageId":"shelf 8"`)
		synctest.Wait() // what the agent still writes is written
		far.Close()
		assert.NoError(t, <-served)
	})
}
