package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// The test binary is the agent. It first sends a request of its own, and then answers each request
// with its params.
func TestMain(m *testing.M) {
	if os.Getenv("BRIDGE_TEST_AGENT") == "" {
		os.Exit(m.Run())
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var msg struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(in.Bytes(), &msg) != nil || msg.Method == "" || msg.ID == nil {
			continue
		}
		if msg.Method != "initialize" {
			fmt.Println(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","odd" : [1.0,"\u0061"]}}`)
		}
		if msg.Method == "session/new" {
			msg.Params = json.RawMessage(`{"sessionId":"s"}`)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", msg.ID, msg.Params)
	}
}

// Both directions in a row: an editor's standard input, the network, and an agent's
// standard output.
func TestBridge(t *testing.T) {
	t.Setenv("BRIDGE_TEST_AGENT", "1")
	exe, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	url, printed := io.Pipe()
	served := make(chan error, 1)
	t.Setenv(remote.TokenVariable, "secret")
	go func() { served <- (&server{address: "127.0.0.1:0", command: []string{exe}}).serve(ctx, printed) }() // ends with ctx
	line, err := bufio.NewReader(url).ReadString('\n')
	require.NoError(t, err)
	address := strings.TrimSpace(line)
	for _, address := range []string{address, "ws" + strings.TrimPrefix(address, "http")} {
		editor, end := stream.Pipe()
		reached := make(chan error, 1)
		go func() { reached <- reach(ctx, end, address) }() // ends with the editor
		say := func(msg string) string {
			require.NoError(t, editor.Write([]byte(msg)))
			for {
				got, err := editor.Read()
				require.NoError(t, err)
				m := stream.ParseMessage(got)
				if m.IsResponse() {
					return string(got)
				}
				assert.Equal(t, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","odd" : [1.0,"\u0061"]}}`, string(got), "byte for byte")
			}
		}
		assert.Equal(t, `{"jsonrpc":"2.0","id":0,"result":{"x":1e2}}`, say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"x":1e2}}`))
		assert.Equal(t, `{"jsonrpc":"2.0","id":"a","result":{"sessionId":"s"}}`, say(`{"jsonrpc":"2.0","id":"a","method":"session/new","params":{}}`))
		assert.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s","newer":{"x":1.50}}}`, say(`{"jsonrpc":"2.0","id":2,"method":"session/newer","params":{"sessionId":"s","newer":{"x":1.50}}}`))
		require.NoError(t, editor.Close())
		assert.NoError(t, <-reached)
	}
	t.Setenv(remote.TokenVariable, "wrong")
	refused, _ := stream.Pipe()
	assert.Error(t, reach(ctx, refused, "ws"+strings.TrimPrefix(address, "http")))
	cancel()
	assert.NoError(t, <-served)
}

// Every user of this machine can reach a port.
func TestPortsNeedAToken(t *testing.T) {
	t.Setenv(remote.TokenVariable, "")
	none := []string{filepath.Join(t.TempDir(), "none")}
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		var out bytes.Buffer
		assert.ErrorContains(t, (&server{address: address, command: none}).serve(t.Context(), &out), "set ACP_TOKEN", address)
		assert.Empty(t, out.String())
	}
	assert.ErrorContains(t, (&server{address: "0.0.0.0:0", command: none, open: true}).serve(t.Context(), new(bytes.Buffer)), "other machines")
}
