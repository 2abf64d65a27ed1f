package interop_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// theirEndpoints are the endpoints that the TypeScript SDK can make, and the version that a
// client gets there that speaks both.
var theirEndpoints = map[string]struct {
	script    string
	variables []string
	version   int
}{
	"the agent of version 1":        {script: "agent.mjs", version: 1},
	"the agent of version 2":        {script: "v2/agent.mjs", version: 2},
	"the router of both":            {script: "v2/router.mjs", version: 2},
	"the router of version 1 alone": {script: "v2/router.mjs", variables: []string{"ACP_ROUTE=1"}, version: 1},
	"the router of version 2 alone": {script: "v2/router.mjs", variables: []string{"ACP_ROUTE=2"}, version: 2},
}

// A client of both versions finds out which one an endpoint of the TypeScript SDK speaks,
// and holds the same conversation with it.
func TestNegotiateWithTypeScript(t *testing.T) {
	t.Parallel()
	for name, peer := range theirEndpoints {
		for transport, dial := range waysTo(t, peer.script, peer.variables...) {
			t.Run(name+" over "+transport, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
				defer cancel()
				policy := permission.New(&permission.Options{
					Ask: func(context.Context, *permission.Question) (string, error) { return "id-allow_once", nil },
				})
				conn, err := connect.Connect(ctx, connect.Dial(dial), &connect.Options{Permission: policy, Logger: pairtest.StrictLogger(t)})
				require.NoError(t, err)
				defer func() {
					assert.NoError(t, conn.Close())
					assert.NoError(t, conn.Wait())
				}()
				assert.Equal(t, peer.version, conn.ProtocolVersion())
				info, _ := conn.Info()
				assert.Equal(t, "interop-ts-agent", info.Name)
				talk(t, ctx, conn)
			})
		}
	}
}

// talk holds the conversation, by methods that are independent of the version.
func talk(t *testing.T, ctx context.Context, conn *connect.Conn) {
	session, err := conn.StartSession(ctx, &connect.SessionParams{Cwd: pairtest.TempDir(t)})
	require.NoError(t, err)
	for prompt, said := range map[string]string{"say one two": "onetwo", "permission": "selected id-allow_once"} {
		turn, err := session.Prompt(ctx, connect.Text(prompt)).Wait()
		require.NoError(t, err)
		assert.Equal(t, "end_turn", turn.StopReason)
		items := session.Thread().Snapshot().Items.Slice()
		last, ok := items[len(items)-1].(*thread.Message)
		require.True(t, ok, "%T", items[len(items)-1])
		var text strings.Builder
		for _, b := range last.Content.All() {
			text.WriteString(b.Text)
		}
		assert.Equal(t, said, text.String())
	}
	require.NoError(t, session.SetOption(ctx, "model", "big"))
	require.NoError(t, session.Close(ctx))
	reopened, err := conn.LoadSession(ctx, session.ID(), &connect.SessionParams{Cwd: pairtest.TempDir(t)})
	require.NoError(t, err)
	shown := 0
	for _, item := range reopened.Thread().Snapshot().Items.All() {
		if m, ok := item.(*thread.Message); ok && m.Role == thread.RoleUser {
			shown++
		}
	}
	assert.Equal(t, 2, shown, "both prompts are in the history")
}

// Their router tells an agent of version 1 nothing of files when it is asked for version 2,
// so the client asks again for version 1: over the same stream, or, because their servers
// take one initialize, over another one. The agent can read and write files then.
func TestNegotiateFilesWithTypeScriptRouter(t *testing.T) {
	t.Parallel()
	for transport, dial := range waysTo(t, "v2/router.mjs", "ACP_ROUTE=1") {
		for _, again := range []bool{true, false} {
			name := transport
			if !again {
				name += " that cannot be dialed again"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
				defer cancel()
				h := newGoClient(t)
				opts := &connect.Options{Logger: pairtest.StrictLogger(t), V1: h.of, InitializeV1: &acp.InitializeRequest{ClientCapabilities: client.Capabilities(h)}, ConnV1: &client.Options{Unstable: true}}
				var conn *connect.Conn
				var err error
				if again {
					conn, err = connect.Connect(ctx, connect.Dial(dial), opts)
				} else {
					s, dialErr := dial(ctx)
					require.NoError(t, dialErr)
					conn, err = connect.ConnectOver(ctx, s, opts)
				}
				require.NoError(t, err)
				defer func() {
					assert.NoError(t, conn.Close())
					assert.NoError(t, conn.Wait())
				}()
				require.Equal(t, 1, conn.ProtocolVersion())
				session, err := conn.StartSession(ctx, &connect.SessionParams{Cwd: h.dir})
				require.NoError(t, err)
				if !again && transport != "stdio" { // without files, but it works
					turn, err := session.Prompt(ctx, connect.Text("say yes")).Wait()
					require.NoError(t, err)
					assert.Equal(t, "end_turn", turn.StopReason)
					return
				}
				_, err = session.Prompt(ctx, connect.Text("files")).Wait()
				require.NoError(t, err)
				text, err := os.ReadFile(filepath.Join(h.dir, "file.txt"))
				require.NoError(t, err)
				assert.Equal(t, "one\ntwo\nthree\nfour\n", string(text))
			})
		}
	}
}

// Where there is no common version, the error names the versions of both ends, whichever
// client asks.
func TestVersionErrorsOfTypeScript(t *testing.T) {
	t.Parallel()
	negotiated := func(only int) func(context.Context, way) error {
		return func(ctx context.Context, dial way) error {
			_, err := connect.Connect(ctx, connect.Dial(dial), &connect.Options{Only: only})
			return err
		}
	}
	clients := map[string]func(context.Context, way) error{
		"version 1": func(ctx context.Context, dial way) error {
			s, err := dial(ctx)
			require.NoError(t, err)
			_, err = client.Connect(ctx, s, newGoClient(t).of, &client.Options{Unstable: true})
			return err
		},
		"version 2": func(ctx context.Context, dial way) error {
			s, err := dial(ctx)
			require.NoError(t, err)
			_, err = client2.Connect(ctx, s, func(*client2.Conn) acp2.Client { return newGoClient2() }, &client2.Options{Unstable: true})
			return err
		},
		"negotiate, version 1 alone": negotiated(1),
		"negotiate, version 2 alone": negotiated(2),
	}
	refused := acp.VersionError{Requested: 1, Own: []int{1}, Supported: []int{2}}
	lowered := acp.VersionError{Requested: 2, Own: []int{2}, Answered: 1}
	for _, c := range []struct {
		client, peer string
		want         acp.VersionError
	}{
		{"version 1", "the agent of version 2", refused},
		{"version 1", "the router of version 2 alone", refused},
		{"version 2", "the agent of version 1", lowered},
		{"version 2", "the router of version 1 alone", lowered},
		{"negotiate, version 1 alone", "the agent of version 2", refused},
		{"negotiate, version 1 alone", "the router of version 2 alone", refused},
		{"negotiate, version 2 alone", "the agent of version 1", lowered},
		{"negotiate, version 2 alone", "the router of version 1 alone", lowered},
	} {
		t.Run(c.client+" with "+c.peer, func(t *testing.T) {
			t.Parallel()
			peer := theirEndpoints[c.peer]
			transport := "stdio"
			if peer.variables != nil { // a router: one of each kind over the network is enough
				transport = "HTTP"
			}
			var got *acp.VersionError
			require.ErrorAs(t, clients[c.client](t.Context(), waysTo(t, peer.script, peer.variables...)[transport]), &got)
			if got.Supported != nil {
				hasCode(t, rpcerr.CodeUnsupportedProtocolVersion, got.Err)
			}
			said := *got
			said.Err = nil
			assert.Equal(t, c.want, said)
		})
	}
}
