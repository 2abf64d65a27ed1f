package websocket_test

import (
	"bufio"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	raw "github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream/websocket"
)

// frames returns the text frames of the recorded conversations between the client and
// the server of the TypeScript SDK.
func frames(t *testing.T, visit func(t *testing.T, frames []frame)) {
	paths, err := filepath.Glob("testdata/transcripts/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := os.Open(path)
			require.NoError(t, err)
			defer file.Close()
			var all []frame
			in := bufio.NewScanner(file)
			in.Buffer(nil, 1<<20)
			for in.Scan() {
				var f frame
				require.NoError(t, json.Unmarshal(in.Bytes(), &f))
				if f.Kind == "ws-frame" && !f.Binary {
					all = append(all, f)
				}
			}
			require.NoError(t, in.Err())
			require.Greater(t, len(all), 20)
			visit(t, all)
		})
	}
}

type frame struct {
	Dir, Kind, Raw string
	Binary         bool
}

func TestReplayToServer(t *testing.T) {
	frames(t, func(t *testing.T, all []frame) {
		handler, conns := accepting(nil)
		s := httptest.NewServer(handler)
		defer s.Close()
		client := rawClient(t, s.URL)
		server := <-conns
		defer server.Close()
		for _, f := range all {
			if f.Dir == "send" {
				require.NoError(t, client.Write(t.Context(), raw.MessageText, []byte(f.Raw)))
				assert.Equal(t, f.Raw, receive(t, server))
				continue
			}
			require.NoError(t, server.Write([]byte(f.Raw)))
			kind, got, err := client.Read(t.Context())
			require.NoError(t, err)
			assert.Equal(t, raw.MessageText, kind)
			assert.Equal(t, f.Raw, string(got))
		}
		client.CloseNow()
	})
}

func TestReplayToClient(t *testing.T) {
	frames(t, func(t *testing.T, all []frame) {
		conns := make(chan *raw.Conn, 1)
		s := httptest.NewServer(rawServer(conns))
		defer s.Close()
		client, err := websocket.Dial(t.Context(), s.URL, nil)
		require.NoError(t, err)
		defer client.Close()
		assert.Empty(t, client.ConnectionID(), "servers need not give one")
		server := <-conns
		for _, f := range all {
			if f.Dir == "recv" {
				require.NoError(t, server.Write(t.Context(), raw.MessageText, []byte(f.Raw)))
				assert.Equal(t, f.Raw, receive(t, client))
				continue
			}
			require.NoError(t, client.Write([]byte(f.Raw)))
			kind, got, err := server.Read(t.Context())
			require.NoError(t, err)
			assert.Equal(t, raw.MessageText, kind)
			assert.Equal(t, f.Raw, string(got))
		}
		server.CloseNow()
	})
}
