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
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// shown is a client that records what it shows, and allows nothing.
type shown struct{ texts, plans, calls []string }

func (s *shown) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		s.texts = append(s.texts, acp.PlainText(u.Content))
	case *acp.Plan:
		s.plans = nil
		for _, e := range u.Entries {
			s.plans = append(s.plans, e.Content+" "+string(e.Status))
		}
	case *acp.ToolCall:
		s.calls = append(s.calls, u.Title+" "+string(u.Status))
	}
	return nil
}

func (*shown) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.SelectKind(req.Options, acp.PermissionOptionKindRejectOnce), nil
}

// dial connects a client without files to an agent that has started, until the test ends.
func dial(t *testing.T, state string) (*client.Conn, *shown) {
	t.Helper()
	a, err := Open(state, true)
	require.NoError(t, err)
	near, far := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- a.Serve(context.WithoutCancel(t.Context()), far) }() // ends with near
	seen := new(shown)
	conn, err := client.Connect(t.Context(), near, func(*client.Conn) acp.Client { return seen }, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		assert.NoError(t, <-served)
		assert.NoError(t, a.Close(context.Background()))
	})
	return conn, seen
}

// A session continues in another process. Files of earlier versions of the program in the same
// folder are not changed.
func TestSessionsAreKept(t *testing.T) {
	state, folder := t.TempDir(), t.TempDir()
	old := filepath.Join(state, "s-sess_OLD.json")
	require.NoError(t, os.WriteFile(old, []byte(`{"id":"sess_OLD","history":[]}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes"), []byte("one\n"), 0o600))

	var id acp.SessionID
	var before []string
	t.Run("first", func(t *testing.T) {
		conn, seen := dial(t, state)
		s, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: folder})
		require.NoError(t, err)
		id = s.SessionID
		_, err = conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("/plan read notes, then run touch made")}})
		require.NoError(t, err)
		_, err = conn.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: auto})
		require.NoError(t, err)
		assert.Equal(t, []string{"Read notes completed", "Run touch made completed"}, seen.plans)
		assert.Contains(t, seen.texts, "Run touch made did not work: you did not allow it.\n")
		assert.Equal(t, "Not everything worked; see above.\n", seen.texts[len(seen.texts)-1])
		before = seen.texts
	})
	conn, seen := dial(t, state)
	listed, err := conn.ListSessions(t.Context(), &acp.ListSessionsRequest{})
	require.NoError(t, err)
	require.Len(t, listed.Sessions, 1)
	assert.Equal(t, "/plan read notes, then run touch made", listed.Sessions[0].Title)
	res, err := conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: folder})
	require.NoError(t, err)
	assert.EqualValues(t, auto, res.Modes.CurrentModeID)
	assert.Equal(t, before, seen.texts)
	assert.Equal(t, []string{"Read notes completed", "touch made failed"}, seen.calls)
	_, err = conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("/write made: x")}})
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(folder, "made"))
	require.NoError(t, err, "nobody is asked")
	assert.Equal(t, "x\n", string(text))
	assert.FileExists(t, old)
}

// throwing is a client that reports a missing file as an internal error.
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

// A file that the agent itself does not see is new.
func TestMissingFileOfAClientThatThrows(t *testing.T) {
	c := &throwing{}
	a, err := Open(t.TempDir(), true)
	require.NoError(t, err)
	near, far := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- a.Serve(context.WithoutCancel(t.Context()), far) }() // ends with near
	conn := client.New(near, func(*client.Conn) acp.Client { return c }, &client.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, conn.Start(t.Context()))
	_, err = conn.Initialize(t.Context(), &acp.InitializeRequest{})
	require.NoError(t, err)
	session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()}) // where the agent sees that there is no file
	require.NoError(t, err)
	text, err := session.Prompt(t.Context(), acp.Text("append to new: more")).Text()
	require.NoError(t, err)
	assert.Contains(t, text, "Wrote")
	assert.Equal(t, "more\n", c.written)
	text, err = session.Prompt(t.Context(), acp.Text("write new: text")).Text()
	require.NoError(t, err)
	assert.Contains(t, text, "Wrote")
	assert.Equal(t, "text\n", c.written)
	require.NoError(t, conn.Close())
	require.NoError(t, conn.Wait())
	require.NoError(t, <-served)
}
