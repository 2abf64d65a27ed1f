//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/serve"
	thread2 "github.com/acpkit/go-sdk/draft2/thread"
	"github.com/acpkit/go-sdk/examples/agent/worker"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// consenting is a client of version 2 that allows everything.
type consenting struct{ asked int }

func (c *consenting) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	c.asked++
	return acp.SelectKind(req.Options, acp.PermissionOptionKindAllowOnce), nil
}

func (c *consenting) SessionUpdate(context.Context, *acp.UpdateSessionNotification) error {
	return nil
}

// open opens a session for a client of version 2, until the test ends.
func open(t *testing.T, own bool, c acp.Client, folder string) (*client.Conn, *client.Session) {
	t.Helper()
	conn := client.New(begin(t, own), func(*client.Conn) acp.Client { return c }, nil)
	require.NoError(t, conn.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		assert.NoError(t, conn.Wait())
	})
	_, err := conn.Initialize(t.Context(), &acp.InitializeRequest{Info: acp.Implementation{Name: "c", Version: "1"}})
	require.NoError(t, err)
	session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: acp.AbsolutePath(folder)})
	require.NoError(t, err)
	return conn, session
}

// begin serves the agent to the returned stream.
func begin(t *testing.T, own bool) stream.Stream {
	t.Helper()
	a, err := worker.Open(t.TempDir(), own)
	require.NoError(t, err)
	near, far := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve.Serve(context.WithoutCancel(t.Context()), far, a.Agent, nil) }() // ends with near
	t.Cleanup(func() {
		assert.NoError(t, near.Close())
		assert.NoError(t, <-served)
	})
	return near
}

// A client of version 2 has no files and terminals, so the agent uses its own.
func TestVersion2(t *testing.T) {
	for _, own := range []bool{true, false} {
		folder, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
		require.NoError(t, os.WriteFile(filepath.Join(folder, "notes"), []byte("one\ntwo\nthree\n"), 0o600))
		require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "empty"), nil, 0o600))
		require.NoError(t, os.Symlink(outside, filepath.Join(folder, "link")))
		c := &consenting{}
		_, session := open(t, own, c, folder)
		for _, tt := range []struct{ prompt, says string }{
			{"read notes", "notes has 3 lines."},
			{"read notes from line 2 for 1 lines", "two\n"},
			{"read none", "does not exist"},
			{"read empty", "empty has no such lines."},
			{"read " + outside, "outside of the folders of the session"},
			{"read link", "did not work"},
			{`edit notes: replace "two" with "2"`, "Wrote"},
			{`edit notes: replace "two" with "2"`, "does not occur in it"},
			{"write new: text", "Wrote"},
			{"append to new: more", "Wrote"},
			{"run cat notes new", "one\n2\nthree\ntext\nmore\n"},
			{"run exit 3", "[exit code 3]"},
			{`search "three"`, "occurs on 1 line"},
		} {
			text, err := session.Prompt(t.Context(), acp.Text(tt.prompt)).Text()
			require.NoError(t, err)
			if own {
				assert.Contains(t, text, tt.says, tt.prompt)
			} else {
				assert.Contains(t, text, "this client does not offer it", tt.prompt)
			}
			assert.NotContains(t, text, "secret\n", tt.prompt)
		}
		if own {
			assert.Equal(t, 5, c.asked)
		}
	}
}

// viewing is a client of version 2 that shows a session.
type viewing struct {
	consenting
	shown *thread.Thread
}

func (c *viewing) SessionUpdate(_ context.Context, n *acp.UpdateSessionNotification) error {
	thread2.Apply(c.shown, n.Update)
	return nil
}

// If a client resumes a session that it shows, with its history, it shows the same as before.
func TestReplayOfWhatIsShown(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes"), []byte("one\n"), 0o600))
	c := &viewing{shown: thread.New()}
	conn, session := open(t, true, c, folder)
	for _, prompt := range []string{"help", "read notes"} {
		_, err := session.Prompt(t.Context(), acp.Text(prompt)).Wait()
		require.NoError(t, err)
	}
	items := func() []thread.Item { return c.shown.Snapshot().Items.Slice() }
	before := items()
	require.Len(t, before, 5, "two prompts, two answers and a tool call")
	_, err := conn.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: session.ID(), Cwd: acp.AbsolutePath(folder), ReplayFrom: &acp.ReplayFromStart{}})
	require.NoError(t, err)
	assert.Equal(t, before, items())
	_, err = conn.ListSessions(t.Context(), &acp.ListSessionsRequest{Cursor: new(acp.SessionListCursor("elsewhere"))})
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
}
