package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client"
)

// The agent is offered the files and terminals of Options.Host, never those of clients.
func TestFilesAndTerminals(t *testing.T) {
	for _, hosted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var text string
			var err error
			w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
				text, err = s.ReadFile(ctx, "/work/file")
				return acp.StopReasonEndTurn, nil
			}}
			o := new(hub.Options)
			if hosted {
				o.Host = func(*client.Conn) acp.Client { return files{} }
			}
			h := start(t, w, o)
			a := join(t, h, "")
			a.prompt(a.open(), "go")
			if hosted {
				require.NoError(t, err)
				assert.Equal(t, "of this machine", text)
			} else {
				var missing *acp.CapabilityError
				assert.ErrorAs(t, err, &missing)
			}
		})
	}
}

// files is a host that has one file.
type files struct{ acp.Client }

func (files) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: "of this machine"}, nil
}

// What the agent sends while no turn runs is shown to all, and to those that come later.
func TestUpdatesBetweenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: says("hello")}
		store := new(journal.Memory)
		h := start(t, w, &hub.Options{Store: store})
		a := join(t, h, "")
		s := a.open()
		a.prompt(s, "go")
		require.NoError(t, w.conn.Session("agent-1").Message(t.Context(), "by the way"))
		require.NoError(t, w.conn.Session("agent-1").SetTitle(t.Context(), "A title"))
		synctest.Wait()
		want := []string{"user: go", "agent: hello", "agent: by the way"}
		assert.Equal(t, want, a.transcript(s.ID()))
		require.NoError(t, h.Shutdown(t.Context()))
		h = restart(t, w, &hub.Options{Store: store})
		b := join(t, h, "")
		b.load(s.ID())
		assert.Equal(t, want, b.transcript(s.ID()))
		assert.Equal(t, "A title", b.threads.Thread(s.ID()).Snapshot().Title)
	})
}

// The log says who cancelled a turn.
func TestWhoCancelledIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: asks}
		store := new(journal.Memory)
		h := start(t, w, &hub.Options{Store: store, Principal: byContext, Access: func(context.Context, string, hub.Info) hub.Role { return hub.Control }})
		a, b := join(t, h, "ann"), join(t, h, "bob")
		s := a.open()
		turn := s.Prompt(t.Context(), acp.Text("go"))
		synctest.Wait()
		require.NoError(t, b.load(s.ID()).Cancel(t.Context()))
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
		require.NoError(t, h.Shutdown(t.Context()))
		log, err := store.Open(t.Context(), string(s.ID()))
		require.NoError(t, err)
		var by []string
		for rec, err := range log.Read(t.Context(), 0) {
			require.NoError(t, err)
			var note struct{ Cancelled *string }
			if rec.Kind == "hub" && json.Unmarshal(rec.Data, &note) == nil && note.Cancelled != nil {
				by = append(by, *note.Cancelled)
			}
		}
		assert.Equal(t, []string{"bob"}, by)
		require.NoError(t, log.Close())
	})
}

// What a permission request says of its tool call is stored, and shown to clients that are not asked, too. A call that is over
// stays as it is.
func TestCallsOfQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		before []acp.SessionUpdate
		want   []string
	}{
		"never announced":  {nil, []string{`tool call "rm" pending [/tmp]`}},
		"after a message":  {[]acp.SessionUpdate{acp.AgentText("I ask.")}, []string{"agent: I ask.", `tool call "rm" pending [/tmp]`}},
		"announced before": {[]acp.SessionUpdate{&acp.ToolCall{ToolCallID: "call", Title: "run", Status: "in_progress"}}, []string{`tool call "rm" pending [/tmp]`}},
		"over":             {[]acp.SessionUpdate{&acp.ToolCall{ToolCallID: "call", Title: "run", Status: "failed"}}, []string{`tool call "run" failed`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
					for _, u := range c.before {
						if err := s.Update(ctx, u); err != nil {
							return "", err
						}
					}
					call := &acp.ToolCallUpdate{ToolCallID: "call", Title: "rm", Status: "pending", Content: []acp.ToolCallContent{acp.ToolText("/tmp")}}
					_, err := s.AskPermission(ctx, call, options...)
					return acp.StopReasonEndTurn, errors.Join(err, s.Message(ctx, "Answered."))
				}}
				store := new(journal.Memory)
				opts := &hub.Options{Store: store, Principal: byContext, Access: func(_ context.Context, principal string, _ hub.Info) hub.Role {
					return map[string]hub.Role{"ann": hub.Control, "bob": hub.Observe}[principal]
				}}
				h := start(t, w, opts)
				a, b := join(t, h, "ann"), join(t, h, "bob")
				a.answer = selects("no")
				s := a.open()
				b.load(s.ID())
				a.prompt(s, "go")
				synctest.Wait()
				want := append(append([]string{"user: go"}, c.want...), "agent: Answered.")
				late := join(t, h, "bob")
				late.load(s.ID())
				require.NoError(t, h.Shutdown(t.Context()))
				again := join(t, restart(t, w, opts), "bob")
				again.load(s.ID())
				for _, u := range []*user{a, b, late, again} {
					assert.Equal(t, want, u.transcript(s.ID()))
				}
			})
		})
	}
}

// A question of one session keeps a client from nothing in another one.
func TestQuestionsOfOneSessionBlockNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: asks}
		h := start(t, w, nil)
		a := join(t, h, "")
		first, second := a.open(), a.open()
		a.answer = func(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			if req.SessionID == first.ID() {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return acp.Selected("yes"), nil
		}
		first.Prompt(t.Context(), acp.Text("waits"))
		synctest.Wait()
		a.prompt(second, "goes on")
		assert.Contains(t, a.transcript(second.ID()), "agent: chosen: yes")
	})
}

// A session that is open keeps its folder and servers, whatever a client loads it with.
func TestALiveSessionKeepsItsFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, &worker{turn: says("x")}, nil)
		a, b := join(t, h, ""), join(t, h, "")
		s := a.open()
		_, err := b.conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: s.ID(), Cwd: "/elsewhere", MCPServers: []acp.MCPServer{&acp.MCPServerStdio{Name: "x", Command: "/bin/x"}}})
		require.NoError(t, err)
		list, err := b.conn.ListSessions(t.Context(), &acp.ListSessionsRequest{})
		require.NoError(t, err)
		require.Len(t, list.Sessions, 1)
		assert.Equal(t, "/work", list.Sessions[0].Cwd)
	})
}

// More questions and sessions than the limits are refused, and those that are there go on.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		outcomes := map[string]int{}
		w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			var wait sync.WaitGroup
			for i := range 6 {
				wait.Go(func() { // ends with the question
					o, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(fmt.Sprint(i)), Title: "rm"}, options...)
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						outcomes["refused"]++
					} else {
						outcomes[string(o.OptionID)]++
					}
				})
			}
			wait.Wait()
			return acp.StopReasonEndTurn, nil
		}}
		h := start(t, w, &hub.Options{Limits: hub.Limits{Questions: 4, Sessions: 2}})
		a := join(t, h, "")
		s := a.open()
		all := make(chan struct{}) // closed when all have been asked
		a.answer = func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			<-all
			return acp.Selected("no"), nil
		}
		turn := s.Prompt(t.Context(), acp.Text("go"))
		synctest.Wait()
		close(all)
		_, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"no": 4, "refused": 2}, outcomes)
		a.open()
		_, err = a.conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
		require.ErrorContains(t, err, "too many sessions are open")
	})
}

// A form is put to the clients that can show it. The first one that accepts or declines it answers, and one that only
// closes it leaves it to the others.
func TestForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			values, err := s.AskForm(ctx, "Which?", acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{"name": &acp.StringPropertySchema{}}})
			if err != nil {
				return "", err
			}
			return acp.StopReasonEndTurn, s.Message(ctx, fmt.Sprint(len(values), " values"))
		}}
		h := start(t, w, nil)
		plain := join(t, h, "") // shows no forms
		s := plain.open()
		closes, accepts := connect(t, h, ""), connect(t, h, "")
		for _, r := range []*raw{closes, accepts} {
			r.call(t, 1, acp.MethodInitialize, `{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}}}}`)
			r.call(t, 2, acp.MethodSessionLoad, fmt.Sprintf(`{"sessionId":%q,"cwd":"/work","mcpServers":[]}`, s.ID()))
		}
		turn := s.Prompt(t.Context(), acp.Text("go"))
		answer := func(r *raw, result string) {
			for {
				line := r.read(t)
				var m struct {
					ID     json.RawMessage
					Method string
				}
				require.NoError(t, json.Unmarshal([]byte(line), &m))
				if m.Method == acp.MethodElicitationCreate {
					assert.True(t, strings.Contains(line, string(s.ID())), line)
					require.NoError(t, r.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)))
					return
				}
			}
		}
		answer(closes, `{"action":"cancel"}`)
		synctest.Wait()
		answer(accepts, `{"action":"accept","content":{"name":"x"}}`)
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
		assert.Equal(t, []string{"user: go", "agent: 1 values"}, plain.transcript(s.ID()))
	})
}

// A title that no store would take is kept shortened, and the session goes on.
func TestLongTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			return acp.StopReasonEndTurn, s.SetTitle(ctx, strings.Repeat("é€", 20_000))
		}}
		store := new(journal.Memory)
		h := start(t, w, &hub.Options{Store: store})
		a := join(t, h, "")
		s := a.open()
		a.prompt(s, "go")
		m, err := store.Meta(t.Context(), string(s.ID()))
		require.NoError(t, err)
		for info := range h.Sessions() {
			assert.Equal(t, info.Title, m.Title)
		}
		assert.Equal(t, m.Title, a.threads.Thread(s.ID()).Snapshot().Title)
		assert.Greater(t, len(m.Title), 4000)
		assert.LessOrEqual(t, len(m.Title), 4096)
		assert.True(t, utf8.ValidString(m.Title))
	})
}
