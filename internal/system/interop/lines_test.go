package interop_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
)

// separated has the line ends that may stand in a string of JSON.
const separated = "a\u2028b\u2029c\u0085d"

// Node.js splits lines at U+2028 in some versions, so none is sent raw, wherever it stands.
func TestLineSeparatorsReachAnAgentOnNode(t *testing.T) { onEachNode(t, separatorsToAnAgent) }

func separatorsToAnAgent(t *testing.T, node string) {
	argv := []string{node, filepath.Join(peers(t), "lines.mjs"), "agent"}
	process, err := stream.Command(exec.Command(argv[0], argv[1:]...), &stream.CommandOptions{StderrTail: 2000})
	require.NoError(t, err)
	c, err := client.Connect(t.Context(), process, func(*client.Conn) acp.Client { return &peertest.Client{} }, nil)
	require.NoError(t, err, process.Stderr())
	defer c.Close()
	meta := acp.Meta{separated: separated}
	session, err := c.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/" + separated, Meta: meta})
	require.NoError(t, err)
	assert.Equal(t, separated, string(session.ID()))
	text, err := session.Prompt(t.Context(), &acp.TextContent{Text: separated, Meta: meta},
		&acp.ResourceLink{Name: separated, URI: "file:///" + separated}).Text()
	require.NoError(t, err)
	var got struct{ Prompt []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	assert.Equal(t, map[string]any{"type": "text", "text": separated, "_meta": map[string]any{separated: separated}}, got.Prompt[0])
	assert.Equal(t, separated, got.Prompt[1]["name"])
	var raw json.RawMessage
	require.NoError(t, c.Call(t.Context(), "_"+separated, json.RawMessage(`{ "`+separated+`" : [ "`+separated+`" ]`+"\n}"), &raw))
	assert.JSONEq(t, `{"`+separated+`":["`+separated+`"]}`, string(raw))
}

func TestLineSeparatorsReachAClientOnNode(t *testing.T) {
	onEachNode(t, func(t *testing.T, node string) {
		out, err := exec.Command(node, filepath.Join(peers(t), "lines.mjs"), example(t, "echo")).CombinedOutput()
		require.NoError(t, err, "%s", out)
		var said string
		require.NoError(t, json.Unmarshal(out, &said), "%s", out)
		assert.Equal(t, "You said: "+separated, said)
	})
}
