package interop_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

// connected connects our client over s. The connection is closed when the test ends.
func connected(t *testing.T, s stream.Stream, newClient func(*client.Conn) acp.Client) *client.Conn {
	t.Helper()
	conn := connectMortal(t, s, newClient)
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		assert.NoError(t, conn.Wait())
	})
	return conn
}

// connectMortal is connect for an agent that ends before the connection is closed.
func connectMortal(t *testing.T, s stream.Stream, newClient func(*client.Conn) acp.Client) *client.Conn {
	t.Helper()
	conn := client.New(s, newClient, &client.Options{Unstable: true, Logger: pairtest.StrictLogger(t), OnDropped: noDrop(t)})
	require.NoError(t, conn.Start(context.Background()))
	t.Cleanup(func() {
		conn.Close()
		conn.Wait()
	})
	return conn
}

// spawn starts an agent as a child process. Whoever connects to it closes the connection
// when the test ends, and then the process has to end by itself.
func spawn(t *testing.T, cmd *exec.Cmd) *stream.Process {
	t.Helper()
	process, err := stream.Command(cmd, &stream.CommandOptions{
		OnNoise: func(line string) { t.Errorf("%v wrote what is no message: %s", cmd.Args, line) },
		Grace:   time.Minute, // many programs run at the same time
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, process.Wait(), "%v ends by itself when its input does; stderr: %s", cmd.Args, process.Stderr())
	})
	return process
}

// noDrop makes the test fail for a notification that cannot be decoded.
func noDrop(t *testing.T) func(string, error) {
	return func(method string, err error) { t.Errorf("dropped %s: %v", method, err) }
}

// caller is a connection of either version.
type caller interface {
	Call(ctx context.Context, method string, params, result any) error
	Notify(ctx context.Context, method string, params any) error
}

// journal is what the agent of peers/README.md was told so far.
func journal(ctx context.Context, t *testing.T, conn caller) []entry {
	t.Helper()
	var all []entry
	require.NoError(t, conn.Call(ctx, "_interop/journal", struct{}{}, &all))
	return all
}

// last is the value of the journal's last entry of that name.
func last(t *testing.T, all []entry, what string) json.RawMessage {
	t.Helper()
	for _, e := range slices.Backward(all) {
		if e.What == what {
			return e.Value
		}
	}
	require.Failf(t, "not told", "no %q in the journal of %d entries", what, len(all))
	return nil
}

// Agents in use send relative paths and empty ids here and there; a client takes them.
// So does one behind a proxy: the rules for what this side sends are for what its own
// program says, not for what it passes on.
func TestProxyIsNoStricterThanAClient(t *testing.T) {
	s := loadSchema(t, 1)
	for name, line := range map[string]string{
		"update": `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit",` +
			`"content":[{"type":"diff","path":"a.txt","newText":"x"}],"locations":[{"path":"a.txt"}]}}}`,
		"request": `{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"a.txt"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newReplay(t, s, false, 1)
				r.run([]recorded{
					{Dir: "send", Raw: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`},
					{Dir: "recv", Raw: `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`},
					{Dir: "send", Raw: `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`},
					{Dir: "recv", Raw: `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}`},
					{Dir: "recv", Raw: line},
				})
				require.False(t, t.Failed())
				assert.Equal(t, 5, r.passed)
			})
		})
	}
}
