package examples_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// viewer is a client of version 2 that shows nothing.
type viewer struct{}

func (viewer) SessionUpdate(context.Context, *acp.UpdateSessionNotification) error { return nil }
func (viewer) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

// The smallest agent of version 2 keeps the promises of the protocol.
func TestEcho2(t *testing.T) {
	leak.Check(t)
	process, err := stream.Command(exec.Command(filepath.Join(programs, "echo2")), nil)
	require.NoError(t, err)
	conn, err := client.Connect(t.Context(), process, func(*client.Conn) acp.Client { return viewer{} }, nil)
	require.NoError(t, err)
	session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	first, second := session.Prompt(t.Context(), acp.Text("one")), session.Prompt(t.Context(), acp.Text("two"))
	for turn, want := range map[*client.Turn]string{first: "You said: one", second: "You said: two"} {
		text, err := turn.Text()
		require.NoError(t, err)
		assert.Equal(t, want, text)
		end, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, end.StopReason)
	}
	for range conn.Sessions(t.Context(), nil) {
		t.Error("it stores no sessions")
	}
	_, err = conn.StartResumedSession(t.Context(), &acp.ResumeSessionRequest{SessionID: "other", Cwd: "/"}, nil)
	assert.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
	require.NoError(t, session.Close(t.Context()))
	require.NoError(t, conn.Close())
	assert.NoError(t, conn.Wait())
}
