package client_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// If the agent cannot close sessions, Close still ends the session for the client.
func TestCloseWithoutTheCapabilityEndsTheSession(t *testing.T) {
	c, _ := open(t, &peertest.Client{}, `{}`, nil)
	s := c.Session("s1")
	var missing *acp.CapabilityError
	require.ErrorAs(t, s.Close(t.Context()), &missing)
	_, err := s.Prompt(t.Context(), acp.Text("go")).Wait()
	assert.ErrorIs(t, err, client.ErrSessionClosed)
}

// An open session stays open if opening it again fails.
func TestFailedLoadLeavesTheSessionThatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := open(t, &peertest.Client{}, `{"loadSession":true}`, nil)
		var r, other recorder
		s := c.Session("s1")
		s.OnUpdate(r.add)
		go func() { peer.Fail(peer.Expect("session/load"), -32603, "no") }() // ends with the response
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

// Two loads of one session run at once. The one that fails removes neither the Session of the other
// nor its function for updates.
func TestTwoLoadsAtOnce(t *testing.T) {
	for _, tt := range []struct {
		name            string
		failFirst       bool // whether the first load fails
		responsesInTurn bool // whether the first load's response comes first
	}{
		{"the first fails first", true, true},
		{"the first fails last", true, false},
		{"the second fails first", false, false},
		{"the second fails last", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				c, peer := open(t, &peertest.Client{}, `{"loadSession":true}`, nil)
				type loaded struct {
					s   *client.Session
					err error
				}
				var heard [2]recorder
				var done [2]chan loaded
				var asked [2]rawpeer.Message
				for i := range done {
					done[i] = make(chan loaded, 1)
					go func() { // ends with the response
						s, err := c.StartLoadedSession(t.Context(), &acp.LoadSessionRequest{SessionID: "s1", Cwd: "/"}, heard[i].add)
						done[i] <- loaded{s, err}
					}()
					asked[i] = peer.Expect("session/load")
				}
				bad := 1
				if tt.failFirst {
					bad = 0
				}
				good := 1 - bad
				order := []int{1, 0}
				if tt.responsesInTurn {
					order = []int{0, 1}
				}
				var got [2]loaded
				for _, i := range order {
					if i == bad {
						peer.Fail(asked[i], -32603, "no")
					} else {
						peer.Answer(asked[i], `{}`)
					}
					got[i] = <-done[i]
				}
				require.Error(t, got[bad].err)
				require.NoError(t, got[good].err)
				assert.Same(t, got[good].s, c.Session("s1"))
				peer.Update("s1", "live")
				synctest.Wait()
				assert.Equal(t, []string{"live"}, heard[good].texts)
				assert.Empty(t, heard[bad].texts)
				turn := got[good].s.Prompt(t.Context(), acp.Text("go"))
				m := peer.Expect("session/prompt")
				peer.Update("s1", "one")
				peer.Answer(m, endTurn)
				text, err := turn.Text()
				require.NoError(t, err)
				assert.Equal(t, "one", text)
			})
		})
	}
}
