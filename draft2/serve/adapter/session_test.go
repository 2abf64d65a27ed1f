package adapter_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Closing a session ends its turn first, with the last updates. Other requests do not wait for
// that.
func TestCloseDuringATurn(t *testing.T) {
	works := map[string]work{"wait": func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		<-ctx.Done()
		time.Sleep(time.Second)
		_ = a.conn.Session(req.SessionID).Message(ctx, "last words")
		return nil, ctx.Err()
	}}
	for name, agent := range map[string]func(a *testAgent) acp.Agent{
		"emulated":        func(a *testAgent) acp.Agent { return a },
		"with the method": func(a *testAgent) acp.Agent { return &complete{a} },
	} {
		t.Run(name, func(t *testing.T) {
			a := &testAgent{works: works}
			scene(t, agent(a), a, func(p *testClient) {
				p.prompt(1, "wait")
				p.want(userMessage("m1", "wait"), running, result(1, `{"messageId":"m1"}`))
				synctest.Wait()
				begun := time.Now()
				p.call(2, "session/close", `{"sessionId":"s1"}`)
				synctest.Wait()
				p.call(20, "session/new", `{"cwd":"/"}`)
				p.want(result(20, `{"sessionId":"s2"}`))
				assert.Zero(t, time.Since(begun), "another session waited until the turn ended")
				p.want(agentChunk("m2", "last words"), idle("cancelled"), result(2, `{}`))
				p.prompt(3, "wait")
				p.want(notFound("3", "s1"))
			})
		})
	}
}

// forgetful is an agent that closes and deletes every session, and cannot load any.
type forgetful struct{ *complete }

func (a *forgetful) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	return nil, rpcerr.SessionNotFound(string(req.SessionID))
}

// The adapter remembers all open sessions, and a limited number of others.
func TestSessionsAreForgotten(t *testing.T) {
	const many, most = 1000, 256
	close := func(p *testClient, id int, session string) {
		p.call(id, "session/close", `{"sessionId":"`+session+`"}`)
		p.want(result(id, `{}`))
	}
	for name, tc := range map[string]struct {
		each func(p *testClient, own *testAgent, i int)
		most int
	}{
		"that were closed": {func(p *testClient, _ *testAgent, i int) {
			p.call(2*i, "session/new", `{"cwd":"/"}`)
			p.read()
			close(p, 2*i+1, fmt.Sprint("s", i+2))
		}, 1 + most},
		"that the client invented and closes": {func(p *testClient, _ *testAgent, i int) {
			close(p, i, fmt.Sprint("x", i))
		}, 1},
		"that the client invented and deletes": {func(p *testClient, _ *testAgent, i int) {
			p.call(i, "session/delete", fmt.Sprintf(`{"sessionId":"x%d"}`, i))
			p.want(result(i, `{}`))
		}, 1},
		"that the client invented and loads": {func(p *testClient, _ *testAgent, i int) {
			p.call(i, "session/resume", fmt.Sprintf(`{"sessionId":"x%d","cwd":"/","replayFrom":{"type":"start"}}`, i))
			p.want(notFound(fmt.Sprint(i), fmt.Sprint("x", i)))
		}, 1},
		"that the client invented and uses": {func(p *testClient, _ *testAgent, i int) {
			p.call(i, "session/prompt", fmt.Sprintf(`{"sessionId":"x%d","prompt":[{"type":"text","text":"hi"}]}`, i))
			p.want(notFound(fmt.Sprint(i), fmt.Sprint("x", i)))
		}, 1},
		"that only the agent named": {func(p *testClient, own *testAgent, i int) {
			id := fmt.Sprint("x", i)
			require.NoError(p.t, own.conn.Session(acp.SessionID(id)).Message(p.t.Context(), "hello"))
			require.JSONEq(p.t, inSession(id, agentChunk(fmt.Sprint("m", i+1), "hello")), p.read())
		}, 1 + most},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				own := &testAgent{}
				var made acp2.Agent
				from := adapter.FromV1(func(conn *agent.Conn) acp.Agent { own.conn = conn; return &forgetful{&complete{own}} }, &adapter.Options{Logger: quiet})
				over, raw := rawpeer.Pipe(t)
				conn := agent2.New(over, func(c *agent2.Conn) acp2.Agent { made = from(c); return made }, &agent2.Options{Logger: quiet})
				require.NoError(t, conn.Start(context.WithoutCancel(t.Context())))
				p := &testClient{Peer: raw, t: t, names: map[string]string{}}
				p.call(0, "initialize", initializeParams)
				p.read()
				p.call(0, "session/new", `{"cwd":"/"}`)
				p.read()
				for i := range many {
					tc.each(p, own, i)
				}
				synctest.Wait()
				assert.LessOrEqual(t, adapter.Sessions(made), tc.most)

				p.prompt(7, "") // the open session was not forgotten
				message := fmt.Sprint("m", len(p.names)+1)
				p.want(userMessage(message, ""), running)
				p.wantAny(result(7, `{"messageId":"`+message+`"}`), idle("end_turn")) // the work may end before the response is sent
				p.Close()
				require.NoError(t, conn.Wait())
			})
		})
	}
}
