package agent_test

import (
	"fmt"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// TestMain discards the log of the tests.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// The response to initialize depends on the version that it requests and on what was read before.
func TestInitialize(t *testing.T) {
	for file, mcp := range map[string]*acp.MCPCapabilities{"initialize": nil, "servers": {Stdio: &acp.MCPStdioCapabilities{}}} {
		rawpeer.Dialogues(t, "testdata/"+file+".txtar", func(t *testing.T) (*rawpeer.Peer, func()) {
			r, end := connect(t, newScripted(&scripted{mcp: mcp}), nil)
			return r.Peer, end
		})
	}
}

// For a repeated initialize, its position in the stream counts, not the time at which it is
// handled.
func TestRepeatedInitializeAfterARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &scripted{initialize: make(chan struct{})}
		r, end := connect(t, newScripted(a), &agent.Options{})
		initialize := func(id string) {
			r.Call(fmt.Sprintf("%q", id), "initialize", `{"protocolVersion":2,"info":{"name":"c","version":"1"}}`)
		}
		initialize("first")
		initialize("second") // there is no other request before it
		r.Call(`"other"`, "_x/unknown", `{}`)
		initialize("third")
		r.ExpectJSON(`{"jsonrpc":"2.0","id":"third","error":{"code":-32600,"message":"Invalid request: a repeated initialize must come before every other request"}}`)
		close(a.initialize)
		r.want(`response "first"`)
		assert.ElementsMatch(t, []string{`response "second"`, `error "other" -32601`}, []string{r.read(), r.read()})
		end()
	})
}
