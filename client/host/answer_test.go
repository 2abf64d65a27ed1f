package host_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
)

// A program with a host and threads needs nothing in between for its buttons: questions of the agent, and those
// about what it does without asking, are in the list of the thread and are answered by their keys.
func TestQuestionsAreAnsweredInTheThread(t *testing.T) {
	dir := t.TempDir()
	x := newFixture(t, host.Options{Roots: []string{dir}, Ask: permission.InThread, Permission: &permission.Options{Concurrent: true}})
	threads := new(thread.Set)
	x.around = threads.Client
	x.connect(&client.Options{Sending: []acp.Middleware{threads.Sending}})
	session, err := x.conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: dir})
	require.NoError(t, err)
	th := threads.Thread(session.ID())
	x.agent.turn = func(ctx context.Context, id acp.SessionID) error {
		_, err := x.agent.RequestPermission(ctx, &acp.RequestPermissionRequest{SessionID: id, ToolCall: acp.ToolCallUpdate{ToolCallID: "1", Title: "Write"},
			Options: []acp.PermissionOption{{OptionID: "y", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}}})
		if err != nil {
			return err
		}
		_, err = x.agent.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: id, Path: filepath.Join(dir, "a"), Content: "new"})
		return err
	}
	turn := session.Prompt(t.Context(), acp.Text("go"))
	var asked [][]string
	for s := range th.Watch(t.Context()) {
		for _, p := range s.Permissions {
			if p.Lines != nil && th.Answer(p.Key, p.Options[0].ID) == nil {
				asked = append(asked, append(p.Lines, p.Options[0].Label))
			}
		}
		if len(asked) == 2 {
			break
		}
	}
	_, err = turn.Wait()
	require.NoError(t, err)
	written, err := os.ReadFile(filepath.Join(dir, "a"))
	require.NoError(t, err)
	assert.Equal(t, "new", string(written))
	folder, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	assert.Equal(t, [][]string{
		{`the agent asks: "Write"`, "(the agent did not say what it will do)", "Allow once"}, {"write " + filepath.Join(folder, "a"), "Allow once"},
	}, asked)
}
