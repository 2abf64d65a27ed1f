package websocket_test

import (
	"bufio"
	"encoding/json"
	"net/http"
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

// replay plays a conversation in which the frames in the direction dir go to our end.
func replay(t *testing.T, all []frame, dir string, theirs *raw.Conn, ours *websocket.Conn) {
	t.Helper()
	for _, f := range all {
		if f.Dir == dir {
			sendText(t, theirs, f.Raw)
			assert.Equal(t, f.Raw, receive(t, ours))
			continue
		}
		require.NoError(t, ours.Write([]byte(f.Raw)))
		assert.Equal(t, f.Raw, readText(t, theirs))
	}
}

func TestReplayToServer(t *testing.T) {
	frames(t, func(t *testing.T, all []frame) {
		client, server := rawConnect(t)
		replay(t, all, "send", client, server)
	})
}

func TestReplayToClient(t *testing.T) {
	frames(t, func(t *testing.T, all []frame) {
		conns := make(chan *raw.Conn, 1)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c, err := raw.Accept(w, r, nil); assert.NoError(t, err) {
				c.SetReadLimit(-1)
				conns <- c
			}
		}))
		defer s.Close()
		client, err := websocket.Dial(t.Context(), s.URL, nil)
		require.NoError(t, err)
		defer client.Close()
		server := <-conns
		defer server.CloseNow()
		replay(t, all, "recv", server, client)
	})
}
