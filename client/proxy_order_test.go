package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// field is an agent that passes requests on over the connection in a field.
type field struct{ below *client.Conn }

func (f field) Initialize(ctx context.Context, r *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return f.below.Initialize(ctx, r)
}

func (f field) NewSession(ctx context.Context, r *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return f.below.NewSession(ctx, r)
}

func (f field) Prompt(ctx context.Context, r *acp.PromptRequest) (*acp.PromptResponse, error) {
	return f.below.Prompt(ctx, r)
}

func (f field) Cancel(ctx context.Context, r *acp.CancelNotification) error {
	return f.below.Cancel(ctx, r)
}

// A typed proxy keeps the order of messages. An update directly after the response to session/new
// does not overtake it, because the client would not know the session. A session/cancel directly
// after a permission response does not overtake that.
func TestProxyKeepsResponsesInTheirOrder(t *testing.T) {
	for name, proxy := range map[string]struct {
		agent func(*client.Conn) acp.Agent
		opts  *agent.Options
	}{
		"a connection":              {func(c *client.Conn) acp.Agent { return c }, nil},
		"a connection in a field":   {func(c *client.Conn) acp.Agent { return field{c} }, &agent.Options{Relay: true}},
		"an embedded connection":    {func(c *client.Conn) acp.Agent { return struct{ *client.Conn }{c} }, nil},
		"a connection in a wrapper": {func(c *client.Conn) acp.Agent { return struct{ acp.AgentWrapper }{acp.AgentWrapper{Agent: c}} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			editor, up := stream.Pipe()
			down, far := stream.Pipe()
			var below *client.Conn
			above := agent.New(up, func(above *agent.Conn) acp.Agent {
				below = client.New(down, func(*client.Conn) acp.Client { return above }, nil)
				return proxy.agent(below)
			}, proxy.opts)
			require.NoError(t, below.Start(context.Background()))
			require.NoError(t, above.Start(context.Background()))
			write := func(s stream.Stream, format string, args ...any) {
				require.NoError(t, s.Write(fmt.Appendf(nil, format, args...)))
			}
			read := func(s stream.Stream) (m struct {
				ID     json.RawMessage
				Method string
			}) {
				b, err := s.Read()
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(b, &m))
				return m
			}
			write(editor, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
			write(far, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1}}`, read(far).ID)
			read(editor)
			const runs = 5000
			updates, cancels := 0, 0
			for n := range runs {
				write(editor, `{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, n)
				write(far, `{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s%d"}}`, read(far).ID, n)
				write(far, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s%d","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}`, n)
				if read(editor).Method != "" {
					updates++
				}
				read(editor)
				write(far, `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s%d","toolCall":{"toolCallId":"c"},"options":[]}}`, n, n)
				write(editor, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"cancelled"}}}`, read(editor).ID)
				write(editor, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s%d"}}`, n)
				if read(far).Method != "" {
					cancels++
				}
				read(far)
			}
			assert.Zero(t, updates, "before their response, of %d", runs)
			assert.Zero(t, cancels, "before the permission response, of %d", runs)
			for _, c := range []interface {
				Close() error
				Wait() error
			}{above, below} {
				require.NoError(t, c.Close())
				require.NoError(t, c.Wait())
			}
		})
	}
}
