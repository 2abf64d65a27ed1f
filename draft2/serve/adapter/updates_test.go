package adapter_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// eager sends a title directly after its response to session/new.
type eager struct{ *testAgent }

func (a eager) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	res, err := a.testAgent.NewSession(ctx, req)
	agent.AfterResponse(ctx, func(ctx context.Context) { _ = a.conn.Session(res.SessionID).SetTitle(ctx, "t") })
	return res, err
}

// An update that the agent sends directly after the response to session/new reaches the client
// after that response. Otherwise the client would not know the session.
func TestUpdatesComeAfterTheResponseThatNamesTheirSession(t *testing.T) {
	near, far := stream.Pipe()
	served := make(chan error, 1)
	newV1 := func(conn *agent.Conn) acp.Agent { return eager{&testAgent{conn: conn}} }
	go func() { // ends with the connection
		served <- agent2.Serve(context.Background(), far, adapter.FromV1(newV1, &adapter.Options{Logger: quiet}), &agent2.Options{Logger: quiet})
	}()
	p := rawpeer.New(t, near)
	p.Call("0", "initialize", `{"protocolVersion":2,"info":{"name":"t","version":"1"},"capabilities":{}}`)
	p.Next()
	const runs = 5000
	early := 0
	for n := range runs {
		p.Call(fmt.Sprint(n+1), "session/new", `{"cwd":"/","mcpServers":[]}`)
		if p.Next().Method != "" {
			early++
		}
		p.Next()
	}
	assert.Zero(t, early, "of %d", runs)
	require.NoError(t, near.Close())
	<-served
}

// Updates of a closed session never reach the client, however many other sessions there are.
func TestUpdatesAfterClose(t *testing.T) {
	a := &testAgent{}
	scene(t, a, a, func(p *testClient) {
		p.call(1, "session/close", `{"sessionId":"s1"}`)
		p.want(result(1, `{}`))
		for i := range 300 {
			id := fmt.Sprint("x", i)
			require.NoError(t, a.conn.Session(acp.SessionID(id)).Message(t.Context(), "hello"))
			require.NoError(t, a.conn.Session("s1").Message(t.Context(), "nobody listens"))
			require.JSONEq(t, inSession(id, agentChunk(fmt.Sprint("m", i+1), "hello")), p.read())
		}
	})
}
