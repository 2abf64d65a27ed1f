package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
)

// answers returns the stored answers to the questions of a session, as "PRINCIPAL OPTION".
func answers(t *testing.T, store journal.Store, id acp.SessionID) []string {
	t.Helper()
	log, err := store.Open(t.Context(), string(id))
	require.NoError(t, err)
	defer func() { require.NoError(t, log.Close()) }()
	var all []string
	for rec, err := range log.Read(t.Context(), 0) {
		require.NoError(t, err)
		var note struct {
			Answer *struct{ Principal, OptionID string }
		}
		if rec.Kind == "hub" {
			require.NoError(t, json.Unmarshal(rec.Data, &note))
		}
		if note.Answer != nil {
			all = append(all, note.Answer.Principal+" "+note.Answer.OptionID)
		}
	}
	return all
}

// Of two things that end a question one holds, whichever comes first and however close together they come: the agent
// gets one outcome, it is the one that is stored, and the session goes on.
func TestAnswerAgainstEverything(t *testing.T) {
	const until = time.Minute // Detached.Question
	type scene struct {
		bob    *user
		id     acp.SessionID
		reply  chan struct{}
		roles  *roles
		hub    *hub.Hub
		worker *worker
	}
	events := []struct {
		name  string
		first string // the outcome if all of it has happened before the other event
		do    func(s *scene)
	}{
		{"answer", "yes", func(s *scene) { close(s.reply) }},
		{"cancel", "none", func(s *scene) {
			_ = s.bob.conn.Cancel(context.Background(), &acp.CancelNotification{SessionID: s.id}) // the connection may have ended
		}},
		{"revocation", "", func(s *scene) { s.roles.set("bob", hub.None); s.hub.Revoke(context.Background(), "bob") }},
		{"detach", "", func(s *scene) { _ = s.bob.conn.Close() }},
		{"agent death", "none", func(s *scene) { s.worker.crash() }},
		{"time-out", "no", func(s *scene) { _ = s.bob.conn.Close(); time.Sleep(until) }},
	}
	for i, x := range events {
		for j, y := range events {
			for _, settled := range []bool{false, true} {
				if i == j {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s, settled=%v", x.name, y.name, settled), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var outcomes []string
						w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
							o, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "call", Title: "rm"}, options...)
							if err != nil {
								outcomes = append(outcomes, "none")
								return "", err
							}
							outcomes = append(outcomes, string(o.OptionID))
							return acp.StopReasonEndTurn, nil
						}}
						store := new(journal.Memory)
						r := &roles{of: map[string]hub.Role{"ann": hub.Control, "bob": hub.Control}}
						h := start(t, w, &hub.Options{Store: store, Principal: byContext, Access: r.access, Detached: hub.Detached{Question: until}})
						ann, bob := join(t, h, "ann"), join(t, h, "bob")
						s := ann.open()
						sc := &scene{bob, s.ID(), make(chan struct{}), r, h, w}
						bob.answer = func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
							<-sc.reply // also if it is withdrawn: late answers are dropped
							return acp.Selected("yes"), nil
						}
						bob.load(s.ID())
						s.Prompt(t.Context(), acp.Text("go"))
						synctest.Wait()
						ann.leave()

						x.do(sc)
						if settled {
							synctest.Wait()
						}
						y.do(sc)
						synctest.Wait()
						time.Sleep(2 * until) // with nobody there, what is still open ends
						if bob.conn.Err() == nil {
							_ = bob.conn.Close()
							time.Sleep(2 * until)
						}
						for info := range h.Sessions() {
							assert.False(t, info.Running)
							assert.Zero(t, info.Questions)
						}
						require.Len(t, outcomes, 1)
						if settled && x.first != "" {
							assert.Equal(t, x.first, outcomes[0])
						}
						ann = join(t, h, "ann")
						ann.answer = selects("no")
						ann.prompt(ann.load(s.ID()), "again")
						assert.Equal(t, "no", outcomes[1])
						require.NoError(t, h.Shutdown(t.Context()))
						stored := answers(t, store, s.ID())
						want := map[string]string{"yes": "bob yes", "no": " no"}[outcomes[0]]
						if x.name == "agent death" || y.name == "agent death" { // an answer may have been on its way
							assert.LessOrEqual(t, len(stored), 2)
							assert.Equal(t, "ann no", stored[len(stored)-1])
						} else if want == "" {
							assert.Equal(t, []string{"ann no"}, stored)
						} else {
							assert.Equal(t, []string{want, "ann no"}, stored)
						}
						assert.Equal(t, []string{"go", "again"}, w.seen())
						select {
						case <-sc.reply:
						default:
							close(sc.reply)
						}
					})
				})
			}
		}
	}
}
