package order_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// A request to an MCP server of the client is refused while another one to this server has its id, and the
// first one goes on.
func TestMCPRequestsInUse(t *testing.T) {
	for _, over := range []profile{"stdio", onLibrary, withConnect} {
		for version := 1; version <= 2; version++ {
			if !over.plays(version, "client") {
				continue
			}
			t.Run(string(over)+"/"+string(rune('0'+version)), func(t *testing.T) {
				near, far := stream.Pipe()
				e := &refuser{peer: rawpeer.New(t, far)}
				begun, release := make(chan bool, 10), make(chan bool)
				e.newClient(t, over, near, version, "client", func(_ context.Context, method string, _ any) (any, error) {
					if method == "mcp/message" {
						begun <- true
						<-release
					}
					return nil, nil
				})
				ask := func(id int, server, inner string) {
					e.peer.Call(fmt.Sprint(id), "mcp/message", fmt.Sprintf(`{"serverId":%q,"requestId":%q,"method":"tools/list"}`, server, inner))
				}
				ask(1, "a", "r")
				<-begun
				ask(2, "a", "r")
				m := e.peer.Next()
				assert.Equal(t, "2", string(m.ID))
				assert.Equal(t, -32602, m.Error.Code)
				ask(3, "b", "r")
				ask(4, "a", "s")
				<-begun
				<-begun
				close(release)
				for range 3 {
					assert.Nil(t, e.peer.Next().Error)
				}
				ask(5, "a", "r")
				assert.Nil(t, e.peer.Next().Error, "the id is free again")
			})
		}
	}
}
