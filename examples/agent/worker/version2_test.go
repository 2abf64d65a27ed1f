//go:build unix

package worker

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/serve"
	thread2 "github.com/acpkit/go-sdk/draft2/thread"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// consenting is a client of version 2 that allows everything.
type consenting struct{ asked int }

func (c *consenting) RequestPermission(_ context.Context, req *acp2.RequestPermissionRequest) (*acp2.RequestPermissionResponse, error) {
	c.asked++
	return acp2.SelectKind(req.Options, acp2.PermissionOptionKindAllowOnce), nil
}

func (c *consenting) SessionUpdate(context.Context, *acp2.UpdateSessionNotification) error {
	return nil
}

// open opens a session for a client of version 2, until the test ends.
func open(t *testing.T, own bool, c acp2.Client, folder string) (*client2.Conn, *client2.Session) {
	t.Helper()
	conn := client2.New(begin(t, own), func(*client2.Conn) acp2.Client { return c }, nil)
	require.NoError(t, conn.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		assert.NoError(t, conn.Wait())
	})
	_, err := conn.Initialize(t.Context(), &acp2.InitializeRequest{Info: acp2.Implementation{Name: "c", Version: "1"}})
	require.NoError(t, err)
	session, err := conn.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: acp2.AbsolutePath(folder)})
	require.NoError(t, err)
	return conn, session
}

// begin serves the agent to the returned stream.
func begin(t *testing.T, own bool) stream.Stream {
	t.Helper()
	a, err := New(t.TempDir(), own)
	require.NoError(t, err)
	near, far := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve.Serve(context.WithoutCancel(t.Context()), far, a.Connect, nil) }() // ends with near
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
			text, err := session.Prompt(t.Context(), acp2.Text(tt.prompt)).Text()
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

func (c *viewing) SessionUpdate(_ context.Context, n *acp2.UpdateSessionNotification) error {
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
		_, err := session.Prompt(t.Context(), acp2.Text(prompt)).Wait()
		require.NoError(t, err)
	}
	items := func() []thread.Item { return c.shown.Snapshot().Items.Slice() }
	before := items()
	require.Len(t, before, 5, "two prompts, two answers and a tool call")
	_, err := conn.ResumeSession(t.Context(), &acp2.ResumeSessionRequest{SessionID: session.ID(), Cwd: acp2.AbsolutePath(folder), ReplayFrom: &acp2.ReplayFromStart{}})
	require.NoError(t, err)
	assert.Equal(t, before, items())
	_, err = conn.ListSessions(t.Context(), &acp2.ListSessionsRequest{Cursor: new(acp2.SessionListCursor("elsewhere"))})
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
}

// throwing is a client of version 1 that reports a missing file as an internal error.
type throwing struct {
	peertest.Client
	written string
}

func (c *throwing) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return nil, rpcerr.InternalError(nil) // SDKs respond like this if a handler throws an exception
}

func (c *throwing) WriteTextFile(_ context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	c.written = req.Content
	return nil, nil
}

// A write does not depend on the old text, an append does.
func TestMissingFileOfAClientThatThrows(t *testing.T) {
	c := &throwing{}
	conn := client.New(begin(t, true), func(*client.Conn) acp.Client { return c }, &client.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, conn.Start(t.Context()))
	_, err := conn.Initialize(t.Context(), &acp.InitializeRequest{})
	require.NoError(t, err)
	session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w"})
	require.NoError(t, err)
	text, err := session.Prompt(t.Context(), acp.Text("append to new: more")).Text()
	require.NoError(t, err)
	assert.Contains(t, text, "Internal error")
	assert.Empty(t, c.written)
	text, err = session.Prompt(t.Context(), acp.Text("write new: text")).Text()
	require.NoError(t, err)
	assert.Contains(t, text, "Wrote")
	assert.Equal(t, "text\n", c.written)
	require.NoError(t, conn.Close())
	require.NoError(t, conn.Wait())
}
