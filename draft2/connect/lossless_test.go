package connect_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// reader is a client with files.
type reader struct{ acp.Client }

func (reader) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: "text"}, nil
}

var withFiles = &connect.Options{
	V1:           func(*client.Conn) acp.Client { return reader{} },
	InitializeV1: &acp.InitializeRequest{ClientCapabilities: client.Capabilities(reader{})},
}

// A client with files sends its capabilities to an agent of version 1 that has not seen them.
func TestFileCapabilitiesAreSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		second func(p *rawpeer.Peer, m rawpeer.Message)
		agent  string // the agent's name after Connect
	}{
		"and are heard":  {func(p *rawpeer.Peer, m rawpeer.Message) { p.Answer(m, resultV1) }, "one"},
		"and are known":  {func(p *rawpeer.Peer, m rawpeer.Message) { p.Fail(m, -32600, "once is enough") }, "goose"},
		"and are echoed": {func(p *rawpeer.Peer, m rawpeer.Message) { p.Answer(m, resultGoose) }, "goose"},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			a := newAgents(t, func(p *rawpeer.Peer) {
				p.Answer(p.Expect("initialize"), resultGoose)
				m := p.Expect("initialize")
				params := asked(t, m)
				assert.EqualValues(t, 1, params["protocolVersion"])
				assert.Equal(t, map[string]any{"readTextFile": true}, params["clientCapabilities"].(map[string]any)["fs"])
				assert.NotContains(t, params, "capabilities")
				c.second(p, m)
				p.ExpectEnd()
			})
			conn, err := connect.Connect(t.Context(), a.dial, withFiles)
			require.NoError(t, err)
			info, _ := conn.Info()
			assert.Equal(t, c.agent, info.Name)
			assert.Equal(t, 1, a.dialed())
			end(t, conn)
		})
	}
	t.Run("and it exits", func(t *testing.T) {
		leak.Check(t)
		a := newAgents(t, func(p *rawpeer.Peer) {
			p.Answer(p.Expect("initialize"), resultV1)
			p.Expect("initialize")
			p.Close()
		}, answers(t, result(resultV1)))
		conn, err := connect.Connect(t.Context(), a.dial, withFiles)
		require.NoError(t, err)
		assert.Equal(t, 2, a.dialed())
		end(t, conn)
	})
}

// single is a stream to an endpoint that accepts one initialize only.
type single struct{ stream.Stream }

func (single) Features() *stream.Features { return &stream.Features{SingleInitialize: true} }

// An endpoint that accepts one initialize only is dialed again if possible. It gets one initialize
// over each stream.
func TestFileCapabilitiesOverASingleInitialize(t *testing.T) {
	t.Run("dialed again", func(t *testing.T) {
		leak.Check(t)
		a := newAgents(t, func(p *rawpeer.Peer) {
			p.Answer(p.Expect("initialize"), resultGoose)
			p.ExpectEnd()
		}, func(p *rawpeer.Peer) {
			m := p.Expect("initialize")
			assert.EqualValues(t, 1, asked(t, m)["protocolVersion"])
			p.Answer(m, resultV1)
			p.ExpectEnd()
		})
		conn, err := connect.Connect(t.Context(), func(ctx context.Context) (stream.Stream, error) {
			s, err := a.dial(ctx)
			return single{s}, err
		}, withFiles)
		require.NoError(t, err)
		info, _ := conn.Info()
		assert.Equal(t, "one", info.Name)
		assert.Equal(t, 2, a.dialed())
		end(t, conn)
	})
	t.Run("over one stream", func(t *testing.T) {
		leak.Check(t)
		a := newAgents(t, func(p *rawpeer.Peer) {
			p.Answer(p.Expect("initialize"), resultGoose)
			p.ExpectEnd()
		})
		s, err := a.dial(t.Context())
		require.NoError(t, err)
		conn, err := connect.ConnectOver(t.Context(), single{s}, withFiles)
		require.NoError(t, err)
		info, _ := conn.Info()
		assert.Equal(t, "goose", info.Name)
		end(t, conn)
	})
}

// A router derives the first initialize for its version 1 agent from version 2, which has no
// capabilities for files. The second initialize has them, and the agent can read files.
func TestFilesThroughARouter(t *testing.T) {
	leak.Check(t)
	var seen []*acp.ClientCapabilities
	near, far := stream.Pipe()
	served := make(chan error, 1)
	go func() { // ends with the connection
		served <- serve.Route(t.Context(), far, &serve.Agents{V1: func(c *agent.Conn) acp.Agent {
			return &peertest.Agent{
				OnInitialize: func(_ context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
					seen = append(seen, req.ClientCapabilities)
					return nil, nil
				},
				OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
					_, err := c.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: req.SessionID, Path: "/w/f"})
					return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
				},
			}
		}}, nil)
	}()
	conn, err := connect.ConnectOver(t.Context(), near, withFiles)
	require.NoError(t, err)
	require.Len(t, seen, 2)
	assert.False(t, seen[0].Has("fs.readTextFile"))
	assert.True(t, seen[1].Has("fs.readTextFile"))
	_, err = startSession(t, conn).Prompt(t.Context(), connect.Text("read")).Wait()
	require.NoError(t, err)
	end(t, conn)
	require.NoError(t, <-served)
}
