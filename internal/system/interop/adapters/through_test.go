package adapters_test

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/proxy"
	"github.com/acpkit/go-sdk/client"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	fromv1 "github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// The agents are reached through other parts of this module: the network, the proxy, and the
// adapter that serves what the agents say in version 1 to a client of version 2.
func TestThrough(t *testing.T) {
	for name, link := range map[string]func(*testing.T, stream.Stream) stream.Stream{
		"proxy": throughProxy, "adapter": throughAdapter, "WebSocket": throughNetwork("ws"), "HTTP": throughNetwork("http"),
	} {
		t.Run(name, func(t *testing.T) {
			eachAdapter(t, func(t *testing.T, a *adapter) {
				place := newWorkplace(t, a)
				c := converseOver(t, place, link)
				c.plain = name == "adapter"
				c.start(t)
				c.turns(t)
				t.Run("form", c.form)
				t.Run("close", c.close)
				t.Run("replay", c.replay)
				t.Run("delete", c.delete)
			})
		})
	}
}

func throughProxy(t *testing.T, process stream.Stream) stream.Stream {
	near, far := stream.Pipe()
	ended := make(chan error, 1)
	go func() { // ends with the connection
		ended <- proxy.New(far, process, &proxy.Options{Logger: pairtest.StrictLogger(t)}).Run(context.Background())
	}()
	t.Cleanup(func() { assert.NoError(t, <-ended) })
	return near
}

func throughAdapter(t *testing.T, process stream.Stream) stream.Stream {
	near, far := stream.Pipe()
	log := pairtest.StrictLogger(t)
	newV1 := func(caller *agent.Conn) acp.Agent {
		c := client.New(process, func(*client.Conn) acp.Client { return caller }, &client.Options{Unstable: true, Logger: log})
		require.NoError(t, c.Start(context.Background()))
		caller.OnEnd(func() { _ = c.Close() })
		return c
	}
	ended := make(chan error, 1)
	go func() { // ends with the connection
		ended <- agent2.Serve(context.Background(), far, fromv1.FromV1(newV1, &fromv1.Options{Agent: &agent.Options{Unstable: true, Logger: log}, Logger: log}),
			&agent2.Options{Unstable: true, Logger: log})
	}()
	t.Cleanup(func() { assert.NoError(t, <-ended) })
	return near
}

// throughNetwork serves the process at an address, as examples/bridge does.
func throughNetwork(scheme string) func(*testing.T, stream.Stream) stream.Stream {
	return func(t *testing.T, process stream.Stream) stream.Stream {
		handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
			defer context.AfterFunc(ctx, func() { _ = process.Close() })()
			return stream.Forward(s, process)
		}, &remote.Options{Logger: pairtest.StrictLogger(t)})
		server := httptest.NewServer(handler)
		t.Cleanup(func() {
			assert.NoError(t, handler.Shutdown(context.Background()))
			server.Close()
		})
		s, err := remote.Dial(t.Context(), scheme+strings.TrimPrefix(server.URL, "http"), nil)
		require.NoError(t, err)
		return s
	}
}

// The program that users start from holds a turn with each agent.
func TestChat(t *testing.T) {
	program := filepath.Join(t.TempDir(), "chat")
	eachAdapter(t, func(t *testing.T, a *adapter) {
		if _, err := os.Stat(program); err != nil {
			out, err := exec.Command("go", "build", "-o", program, "github.com/acpkit/go-sdk/examples/chat").CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
		place := newWorkplace(t, a)
		agent := place.command()
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-yes", "-prompt", scriptMark + place.writing(t), "--"}, agent.Args...)...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = place.dir, place.env, time.Second
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "Written.")
		assert.Contains(t, string(out), "  + new\n")
		assert.LessOrEqual(t, strings.Count(string(out), "? write"), 1, "%s", out)
		assert.Equal(t, "new\n", place.text(t))
	})
}

// The example of a client of both versions holds a turn with each agent, in each version.
func TestChatOfBothVersions(t *testing.T) {
	program := filepath.Join(t.TempDir(), "chat")
	eachAdapter(t, func(t *testing.T, a *adapter) {
		if _, err := os.Stat(program); err != nil {
			out, err := exec.Command("go", "build", "-o", program, "github.com/acpkit/go-sdk/draft2/examples/chat").CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
		for _, only := range []string{"1", "2", "0"} {
			t.Run(only, func(t *testing.T) {
				place := newWorkplace(t, a)
				cmd := exec.CommandContext(t.Context(), program, append([]string{"-yes", "-only", only}, place.command().Args...)...)
				cmd.Stdin = strings.NewReader(scriptMark + place.writing(t) + "\n")
				cmd.Dir, cmd.Env, cmd.WaitDelay = place.dir, place.env, time.Second
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
				assert.Contains(t, string(out), "Written.")
			})
		}
	})
}
