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

// An update that the agent writes directly after the response to session/new does not
// overtake it in a typed proxy: its client would not know the session.
func TestProxyKeepsResponsesBeforeUpdates(t *testing.T) {
	leak.Check(t)
	editor, up := stream.Pipe()
	down, far := stream.Pipe()
	var below *client.Conn
	above := agent.New(up, func(above *agent.Conn) acp.Agent {
		below = client.New(down, func(*client.Conn) acp.Client { return above }, nil)
		return below
	}, nil)
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
	const runs = 2000
	inversions := 0
	for n := range runs {
		write(editor, `{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, n)
		write(far, `{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s%d"}}`, read(far).ID, n)
		write(far, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s%d","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}`, n)
		if read(editor).Method != "" {
			inversions++
		}
		read(editor)
	}
	assert.Zero(t, inversions, "of %d", runs)
	for _, c := range []interface {
		Close() error
		Wait() error
	}{above, below} {
		require.NoError(t, c.Close())
		require.NoError(t, c.Wait())
	}
}
