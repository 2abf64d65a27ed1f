package hub_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Watch shows a session that is only stored without the agent, then its questions and messages, until the session is deleted.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(journal.Memory)
		h := start(t, &worker{turn: says("before")}, &hub.Options{Store: store})
		a := join(t, h, "")
		s := a.open()
		a.prompt(s, "one")
		require.NoError(t, h.Shutdown(t.Context()))

		w := &worker{turn: asks}
		h = restart(t, w, &hub.Options{Store: store})
		snapshots := make(chan *thread.Snapshot, 1000)
		go func() { // ends with the session
			defer close(snapshots)
			for x, err := range h.Watch(t.Context(), s.ID()) {
				assert.NoError(t, err)
				snapshots <- x
			}
		}()
		until := func(ok func(*thread.Snapshot) bool) {
			for x := range snapshots {
				if ok(x) {
					return
				}
			}
			require.Fail(t, "the conversation never becomes so")
		}
		until(func(x *thread.Snapshot) bool { return x.Items.Len() == 2 })
		assert.Zero(t, w.started)

		b := join(t, h, "")
		answer := make(chan struct{})
		b.answer = func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			<-answer
			return acp.Selected("no"), nil
		}
		turn := b.load(s.ID()).Prompt(t.Context(), acp.Text("two"))
		until(func(x *thread.Snapshot) bool { return len(x.Permissions) == 1 })
		close(answer)
		until(func(x *thread.Snapshot) bool { return len(x.Permissions) == 0 })
		_, err := turn.Wait()
		require.NoError(t, err)
		_, err = b.conn.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: s.ID()})
		require.NoError(t, err)
		for range snapshots {
		}
		for x, err := range h.Watch(t.Context(), s.ID()) {
			assert.Nil(t, x)
			require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
		}
	})
}
