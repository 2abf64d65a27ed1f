package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// proxied returns the two ends of a typed proxy, after the handshake.
func proxied(t *testing.T) (editor, far *end) {
	near, up := stream.Pipe()
	down, beyond := stream.Pipe()
	var below *client.Conn
	above := agent.New(up, func(above *agent.Conn) acp.Agent {
		below = client.New(down, func(*client.Conn) acp.Client { return above }, nil)
		return below
	}, nil)
	require.NoError(t, below.Start(context.Background()))
	require.NoError(t, above.Start(context.Background()))
	t.Cleanup(func() {
		assert.NoError(t, near.Close())
		assert.NoError(t, above.Wait())
		assert.NoError(t, below.Close())
		assert.NoError(t, below.Wait())
	})
	editor, far = &end{t, near}, &end{t, beyond}
	editor.write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"e","version":"1"}}}`)
	far.write(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}}`, far.read().ID)
	editor.read()
	return editor, far
}

// end is one end of the proxy, played by the test.
type end struct {
	t *testing.T
	s stream.Stream
}

type line struct {
	ID     json.RawMessage
	Method string
	Params struct{ Prompt []struct{ Text string } }
	Error  *struct{ Code int }
}

func (e *end) write(format string, args ...any) {
	require.NoError(e.t, e.s.Write(fmt.Appendf(nil, format, args...)))
}

func (e *end) read() (m line) {
	b, err := e.s.Read()
	require.NoError(e.t, err)
	require.NoError(e.t, json.Unmarshal(b, &m))
	return m
}

func (e *end) prompt(id int) {
	e.write(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"%[1]d"}]}}`, id)
}

// Prompts that overlap reach the agent in the order in which the client sent them.
func TestProxyKeepsTheOrderOfPrompts(t *testing.T) {
	leak.Check(t)
	editor, far := proxied(t)
	const prompts = 200
	for n := range prompts {
		editor.prompt(n)
	}
	for n := range prompts {
		m := far.read()
		require.Equal(t, fmt.Sprint(n), m.Params.Prompt[0].Text)
		far.write(`{"jsonrpc":"2.0","id":%s,"result":{"messageId":"m%d"}}`, m.ID, n)
		require.Equal(t, fmt.Sprint(n), string(editor.read().ID))
	}
}

// A prompt that waits in the proxy can be cancelled like one that the agent holds, and those
// behind it go on.
func TestProxyCancelsAPromptThatWaits(t *testing.T) {
	leak.Check(t)
	editor, far := proxied(t)
	for n := 1; n <= 3; n++ {
		editor.prompt(n)
	}
	first := far.read()
	editor.write(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`)
	m := editor.read()
	assert.Equal(t, "2", string(m.ID))
	require.NotNil(t, m.Error)
	assert.Equal(t, -32800, m.Error.Code)
	far.write(`{"jsonrpc":"2.0","id":%s,"result":{"messageId":"m1"}}`, first.ID)
	assert.Equal(t, "1", string(editor.read().ID))
	third := far.read()
	assert.Equal(t, "3", third.Params.Prompt[0].Text)
	editor.write(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	editor.prompt(4)
	for far.read().Method != "session/cancel" { // $/cancel_request may be before it
	}
	far.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32800,"message":"cancelled"}}`, third.ID)
	assert.Equal(t, "3", string(editor.read().ID))
	fourth := far.read()
	for fourth.Method != "session/prompt" {
		fourth = far.read()
	}
	assert.Equal(t, "4", fourth.Params.Prompt[0].Text)
	far.write(`{"jsonrpc":"2.0","id":%s,"result":{"messageId":"m4"}}`, fourth.ID)
	assert.Equal(t, "4", string(editor.read().ID))
}
