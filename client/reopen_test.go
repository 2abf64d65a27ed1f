package client_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// A turn whose updates would go elsewhere must not look like one without any.
func TestTurnOfAClosedSession(t *testing.T) {
	const caps = `{"sessionCapabilities":{"close":{},"delete":{}}}`
	for name, end := range map[string]func(context.Context, *client.Conn, *client.Session, *peertest.Raw) error{
		"closed": func(ctx context.Context, _ *client.Conn, s *client.Session, peer *peertest.Raw) error {
			go func() { peer.Answer(peer.Expect("session/close"), `{}`) }() // ends with the answer
			return s.Close(ctx)
		},
		"deleted": func(ctx context.Context, _ *client.Conn, s *client.Session, peer *peertest.Raw) error {
			go func() { peer.Answer(peer.Expect("session/delete"), `{}`) }() // ends with the answer
			return s.Delete(ctx)
		},
		"closed by the plain method": func(ctx context.Context, c *client.Conn, _ *client.Session, peer *peertest.Raw) error {
			go func() { peer.Answer(peer.Expect("session/close"), `{}`) }() // ends with the answer
			_, err := c.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: "s1"})
			return err
		},
		"deleted by name": func(ctx context.Context, c *client.Conn, _ *client.Session, peer *peertest.Raw) error {
			go func() { peer.Answer(peer.Expect("session/delete"), `{}`) }() // ends with the answer
			return c.Call(ctx, "session/delete", &acp.DeleteSessionRequest{SessionID: "s1"}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, peer := open(t, &peertest.Client{}, caps, nil)
			s := c.Session("s1")
			require.NoError(t, end(t.Context(), c, s, peer))
			_, err := s.Prompt(t.Context(), acp.Text("go")).Wait()
			assert.ErrorIs(t, err, client.ErrSessionClosed)

			again := c.Session("s1")
			go func() { peer.Answer(peer.Expect("session/prompt"), `{"stopReason":"end_turn"}`) }() // ends with the answer
			_, err = again.Prompt(t.Context(), acp.Text("go")).Wait()
			assert.NoError(t, err)
		})
	}
}

// Where agents cannot close sessions a client must still be able to let go of one.
func TestCloseWithoutTheCapabilityEndsTheSession(t *testing.T) {
	c, _ := open(t, &peertest.Client{}, `{}`, nil)
	s := c.Session("s1")
	var missing *acp.CapabilityError
	require.ErrorAs(t, s.Close(t.Context()), &missing)
	_, err := s.Prompt(t.Context(), acp.Text("go")).Wait()
	assert.ErrorIs(t, err, client.ErrSessionClosed)
}

// A session that is open stays so when opening it once more fails.
func TestFailedLoadLeavesTheSessionThatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := open(t, &peertest.Client{}, `{"loadSession":true}`, nil)
		var r, other recorder
		s := c.Session("s1")
		s.OnUpdate(r.add)
		go func() { peer.Fail(peer.Expect("session/load"), -32603, "no") }() // ends with the answer
		_, err := c.StartLoadedSession(t.Context(), &acp.LoadSessionRequest{SessionID: "s1", Cwd: "/"}, other.add)
		require.Error(t, err)
		_, err = c.StartResumedSession(t.Context(), &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/"})
		require.Error(t, err, "the agent does not advertise it")

		peer.Update("s1", "still here")
		synctest.Wait()
		assert.Equal(t, []string{"still here"}, r.texts)
		assert.Empty(t, other.texts)
		assert.Same(t, s, c.Session("s1"))
	})
}

// There is one Session for each session, however often it is opened.
func TestOpenSessionIsLoadedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := open(t, &peertest.Client{}, `{"loadSession":true}`, nil)
		var before, replayed recorder
		s := c.Session("s1")
		s.OnUpdate(before.add)
		go func() { // ends with the last answer
			m := peer.Expect("session/load")
			peer.Update("s1", "history")
			peer.Answer(m, `{}`)
			m = peer.Expect("session/prompt")
			peer.Update("s1", "news")
			peer.Answer(m, `{"stopReason":"end_turn"}`)
		}()
		again, err := c.StartLoadedSession(t.Context(), &acp.LoadSessionRequest{SessionID: "s1", Cwd: "/"}, replayed.add)
		require.NoError(t, err)
		assert.Same(t, s, again)
		assert.Empty(t, before.texts)
		assert.Equal(t, []string{"history"}, replayed.texts)
		text, err := s.Prompt(t.Context(), acp.Text("go")).Text()
		require.NoError(t, err)
		assert.Equal(t, "news", text)
	})
}

func TestSessionIsNotLoadedDuringATurn(t *testing.T) {
	c, peer := open(t, &peertest.Client{}, `{"loadSession":true}`, nil)
	turn := c.Session("s1").Prompt(t.Context(), acp.Text("go"))
	m := peer.Expect("session/prompt")
	_, err := c.StartLoadedSession(t.Context(), &acp.LoadSessionRequest{SessionID: "s1", Cwd: "/"}, nil)
	assert.ErrorIs(t, err, acp.ErrTurnRunning)
	peer.Answer(m, `{"stopReason":"end_turn"}`)
	_, err = turn.Wait()
	assert.NoError(t, err)
}
