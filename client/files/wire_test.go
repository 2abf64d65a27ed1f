package files_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

type writer struct {
	peertest.Client
	*files.ReadWriter
}

type reader struct {
	peertest.Client
	*files.Reader
}

func TestCapabilitiesFollowWhatIsEmbedded(t *testing.T) {
	assert.Equal(t, &acp.ClientCapabilities{FS: &acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}}, client.Capabilities(&writer{}))
	assert.Equal(t, &acp.ClientCapabilities{FS: &acp.FileSystemCapabilities{ReadTextFile: true}}, client.Capabilities(&reader{}))
}

func TestOnTheWire(t *testing.T) {
	h := newFixture(t, files.Options{}, nil)
	s, peer := rawpeer.Pipe(t)
	conn := rawpeer.Start(t, client.New(s, func(c *client.Conn) acp.Client { return &writer{ReadWriter: h.folders.ReadWriter(c, nil)} }, nil))
	var played sync.WaitGroup
	ask := func(method string, params map[string]any) rawpeer.Message {
		raw, err := json.Marshal(params)
		assert.NoError(t, err)
		peer.Send(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, raw)
		m, _ := peer.Recv()
		return m
	}
	path := h.at("new/file.txt")
	played.Go(func() { // ends with the response to session/new
		peer.Initialize(`{}`)
		m := peer.Expect("session/new")
		refused := ask("fs/read_text_file", map[string]any{"sessionId": "s", "path": path})
		assert.Equal(t, -32602, refused.Error.Code, "there is no session yet")
		peer.Answer(m, `{"sessionId":"s"}`)
		written := ask("fs/write_text_file", map[string]any{"sessionId": "s", "path": path, "content": "one\ntwo\n"})
		assert.JSONEq(t, `{}`, string(written.Result))
		got := ask("fs/read_text_file", map[string]any{"sessionId": "s", "path": path, "line": 2})
		assert.JSONEq(t, `{"content":"two\n"}`, string(got.Result))
		missing := ask("fs/read_text_file", map[string]any{"sessionId": "s", "path": h.at("missing")})
		assert.Equal(t, -32002, missing.Error.Code)
		outside := ask("fs/read_text_file", map[string]any{"sessionId": "s", "path": h.secret})
		assert.Equal(t, -32602, outside.Error.Code)
		assert.NotContains(t, string(outside.Error.Data)+outside.Error.Message, "no such file")
	})
	_, err := conn.Initialize(t.Context(), nil)
	require.NoError(t, err)
	_, err = conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: h.work})
	require.NoError(t, err)
	played.Wait()
}
