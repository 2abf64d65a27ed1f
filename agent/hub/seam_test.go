package hub_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client/thread"
)

var episodes = flag.Int("episodes", 40, "random episodes of TestSeam and TestRaces")

// random is a turn that sends updates of all kinds, at random times.
func random(r *rand.Rand, mu *sync.Mutex) func(context.Context, *agent.Session, *acp.PromptRequest) (acp.StopReason, error) {
	n := func(max int) int { mu.Lock(); defer mu.Unlock(); return r.IntN(max) }
	return func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
		send := func(u acp.SessionUpdate) { _ = s.Update(ctx, u) } // an error means the end of the connection
		turn := acp.PlainText(p.Prompt...)
		for i := range 5 + n(30) {
			if n(3) == 0 {
				<-time.After(time.Duration(n(20)) * time.Millisecond)
			}
			id := acp.MessageID("")
			if n(2) == 0 {
				id = acp.MessageID(fmt.Sprint(turn, "-", n(3)))
			}
			call := acp.ToolCallID(fmt.Sprint(turn, "-call-", n(3)))
			text := fmt.Sprint(i, " ")
			switch n(10) {
			case 0, 1, 2:
				send(&acp.AgentMessageChunk{MessageID: id, Content: acp.Text(text)})
			case 3:
				send(&acp.AgentThoughtChunk{MessageID: id, Content: acp.Text(text)})
			case 4:
				send(&acp.AgentMessageChunk{MessageID: id, Content: &acp.ImageContent{MIMEType: "image/png", Data: "AAAA"}})
			case 5:
				send(&acp.ToolCall{ToolCallID: call, Title: "call " + text, Status: acp.ToolCallStatusPending})
			case 6, 7:
				send(&acp.ToolCallUpdate{ToolCallID: call, Title: text, Status: []acp.ToolCallStatus{"", "in_progress", "completed", "failed"}[n(4)], Content: []acp.ToolCallContent{acp.ToolText(text)}[:n(2)]})
			case 8:
				send(&acp.Plan{Entries: []acp.PlanEntry{{Content: text, Priority: "high", Status: "pending"}}})
			case 9:
				send(&acp.UsageUpdate{Used: uint64(i), Size: 1000})
			}
		}
		for c := range 3 { // what is open at the end of a turn is shown as ended only to those who saw the turn
			send(&acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(fmt.Sprint(turn, "-call-", c)), Status: acp.ToolCallStatusCompleted})
		}
		return acp.StopReasonEndTurn, nil
	}
}

// view is what a client shows, without what belongs to the client alone.
func (u *user) view(id acp.SessionID) []string {
	s := u.threads.Thread(id).Snapshot()
	lines := u.transcript(id)
	for _, p := range s.Plans {
		lines = append(lines, fmt.Sprintf("plan %v", p.Entries))
	}
	if s.Usage != nil {
		lines = append(lines, fmt.Sprintf("usage %d", s.Usage.Used))
	}
	return lines
}

// Whoever comes late, goes and comes again shows the same as who was always there, and as who loads the
// session afterwards.
func TestSeam(t *testing.T) {
	for seed := range uint64(*episodes) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 7))
				var mu sync.Mutex
				n := func(max int) int { mu.Lock(); defer mu.Unlock(); return r.IntN(max) }
				w := &worker{turn: random(r, &mu)}
				h := start(t, w, nil)
				always, sender := join(t, h, ""), join(t, h, "")
				s := always.open()
				id := s.ID()
				from := sender.load(id)
				var wait sync.WaitGroup
				stop := make(chan struct{})
				var late []*user
				for range 3 {
					u := join(t, h, "")
					late = append(late, u)
					wait.Go(func() {
						for {
							time.Sleep(time.Duration(n(60)) * time.Millisecond)
							u.load(id)
							select {
							case <-stop:
								return
							default:
							}
							time.Sleep(time.Duration(n(60)) * time.Millisecond)
							_, err := u.conn.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id})
							require.NoError(t, err)
						}
					})
				}
				for i := range 3 {
					sender.prompt(from, fmt.Sprint("turn ", i))
				}
				close(stop)
				wait.Wait()
				after := join(t, h, "")
				after.load(id)
				synctest.Wait()
				want := after.view(id)
				assert.Equal(t, want, always.view(id), "always there")
				assert.Equal(t, want, sender.view(id), "the sender")
				for _, u := range late {
					assert.Equal(t, want, u.view(id), "late")
				}
			})
		})
	}
}

// Of many answers at once one holds: the agent gets it, and every other question is withdrawn.
func TestRaces(t *testing.T) {
	for _, clients := range []int{2, 32} {
		t.Run(fmt.Sprint(clients), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worker{turn: asks}
				h := start(t, w, nil)
				var users []*user
				var id acp.SessionID
				for i := range clients {
					u := join(t, h, "")
					u.answer = func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
						if i%4 == 3 { // withdrawn, or the bubble is in a deadlock
							<-ctx.Done()
							return nil, ctx.Err()
						}
						return acp.Selected([]acp.PermissionOptionID{"yes", "no"}[i%2]), nil
					}
					users = append(users, u)
				}
				s := users[0].open()
				id = s.ID()
				for _, u := range users[1:] {
					u.load(id)
				}
				for range *episodes {
					users[0].prompt(s, "go")
				}
				synctest.Wait()
				chosen := 0
				for _, item := range users[0].threads.Thread(id).Snapshot().Items.All() {
					if m, ok := item.(*thread.Message); ok && m.Role == thread.RoleAgent {
						chosen++
					}
				}
				assert.Equal(t, *episodes, chosen)
				for info := range h.Sessions() {
					assert.Zero(t, info.Questions)
				}
			})
		})
	}
}
