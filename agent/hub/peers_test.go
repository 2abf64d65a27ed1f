package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/internal/schema/schematest"
	"github.com/acpkit/go-sdk/stream"
)

// What the agent sends of later versions, of nothing that exists, or of no session of its own reaches no client.
func TestOnlyWhatTheSchemaKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(worker)
		w.turn = func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			send := func(line string) { assert.NoError(t, w.wire.Write([]byte(line))) }
			update := func(id acp.SessionID, u any) {
				data, err := json.Marshal(u)
				assert.NoError(t, err)
				send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, id, data))
			}
			for _, u := range []acp.SessionUpdate{
				&acp.Notice{Severity: "info", Title: "x"}, &acp.CompactionUpdate{CompactionID: "x"}, &acp.PromptSuggestionsUpdate{},
				&acp.CursorUpdate{CursorID: "x"}, &acp.SubagentUpdate{SessionID: "x"}, &acp.SessionMessage{MessageID: "x"},
				&acp.SessionMessageChunk{MessageID: "x", Content: acp.Text("x")},
			} {
				update(s.ID(), u)
			}
			for _, u := range []string{`{"sessionUpdate":"made_up"}`, `{"sessionUpdate":7}`, `{}`, `null`, `{"sessionUpdate":"tool_call"}`, `{"sessionUpdate":"agent_message_chunk","content":{"type":"made_up"}}`} {
				update(s.ID(), json.RawMessage(u))
				update("of nobody", json.RawMessage(u))
			}
			send(`{"jsonrpc":"2.0","id":"q","method":"session/made_up","params":{}}`)
			send(`{"jsonrpc":"2.0","id":"r","method":"session/request_permission","params":{"sessionId":"of nobody","toolCall":{"toolCallId":"1"},"options":[]}}`)
			send(`{"jsonrpc":"2.0","id":"s","method":"fs/read_text_file","params":{"sessionId":"` + string(s.ID()) + `","path":"/etc/passwd"}}`)
			send(`{"jsonrpc":"2.0","id":987654,"result":{"stopReason":"end_turn"}}`)
			return acp.StopReasonEndTurn, s.Message(ctx, "end")
		}
		h := start(t, w, nil)
		a := join(t, h, "")
		s := a.open()
		b := join(t, h, "")
		b.load(s.ID())
		a.prompt(s, "go")
		a.prompt(s, "again")
		synctest.Wait()
		c := join(t, h, "")
		c.load(s.ID())
		for _, u := range []*user{a, b, c} {
			lines := u.transcript(s.ID())
			assert.Equal(t, "agent: end", lines[len(lines)-1])
		}
	})
}

// Whatever a client sends, the turns of the others go on, and the hub holds nothing of it when it is gone.
func TestClientsThatMisbehave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: says("hello")}
		h := start(t, w, &hub.Options{Principal: byContext, Limits: hub.Limits{Attachments: 4}})
		a := join(t, h, "ann")
		s := a.open()
		id := string(s.ID())
		request := func(n any, method, params string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":%q,"params":%s}`, n, method, params)
		}
		load := fmt.Sprintf(`{"sessionId":%q,"cwd":"/work","mcpServers":[]}`, id)
		prompt := func(text string) string {
			return fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, id, text)
		}
		initialize := request(0, acp.MethodInitialize, `{"protocolVersion":1}`)
		for name, lines := range map[string][]string{
			"nothing first":     {request(1, acp.MethodSessionLoad, load), request(2, acp.MethodSessionPrompt, prompt("x"))},
			"invalid UTF-8":     {initialize, request(1, acp.MethodSessionLoad, load), strings.Replace(request(2, acp.MethodSessionPrompt, prompt("x")), "x", "\xff\xfe", 1)},
			"the same id":       {initialize, request(1, acp.MethodSessionLoad, load), request(1, acp.MethodSessionPrompt, prompt("x")), request(1, acp.MethodSessionPrompt, prompt("y"))},
			"forged ids":        {initialize, request(1, acp.MethodSessionLoad, `{"sessionId":"../../etc","cwd":"/work","mcpServers":[]}`), request(2, acp.MethodSessionLoad, `{"sessionId":"agent-1","cwd":"/work","mcpServers":[]}`), request(3, acp.MethodSessionPrompt, `{"sessionId":"agent-1","prompt":[]}`), request(4, acp.MethodSessionClose, `{"sessionId":"\u0000"}`), request(5, acp.MethodSessionDelete, `{"sessionId":""}`)},
			"answers unasked":   {initialize, request(1, acp.MethodSessionLoad, load), `{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`, `{"jsonrpc":"2.0","id":"x","error":{}}`},
			"loads and leaves":  {initialize, request(1, acp.MethodSessionLoad, load), request(2, acp.MethodSessionClose, fmt.Sprintf(`{"sessionId":%q}`, id)), request(3, acp.MethodSessionPrompt, prompt("x"))},
			"deep and not JSON": {initialize, strings.Repeat(`[`, 100_000), `{`, `[]`, `7`, request(2, acp.MethodSessionLoad, `[`+load+`]`)},
			"long params":       {initialize, request(1, acp.MethodSessionLoad, load), request(2, "session/"+strings.Repeat("x", 1<<20), `{}`), request(3, acp.MethodSessionSetMode, fmt.Sprintf(`{"sessionId":%q,"modeId":%q}`, id, strings.Repeat("m", 1<<20)))},
		} {
			for _, principal := range []string{"ann", "mallory"} {
				near, far := stream.Pipe()
				near = schematest.Client(t, 1, near)
				var served sync.WaitGroup
				served.Go(func() { // ends with the stream
					_ = h.Serve(context.WithValue(context.Background(), principalKey{}, principal), far)
				})
				go func() { // ends with the stream
					for {
						if _, err := near.Read(); err != nil {
							return
						}
					}
				}()
				for _, line := range lines {
					if near.Write([]byte(line)) != nil {
						break
					}
				}
				synctest.Wait()
				a.prompt(s, name)
				_ = near.Close()
				served.Wait()
			}
		}
		for info := range h.Sessions() {
			assert.Equal(t, 1, info.Attached)
			assert.False(t, info.Running)
		}
		for _, text := range w.seen() {
			assert.NotContains(t, text, "mallory")
		}
	})
}

// More clients than the limit are refused, in any number, and one that comes when another has left is not.
func TestAttachStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, &worker{turn: says("x")}, &hub.Options{Limits: hub.Limits{Attachments: 8, Connection: 4}})
		a := join(t, h, "")
		var ids []acp.SessionID
		for range 4 {
			s := a.open()
			ids = append(ids, s.ID())
		}
		_, err := a.conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
		require.ErrorContains(t, err, "too many sessions: close one of them")
		a.load(ids[3]) // it is attached already
		var users []*user
		for range 20 {
			users = append(users, join(t, h, ""))
		}
		var wait sync.WaitGroup
		for _, u := range users {
			for range 5 {
				wait.Go(func() { // ends with the response
					_, _ = u.conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: ids[0], Cwd: "/work"}) // most are refused
				})
			}
		}
		wait.Wait()
		for info := range h.Sessions() {
			if info.ID == ids[0] {
				assert.Equal(t, 8, info.Attached)
			}
		}
		for _, u := range users {
			u.leave()
		}
		join(t, h, "").load(ids[0])
	})
}

// An agent that dies is started again, whatever it was doing, and the next prompt works.
func TestAgentDiesInEachState(t *testing.T) {
	for name, die := range map[string]func(w *worker) func(context.Context, *agent.Session, *acp.PromptRequest) (acp.StopReason, error){
		"before an update": func(w *worker) func(context.Context, *agent.Session, *acp.PromptRequest) (acp.StopReason, error) {
			return func(ctx context.Context, _ *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
				w.crash()
				<-ctx.Done()
				return "", nil
			}
		},
		"after a message": func(w *worker) func(context.Context, *agent.Session, *acp.PromptRequest) (acp.StopReason, error) {
			return func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
				_ = s.Message(ctx, "begun")
				w.crash()
				<-ctx.Done()
				return "", nil
			}
		},
		"in a question": func(w *worker) func(context.Context, *agent.Session, *acp.PromptRequest) (acp.StopReason, error) {
			return func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
				time.AfterFunc(time.Second, w.crash) // ends at once
				_, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "call", Title: "rm"}, options...)
				return "", err
			}
		},
		"with the response": func(w *worker) func(context.Context, *agent.Session, *acp.PromptRequest) (acp.StopReason, error) {
			return func(context.Context, *agent.Session, *acp.PromptRequest) (acp.StopReason, error) {
				time.AfterFunc(0, w.crash) // ends at once
				return acp.StopReasonEndTurn, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := new(worker)
				dying := die(w)
				w.turn = func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
					if strings.HasPrefix(acp.PlainText(p.Prompt...), "die") {
						return dying(ctx, s, p)
					}
					return acp.StopReasonEndTurn, s.Message(ctx, "hello")
				}
				h := start(t, w, nil)
				a := join(t, h, "")
				s := a.open()
				for n := range 3 {
					_, _ = s.Prompt(t.Context(), acp.Text(fmt.Sprint("die", n))).Wait() // an error, or the response was faster
					synctest.Wait()
					for info := range h.Sessions() {
						assert.False(t, info.Running)
						assert.Zero(t, info.Questions)
					}
					a.prompt(s, fmt.Sprint("live", n))
				}
				assert.Equal(t, []string{"die0", "live0", "die1", "live1", "die2", "live2"}, w.seen())
			})
		})
	}
}
