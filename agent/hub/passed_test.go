package hub_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/stream"
)

// Suggestions and cursors reach the clients that are attached and show them, if the program has advertised them to
// the agent. They are no part of what a later client gets.
func TestSuggestionsAndCursors(t *testing.T) {
	shows := &acp.InitializeRequest{ClientCapabilities: &acp.ClientCapabilities{Session: &acp.ClientSessionCapabilities{
		PromptSuggestions: &acp.PromptSuggestionsCapabilities{}, Cursors: &acp.SessionCursorsCapabilities{},
	}}}
	for name, told := range map[string]*acp.InitializeRequest{"advertised": shows, "not advertised": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
					for _, u := range []acp.SessionUpdate{
						&acp.PromptSuggestionsUpdate{Suggestions: []acp.PromptSuggestion{{Prompt: []acp.ContentBlock{acp.Text("go on")}}}},
						&acp.CursorUpdate{CursorID: "c", Anchor: &acp.CursorUserMessageAnchor{MessageID: "m", Position: "before"}},
					} {
						var lacks *acp.CapabilityError
						if err := s.Update(ctx, u); told != nil {
							assert.NoError(t, err)
						} else {
							assert.ErrorAs(t, err, &lacks)
						}
					}
					return acp.StopReasonEndTurn, s.Message(ctx, "done")
				}}
				h := start(t, w, &hub.Options{Agent: supervise.Options{Initialize: told}})
				seen := func(u *user, id acp.SessionID) [2]int {
					synctest.Wait()
					now := u.threads.Thread(id).Snapshot()
					return [2]int{len(now.Suggestions), now.Cursors.Len()}
				}
				showing := func() *user {
					u := &user{t: t}
					near, far := stream.Pipe()
					u.connect(near, far, h, "")
					_, err := u.conn.Initialize(t.Context(), shows)
					require.NoError(t, err)
					return u
				}
				a, b, c := showing(), join(t, h, ""), showing()
				s := a.open()
				b.load(s.ID())
				a.prompt(s, "go")
				want := [2]int{}
				if told != nil {
					want = [2]int{1, 1}
				}
				assert.Equal(t, want, seen(a, s.ID()))
				assert.Equal(t, [2]int{}, seen(b, s.ID()), "it shows neither")
				c.load(s.ID())
				assert.Equal(t, [2]int{}, seen(c, s.ID()), "it came later")
			})
		})
	}
}
