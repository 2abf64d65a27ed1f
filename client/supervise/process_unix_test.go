//go:build unix

package supervise_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// playAgent makes the test binary an agent. Its value is the name of a file, to which the agent
// writes the id of the process that it starts.
const playAgent = "ACPKIT_TEST_SUPERVISED"

func TestMain(m *testing.M) {
	if notes := os.Getenv(playAgent); notes != "" {
		// The process ignores SIGTERM, as processes of agents sometimes do.
		child := exec.Command("sh", "-c", `trap "" TERM; while :; do sleep 0.05; done`)
		if err := child.Start(); err != nil {
			panic(err)
		}
		f, err := os.OpenFile(notes, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(f, child.Process.Pid)
		f.Close()
		_ = agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent { return mortal{&worldAgent{&world{}, c}} }, nil)
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// mortal is an agent whose process exits when it receives a prompt.
type mortal struct{ *worldAgent }

func (a mortal) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil
}

func (a mortal) Prompt(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) {
	fmt.Fprintln(os.Stderr, "out of cheese")
	os.Exit(3)
	return nil, nil
}

// If the process exits before it has answered, the error has its status and the end of its standard
// error. It is returned at once, and the process is not started again.
func TestProcessThatDoesNotStart(t *testing.T) {
	starts := 0
	k := newKeeper(t, &world{}, func(o *supervise.Options) {
		o.Restart.Min = time.Hour
		o.Dial = stream.CommandDial(func() *exec.Cmd {
			starts++
			return exec.Command("sh", "-c", "echo no such model >&2; exit 4")
		}, nil)
	})
	err := k.Start(context.Background())
	var exit *stream.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 4, exit.Status)
	assert.Contains(t, exit.Stderr, "no such model")
	assert.Equal(t, 1, starts)
	assert.Empty(t, k.downs)
	assert.Equal(t, err, k.Wait())
}

// If the agent's process exits during a turn, the error of the turn has the exit status and the end
// of its standard error. The processes that the agent started end with the connection.
func TestProcess(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "children")
	w := &world{}
	k := newKeeper(t, w, func(o *supervise.Options) {
		o.Restart.Min = time.Millisecond
		o.Dial = stream.CommandDial(func() *exec.Cmd {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), playAgent+"="+notes)
			return cmd
		}, &stream.CommandOptions{Grace: 100 * time.Millisecond})
		o.Client = func(*client.Conn) acp.Client { return &person{make(chan error, 1)} }
	})
	require.NoError(t, k.Start(context.Background()))
	s, err := k.Open(t.Context(), &supervise.SessionOptions{Cwd: t.TempDir()})
	require.NoError(t, err)
	var exit *stream.ExitError
	require.ErrorAs(t, prompt(t, s, "x"), &exit)
	assert.Equal(t, 3, exit.Status)
	assert.Contains(t, exit.Stderr, "out of cheese")
	require.ErrorAs(t, (<-k.downs).Err, &exit)
	assert.Equal(t, supervise.HowNew, (<-k.returns).How)
	k.Close()
	require.NoError(t, k.Wait())

	b, err := os.ReadFile(notes)
	require.NoError(t, err)
	children := strings.Fields(string(b))
	require.Len(t, children, 2)
	for _, c := range children {
		pid, err := strconv.Atoi(c)
		require.NoError(t, err)
		leak.CheckProcess(t, pid)
	}
}
