package interop_test

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// way is a way to an agent. It can be gone more than once.
type way func(context.Context) (stream.Stream, error)

// ways are the ways to a script of the peers, over each transport. The variables are added
// to its environment.
func ways(t *testing.T, script string, variables ...string) map[string]way {
	over := func(address func(string) string) way {
		listen := sync.OnceValue(func() string {
			url, _ := theirMortalServer(t, script, variables...)
			return address(url)
		})
		return func(ctx context.Context) (stream.Stream, error) { return remote.Dial(ctx, listen(), nil) }
	}
	return map[string]way{
		"stdio": func(context.Context) (stream.Stream, error) {
			command := node(t, script)
			cmd := exec.Command(command[0], command[1:]...)
			cmd.Env = append(os.Environ(), variables...)
			return spawn(t, cmd), nil
		},
		"HTTP":      over(func(url string) string { return url }),
		"WebSocket": over(webSocket),
	}
}

// Our clients of both versions hold their whole conversation with the agents behind the
// router of the TypeScript SDK.
func TestTypeScriptRouter(t *testing.T) {
	t.Parallel()
	needShell(t)
	for transport, dial := range ways(t, "v2/router.mjs") {
		t.Run("version 1 over "+transport, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			s, err := dial(ctx)
			require.NoError(t, err)
			h := newGoClient()
			c := &conversation{ctx: ctx, conn: connect(t, s, newStrictLog(t), func(*client.Conn) acp.Client { return h }), handler: h, dir: scratch(t)}
			c.all(t)
		})
		t.Run("version 2 over "+transport, func(t *testing.T) {
			t.Parallel()
			s, err := dial(t.Context())
			require.NoError(t, err)
			if transport == "HTTP" {
				converse2(t, s, "initialize again") // their server takes one initialize a connection
			} else {
				converse2(t, s)
			}
		})
	}
}
