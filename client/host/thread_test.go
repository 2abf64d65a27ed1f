package host_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/leak"
)

// A program with a host and threads sees the commands of the agent in its tool calls: the running
// command, its output so far, and how it ended. It can stop a command.
func TestThreadShowsTerminals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sh")
	}
	leak.Check(t)
	x := newFixture(t, host.Options{Terminals: &terminals.Options{}, Ask: pick(permission.AllowOnce)})
	threads := new(thread.Set)
	x.around = threads.Client
	x.connect(&client.Options{Sending: []acp.Middleware{threads.Sending}})
	s := x.agent
	exits := make(chan *acp.WaitForTerminalExitResponse, 2)
	s.turn = func(ctx context.Context, id acp.SessionID) error {
		for i, line := range []string{"echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 3", "echo asleep; exec sleep 1000"} {
			call := acp.ToolCallID([]string{"grows", "sleeps"}[i])
			err := s.SessionUpdate(ctx, &acp.SessionNotification{SessionID: id, Update: &acp.ToolCall{ToolCallID: call, Title: "Run"}})
			if err != nil {
				return err
			}
			res, err := s.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: id, Command: line})
			if err != nil {
				return err
			}
			err = s.SessionUpdate(ctx, &acp.SessionNotification{SessionID: id, Update: &acp.ToolCallUpdate{
				ToolCallID: call, Content: []acp.ToolCallContent{&acp.Terminal{TerminalID: res.TerminalID}},
			}})
			if err != nil {
				return err
			}
			exit, err := s.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: id, TerminalID: res.TerminalID})
			if err != nil {
				return err
			}
			exits <- exit
			if _, err := s.ReleaseTerminal(ctx, &acp.ReleaseTerminalRequest{SessionID: id, TerminalID: res.TerminalID}); err != nil {
				return err
			}
		}
		return nil
	}
	turn := x.session.Prompt(t.Context(), acp.Text("go"))

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// shown waits until ok reports true for the terminal of a tool call.
	shown := func(call string, ok func(*thread.Terminal) bool) *thread.Terminal {
		for snapshot := range threads.Thread("s").Watch(ctx) {
			if c := snapshot.ToolCall(call); c != nil && c.Content.Len() > 0 {
				if terminal := snapshot.Terminal(c.Content.At(0).TerminalID); terminal != nil && ok(terminal) {
					return terminal
				}
			}
		}
		require.FailNow(t, "the terminal of the call is not shown", call)
		return nil
	}
	ended := func(terminal *thread.Terminal) bool { return terminal.Exit != nil }
	one := shown("grows", func(terminal *thread.Terminal) bool { return string(terminal.Output) == "one\n" })
	assert.Equal(t, "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 3", one.Command)
	assert.Equal(t, x.dir, one.Cwd)
	assert.Nil(t, one.Exit)
	assert.True(t, one.Cancellable)
	require.NoError(t, os.WriteFile(x.path("go"), nil, 0o600))
	two := shown("grows", ended)
	assert.Equal(t, "one\ntwo\n", string(two.Output))
	assert.Equal(t, &thread.Exit{Code: new(int64(3))}, two.Exit)
	assert.EqualValues(t, 3, *(<-exits).ExitCode)
	assert.False(t, two.Stop())

	asleep := shown("sleeps", func(terminal *thread.Terminal) bool { return string(terminal.Output) == "asleep\n" })
	require.True(t, asleep.Stop())
	assert.Equal(t, &thread.Exit{Signal: "SIGTERM"}, shown("sleeps", ended).Exit)
	assert.Equal(t, "SIGTERM", (<-exits).Signal)
	_, err := turn.Wait()
	require.NoError(t, err)
}
