package kit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// fullClient is a client with all capabilities.
type fullClient struct {
	*screen
	*peertest.FullClient
}

func (c *fullClient) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	return c.screen.SessionUpdate(ctx, n)
}

func (c *fullClient) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return c.screen.RequestPermission(ctx, req)
}

// faultTest is one run of one test in the table of faults.
type faultTest struct {
	*testing.T
	full  *fullClient // nil means a client without capabilities
	dir   string      // the cwd of sessions
	store string      // the folder of the store; empty means a store in memory
}

// start starts a new agent and connects the client to it.
func (t *faultTest) start(o kit.Options) *user {
	t.Helper()
	if o.Logger = slog.New(slog.DiscardHandler); t.store != "" {
		o.Store = filesIn(t.T, t.store)
	}
	a := kit.New(&o)
	t.Cleanup(func() { assert.NoError(t, a.Close(context.WithoutCancel(t.Context()))) })
	return connectAs(t.T, a, nil, func(s *screen) acp.Client {
		if t.full == nil {
			return s
		}
		t.full.screen = s
		return t.full
	})
}

// kill copies the store in the state in which kill -9 would leave it.
func (t *faultTest) kill() {
	t.Helper()
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(t.store)))
	t.store = copied
}

func (t *faultTest) session(u *user) acp.SessionID {
	t.Helper()
	res, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.dir})
	require.NoError(t, err)
	return res.SessionID
}

// tool returns a tool that calls run.
func tool(name string, kind acp.ToolKind, effect tools.Effect, run func(ctx context.Context, c *tools.Call) (tools.Result, error)) tools.Tool {
	return tools.Tool{Name: name, Kind: kind, Effect: effect, Schema: json.RawMessage(`{"type":"object"}`), Run: run,
		Describe: func(_ context.Context, in json.RawMessage) tools.Summary {
			return tools.Summary{Rule: &tools.Rule{What: string(in), Label: "this"}, Preview: []acp.ToolCallContent{&acp.Diff{Path: "/d", NewText: "new"}}}
		}}
}

func done(context.Context, *tools.Call) (tools.Result, error) { return tools.Text("done"), nil }

func offer(all ...tools.Tool) func(*kit.Session) []tools.Tool {
	return func(*kit.Session) []tools.Tool { return all }
}

// story returns a line for each tool call with its kind and all its states, and a line for each
// message with its id and text.
func story(all []acp.SessionUpdate) (lines []string) {
	at := map[string]int{}
	add := func(id, first, more string) {
		if i, ok := at[id]; ok {
			lines[i] += more
			return
		}
		at[id] = len(lines)
		lines = append(lines, first+more)
	}
	for _, u := range all {
		switch u := u.(type) {
		case *acp.AgentMessageChunk:
			add(string(u.MessageID), "message: ", acp.PlainText(u.Content))
		case *acp.ToolCall:
			add(string(u.ToolCallID), u.Name+" "+string(u.Kind)+":", " "+string(u.Status))
		case *acp.ToolCallUpdate:
			if u.Status != "" {
				add(string(u.ToolCallID), "?", " "+string(u.Status))
			}
		}
	}
	return lines
}

// TestFaults tests faults that users of other agents have reported. The name of each test says what
// the user sees. TestTurns covers 01 and 02, TestLoadEqualsLive and TestOutput 04,
// TestStoredSettings 05, package agent/workspace 07 and 08, TestLinkedFiles and package
// agent/workspace 09, package agent/mcp 12, TestOutput, TestOutputJoins and TestUsage 13, and
// TestFilesCannotEndTheirTag, TestTitle and TestSlashCommands 14.
func TestFaults(t *testing.T) {
	for name, test := range map[string]func(t *faultTest){
		"03 after a cancel a tool call is in progress for ever, and the answer so far is gone": func(t *faultTest) {
			wait := tool("wait", acp.ToolKindFetch, tools.Reads, func(ctx context.Context, _ *tools.Call) (tools.Result, error) {
				<-ctx.Done()
				return tools.Result{}, ctx.Err()
			})
			u := t.start(kit.Options{Tools: offer(wait), Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
				_, err := s.Announce(ctx, "wait")
				err = errors.Join(err, s.Text(ctx, "Let me see."), s.Remember("seen"))
				_, runErr := s.Run(ctx, tools.Request{Name: "wait"})
				assert.NoError(t, errors.Join(err, s.Text(ctx, " Cancelled.")))
				return "", runErr
			}})
			id := t.session(u)
			go func() { // ends with the cancel
				synctest.Wait()
				assert.NoError(t, u.Cancel(context.WithoutCancel(t.Context()), &acp.CancelNotification{SessionID: id}))
			}()
			assert.Equal(t, acp.StopReasonCancelled, u.ask(id, "look"))
			live := story(u.received())
			assert.Equal(t, []string{"wait fetch: pending failed", "message: Let me see.", "wait fetch: pending in_progress failed", "message:  Cancelled."}, live)
			u.load(id)
			assert.Equal(t, []string{"wait fetch: failed", "message: Let me see.", "wait fetch: failed", "message:  Cancelled."}, story(u.received()))
		},
		"06 a crash loses the turn, one bad file loses all sessions, and a lost log is an empty session": func(t *faultTest) {
			var s script
			s.agent(kit.Options{})
			t.store = t.TempDir()
			u := t.start(kit.Options{Turn: s.turn})
			good, bad := t.session(u), t.session(u)
			for _, id := range []acp.SessionID{good, bad} {
				u.ask(id, "hello")
			}
			go func() { // ends with the connection
				_, _ = u.Prompt(t.Context(), &acp.PromptRequest{SessionID: good, Prompt: []acp.ContentBlock{acp.Text("hour")}})
			}()
			s.list()
			t.kill()
			require.NoError(t, os.Remove(filepath.Join(t.store, string(bad), "log.jsonl")))
			again := t.start(kit.Options{Turn: s.turn})
			again.load(good)
			assert.Equal(t, []string{"user: hello", "user: hour"}, texts(again.received()))
			_, err := again.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: bad, Cwd: t.dir})
			assert.ErrorContains(t, err, "log.jsonl")
			list, err := again.ListSessions(t.Context(), &acp.ListSessionsRequest{})
			require.NoError(t, err)
			assert.Len(t, list.Sessions, 2)
		},
		"10 permission is for another call, or for an answer that was not offered, or once is for ever": func(t *faultTest) {
			ran := 0
			work := tool("work", acp.ToolKindEdit, tools.Writes, func(context.Context, *tools.Call) (tools.Result, error) { ran++; return tools.Text("done"), nil })
			o := kit.Options{Tools: offer(work), Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
				_, err := s.Run(ctx, tools.Request{Name: "work", Input: json.RawMessage(`{"n":1}`)})
				return "", err
			}}
			u := t.start(o)
			id := t.session(u)
			var asked []acp.ToolCallID
			answer := acp.RequestPermissionOutcome(nil)
			u.answer = func(req *acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
				asked = append(asked, req.ToolCall.ToolCallID)
				assert.JSONEq(t, `{"n":1}`, string(req.ToolCall.RawInput))
				return answer
			}
			for _, step := range []struct {
				outcome acp.RequestPermissionOutcome
				reason  acp.StopReason
				ran     int
				asked   int
			}{
				{&acp.SelectedPermissionOutcome{OptionID: "yes"}, acp.StopReasonEndTurn, 0, 1},
				{&acp.CancelledPermissionOutcome{}, acp.StopReasonCancelled, 0, 2},
				{&acp.SelectedPermissionOutcome{OptionID: "reject_once"}, acp.StopReasonEndTurn, 0, 3},
				{&acp.SelectedPermissionOutcome{OptionID: "allow_once"}, acp.StopReasonEndTurn, 1, 4},
				{&acp.SelectedPermissionOutcome{OptionID: "allow_always"}, acp.StopReasonEndTurn, 2, 5},
				{nil, acp.StopReasonEndTurn, 3, 5},
			} {
				answer = step.outcome
				u.received()
				assert.Equal(t, step.reason, u.ask(id, "work"))
				assert.Equal(t, []int{step.ran, step.asked}, []int{ran, len(asked)}, "%+v", step)
				call := u.received()
				i := slices.IndexFunc(call, func(u acp.SessionUpdate) bool { _, ok := u.(*acp.ToolCall); return ok })
				if step.outcome != nil {
					assert.Equal(t, call[i].(*acp.ToolCall).ToolCallID, asked[len(asked)-1])
				}
			}
			other := t.session(u)
			answer = &acp.SelectedPermissionOutcome{OptionID: "reject_once"}
			u.ask(other, "work")
			assert.Equal(t, 3, ran, "rules are those of one session")
		},
		"11 all tools have one kind, none fails, results are mixed up, and the diff disappears": func(t *faultTest) {
			slow := tool("slow", acp.ToolKindSearch, tools.Reads, func(ctx context.Context, c *tools.Call) (tools.Result, error) {
				var in struct{ Seconds int }
				err := c.Decode(&in)
				time.Sleep(time.Duration(in.Seconds) * time.Second)
				return tools.Text(fmt.Sprint("slept ", in.Seconds)), err
			})
			fail := tool("fail", acp.ToolKindDelete, tools.Writes, func(context.Context, *tools.Call) (tools.Result, error) {
				return tools.Result{}, errors.New("/home/me")
			})
			var results []string
			u := t.start(kit.Options{Tools: offer(slow, fail), Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
				all, err := s.Run(ctx, tools.Request{Name: "slow", Input: json.RawMessage(`{"seconds":2}`)}, tools.Request{Name: "slow", Input: json.RawMessage(`{"seconds":1}`)}, tools.Request{Name: "fail"})
				for _, d := range all {
					results = append(results, d.Model[0].Text)
				}
				return "", err
			}})
			early := true // no progress is sent while the person is asked
			u.answer = func(req *acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
				early = strings.Contains(story(slices.Clone(u.updates))[2], "in_progress")
				return &acp.SelectedPermissionOutcome{OptionID: "allow_once"}
			}
			u.ask(t.session(u), "work")
			assert.False(t, early)
			assert.Equal(t, []string{"slept 2", "slept 1", "Internal error"}, results)
			all := u.received()
			assert.ElementsMatch(t, []string{"slow search: pending in_progress completed", "slow search: pending in_progress completed", "fail delete: pending in_progress failed"}, story(all))
			last := all[len(all)-1].(*acp.ToolCallUpdate)
			assert.IsType(t, &acp.Diff{}, last.Content[0])
			assert.NotContains(t, fmt.Sprint(results), "/home")
		},
	} {
		for _, offers := range []string{"everything", "nothing"} {
			t.Run(name+"/"+offers, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					dir, err := filepath.EvalSymlinks(t.TempDir())
					require.NoError(t, err)
					f := &faultTest{T: t, dir: dir}
					if offers == "everything" {
						f.full = &fullClient{FullClient: new(peertest.FullClient)}
					}
					test(f)
				})
			})
		}
	}
}

func embedded(uri, text string) acp.ContentBlock {
	return &acp.EmbeddedResource{Resource: &acp.TextResourceContents{URI: uri, Text: text}}
}
