package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream/safetext"
)

func done(context.Context, *tools.Call) (tools.Result, error) { return tools.Text("done"), nil }

// TestLifeOfACall compares the messages to the client, and what the model reads.
func TestLifeOfACall(t *testing.T) {
	const (
		input     = `{"path":"/a"}`
		announced = `call 1 Edit /a edit pending {"path":"/a"} @/a [diff of /a]`
		asked     = `ask 1 Edit /a edit pending {"path":"/a"} @/a [diff of /a] (Allow once) (Always allow editing /a in this session) (Reject)`
		started   = `update 1 in_progress`
	)
	allow := choose(acp.PermissionOptionKindAllowOnce)
	fails := func(err error) func(context.Context, *tools.Call) (tools.Result, error) {
		return func(context.Context, *tools.Call) (tools.Result, error) { return tools.Result{}, err }
	}
	for name, c := range map[string]struct {
		run     func(context.Context, *tools.Call) (tools.Result, error)
		answer  func(context.Context, []acp.PermissionOption) (acp.PermissionOption, error)
		gate    tools.Decision
		want    []string
		outcome tools.Outcome
		model   string
	}{
		"allowed by the gate": {done, nil, tools.Allow,
			[]string{announced, started, `update 1 completed [diff of /a | done]`}, tools.Completed, "done"},
		"denied by the gate": {done, nil, tools.Deny,
			[]string{announced, `update 1 failed [diff of /a | Denied by the agent]`}, tools.Denied, "The agent does not allow this call. Do not"},
		"denied by the gate for a reason": {done, nil, tools.Denyf("in %s mode\nnothing is changed.", "plan"),
			[]string{announced, `update 1 failed [diff of /a | Denied by the agent: in plan mode\nnothing is changed.]`}, tools.Denied, `The agent does not allow this call: in plan mode\nnothing is changed. Do not`},
		"allowed once": {done, allow, tools.Ask,
			[]string{announced, asked, started, `update 1 completed [diff of /a | done]`}, tools.Completed, "done"},
		"rejected": {done, choose(acp.PermissionOptionKindRejectOnce), tools.Ask,
			[]string{announced, asked, `update 1 failed [diff of /a | Rejected by the user]`}, tools.Rejected, "The person rejected this call."},
		"cancelled while the person is asked": {done, func(context.Context, []acp.PermissionOption) (acp.PermissionOption, error) {
			return acp.PermissionOption{}, fmt.Errorf("asking: %w", acp.ErrTurnCancelled)
		}, tools.Ask, []string{announced, asked, `update 1 failed [diff of /a | Cancelled]`}, tools.Cancelled, "The call was cancelled before it ran."},
		"an answer that was not offered": {done, func(context.Context, []acp.PermissionOption) (acp.PermissionOption, error) {
			return acp.PermissionOption{}, errors.New("not offered")
		}, tools.Ask, []string{announced, asked, `update 1 failed [diff of /a | Permission could not be asked for, so the call did not run.]`}, tools.Failed, "Permission could not be asked for, so the call did not run."},
		"a failure": {fails(tools.Failf("/a has %d lines", 3)), allow, tools.Ask,
			[]string{announced, asked, started, `update 1 failed [diff of /a | /a has 3 lines]`}, tools.Failed, "/a has 3 lines"},
		"an error of the protocol": {fails(fmt.Errorf("secret: %w", rpcerr.ResourceNotFound("/a"))), allow, tools.Ask,
			[]string{announced, asked, started, `update 1 failed [diff of /a | Resource not found: /a]`}, tools.Failed, "Resource not found: /a"},
		"any other error": {fails(errors.New("token=secret")), allow, tools.Ask,
			[]string{announced, asked, started, `update 1 failed [diff of /a | Internal error]`}, tools.Failed, "Internal error"},
		"a deadline": {fails(fmt.Errorf("running: %w", context.DeadlineExceeded)), allow, tools.Ask,
			[]string{announced, asked, started, `update 1 failed [diff of /a | The call took too long and was stopped. It may have taken effect in part.]`}, tools.Failed, "The call took too long and was stopped."},
		"a panic": {func(context.Context, *tools.Call) (tools.Result, error) { panic("secret") }, allow, tools.Ask,
			[]string{announced, asked, started, `update 1 failed [diff of /a | Internal error]`}, tools.Failed, "Internal error"},
		"a call that shows what it does": {func(ctx context.Context, c *tools.Call) (tools.Result, error) {
			old := "x"
			err := errors.Join(c.Progress(ctx, "half"), c.At(ctx, "/b", 7), c.Show(ctx, acp.ToolText("shown")), c.Diff(ctx, "/a", &old, "y"), c.Progress(ctx, "most"))
			go func() { // ends after Run, which ends ctx
				<-ctx.Done()
				assert.NoError(t, c.Progress(context.WithoutCancel(ctx), "late"))
			}()
			return tools.Result{Model: []tools.Part{{Text: "for the model"}}, Content: []acp.ToolCallContent{acp.ToolText("for the person")}}, err
		}, nil, tools.Allow, []string{announced, started, `update 1 in_progress [diff of /a | half]`, `update 1 in_progress @/a @/b`, `update 1 in_progress [diff of /a | shown | half]`,
			`update 1 in_progress [shown | diff of /a | half]`, `update 1 in_progress [shown | diff of /a | most]`, `update 1 completed [shown | diff of /a | for the person]`}, tools.Completed, "for the model"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &session{answer: c.answer}
				var logged bytes.Buffer
				env := tools.Env{Session: s, Rules: new(tools.Rules), Logger: slog.New(slog.NewTextHandler(&logged, nil)),
					Gate: func(_ context.Context, call *tools.Call) tools.Decision {
						assert.Equal(t, input, string(call.Input()))
						return c.gate
					}}
				all, err := registry(t, edit(c.run)).Run(t.Context(), env, []tools.Request{{ID: "m", Name: "edit", Input: json.RawMessage(input)}})
				synctest.Wait()
				require.Len(t, all, 1)
				assert.Equal(t, c.want, s.lines)
				assert.Equal(t, c.outcome, all[0].Outcome)
				assert.Contains(t, text(all[0]), c.model)
				assert.Equal(t, c.outcome == tools.Cancelled, errors.Is(err, acp.ErrTurnCancelled))
				sent := strings.Join(c.want, "")
				assert.Equal(t, strings.Contains(sent, "Internal error") || strings.Contains(sent, "Resource"), strings.Contains(s.failure, "secret"))
				assert.NotContains(t, logged.String(), "secret")
			})
		})
	}
}

// A call that cannot run is shown, needs no permission, and the model reads the reason.
func TestBadCalls(t *testing.T) {
	type in struct {
		Path string `json:"path" validate:"required"`
		Line int    `json:"line,omitempty" validate:"min=0,max=9"`
		Mode string `json:"mode,omitempty" validate:"omitempty,oneof=r w"`
		At   []struct {
			N *int `json:"n" validate:"required"`
		} `json:"at,omitempty" validate:"dive"`
	}
	read := tools.Typed("read", "Reads.", func(context.Context, *tools.Call, in) (tools.Result, error) {
		t.Error("it runs")
		return tools.Result{}, nil
	})
	for input, want := range map[string]string{
		`{"path":`:          "The input of the call is not a JSON object",
		`[]`:                "The input of the call is not a JSON object",
		`null`:              "The input of the call is not a JSON object",
		``:                  `"path" is missing. Call`,
		`{"file":"a"}`:      `"path" is missing; "file" is not known, the members are path, line, mode, at. Call`,
		`{"Path":"a"}`:      `"path" is missing; "Path" is not known`,
		`{"path":null}`:     `"path" must be a string, and it is null`,
		`{"path":["a"]}`:    `"path" must be a string, and it is an array`,
		`{"path":"a"} {}`:   "The input of the call is not a JSON object",
		`"{\"path\":null}"`: `"path" must be a string, and it is null`,
		`{"path":"a","line":"x","at":[{"n":0},{}]}`:                              `"line" must be an integer, and it is the string "x"; "at.1.n" is missing. Call`,
		`{"path":"a","line":10,"mode":"x","at":"[{\"n\":0}]"}`:                   `"line" must be at most 9; "mode" must be one of r w`,
		`{"path":` + strings.Repeat(`[`, 1001) + strings.Repeat(`]`, 1001) + `}`: "nested too deeply: 256 levels are allowed",
		`{"path":"` + strings.Repeat("x", 1<<20) + `"}`:                          "The input of the call has 1024 KiB, and 1024 KiB are allowed",
	} {
		s := &session{answer: func(context.Context, []acp.PermissionOption) (acp.PermissionOption, error) {
			t.Errorf("a person is asked about %s, which cannot run", input)
			return acp.PermissionOption{}, nil
		}}
		env := tools.Env{Session: s, Logger: quiet()}
		all, err := registry(t, read).Run(t.Context(), env, []tools.Request{{Name: "read", Input: json.RawMessage(input)}, {Name: "rm", Input: json.RawMessage(input)}})
		require.NoError(t, err)
		assert.Contains(t, text(all[0]), want, input[:min(len(input), 100)])
		assert.Equal(t, `There is no tool "rm". The tools are: read.`, text(all[1]))
		for _, d := range all {
			assert.Equal(t, tools.Failed, d.Outcome)
			assert.Contains(t, strings.Join(s.lines, "\n"), text(d))
		}
	}
}

// Whoever has written the title of a call, the person reads one line that cannot be taken for another. A rule that
// one line cannot say is not offered.
func TestTextsAreOneLine(t *testing.T) {
	evil := "ls\n\x1b[2J\u202e" + strings.Repeat("x", 1000)
	const shown = `ls\n\x1b[2J\u202exxx`
	run := tools.Tool{Name: "run", Schema: object, Run: done, Describe: func(context.Context, json.RawMessage) tools.Summary {
		return tools.Summary{Title: evil, Rule: &tools.Rule{What: "x", Label: evil}}
	}}
	s := &session{answer: choose(acp.PermissionOptionKindAllowOnce)}
	all, err := registry(t, run).Run(t.Context(), tools.Env{Session: s, Rules: new(tools.Rules), Logger: quiet()}, []tools.Request{{Name: "run"}, {Name: evil}})
	require.NoError(t, err)
	assert.Equal(t, []tools.Outcome{tools.Completed, tools.Failed}, []tools.Outcome{all[0].Outcome, all[1].Outcome})
	titles := 0
	for _, line := range s.lines {
		assert.Equal(t, line, safetext.OneLine(line, len(line)))
		assert.NotContains(t, line, "Always")
		if strings.Contains(line, shown) {
			titles++
			assert.Less(t, strings.Count(line, "x"), 450, "at most 200 runes of each text")
		}
	}
	assert.GreaterOrEqual(t, titles, 3, "both calls, and the question: %q", s.lines)
}

func TestRunWithoutSession(t *testing.T) {
	_, err := registry(t).Run(t.Context(), tools.Env{}, nil)
	assert.EqualError(t, err, "tools: Env.Session is nil: pass a session, such as conn.Session(id)")
	_, err = registry(t).Announce(t.Context(), tools.Env{}, "x")
	assert.EqualError(t, err, "tools: Env.Session is nil: pass a session, such as conn.Session(id)")
}

// The person is not asked about a call that cannot succeed.
func TestCallThatCannotSucceed(t *testing.T) {
	tool := edit(done)
	tool.Describe = func(context.Context, json.RawMessage) tools.Summary {
		return tools.Summary{Title: "Edit /a", Err: tools.Failf("/a does not exist")}
	}
	s := &session{}
	all, err := registry(t, tool).Run(t.Context(), tools.Env{Session: s}, []tools.Request{{Name: "edit"}})
	require.NoError(t, err)
	assert.Equal(t, tools.Failed, all[0].Outcome)
	assert.Equal(t, "/a does not exist", text(all[0]))
	assert.Equal(t, []string{"call 1 Edit /a edit pending {}", "update 1 failed [/a does not exist]"}, s.lines)
}

// The person and the policy of the client see the exact input from Describe. The tool gets the
// input of the model.
func TestInputIsMadeExact(t *testing.T) {
	tool := edit(func(_ context.Context, c *tools.Call) (tools.Result, error) {
		return tools.Text(string(c.Input())), nil
	})
	tool.Describe = func(context.Context, json.RawMessage) tools.Summary {
		return tools.Summary{Title: "List", Input: json.RawMessage(`{"command":"sh","args":["-c","ls"]}`)}
	}
	s := &session{answer: choose(acp.PermissionOptionKindAllowOnce)}
	all, err := registry(t, tool).Run(t.Context(), tools.Env{Session: s}, []tools.Request{{Name: "edit", Input: json.RawMessage(`{"command":"ls"}`)}})
	require.NoError(t, err)
	assert.Equal(t, `{"command":"ls"}`, text(all[0]))
	assert.Equal(t, []string{
		`call 1 List edit pending {"command":"sh","args":["-c","ls"]}`,
		`ask 1 List edit pending {"command":"sh","args":["-c","ls"]} (Allow once) (Reject)`,
		"update 1 in_progress", `update 1 completed [{"command":"ls"}]`,
	}, s.lines)
}

// The results have the order of the calls. Each call has a unique id, whatever id the model uses.
func TestManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards both
		running, most := 0, 0
		var order []string
		read := tools.Tool{Name: "read", Effect: tools.Reads, Schema: object, Run: func(_ context.Context, c *tools.Call) (tools.Result, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return tools.Text(string(c.Input())), nil
		}}
		write := tools.Tool{Name: "write", Effect: tools.Writes, Schema: object, Run: func(_ context.Context, c *tools.Call) (tools.Result, error) {
			assert.Zero(t, running)
			order = append(order, string(c.Input()))
			return tools.Text(string(c.Input())), nil
		}}
		s := &session{answer: choose(acp.PermissionOptionKindAllowOnce)}
		var requests []tools.Request
		for i, name := range strings.Fields("read read read read read read write write read write read") {
			requests = append(requests, tools.Request{ID: []string{"", "same"}[i%2], Name: name, Input: fmt.Appendf(nil, `{"n":%d}`, i)})
		}
		began := time.Now()
		all, err := registry(t, read, write).Run(t.Context(), tools.Env{Session: s}, requests)
		require.NoError(t, err)
		ids := map[acp.ToolCallID]bool{}
		for i, d := range all {
			assert.Equal(t, string(requests[i].Input), text(d))
			assert.Equal(t, requests[i].ID, d.ID)
			ids[d.ToolCallID] = true
		}
		assert.Len(t, ids, len(all))
		assert.Equal(t, 4, most)
		assert.Equal(t, []string{`{"n":6}`, `{"n":7}`, `{"n":9}`}, order)
		assert.Equal(t, 4*time.Second, time.Since(began))
		ended := 0
		for _, line := range s.lines {
			if strings.Contains(line, "completed") {
				ended++
			}
		}
		assert.Equal(t, len(all), ended)
	})
}

// A cancelled turn ends all calls: those that run and those that have not begun.
func TestCancelInABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		slow := tools.Tool{Name: "slow", Effect: tools.Reads, Schema: object, Run: func(ctx context.Context, _ *tools.Call) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		}}
		s := &session{answer: func(ctx context.Context, _ []acp.PermissionOption) (acp.PermissionOption, error) {
			<-ctx.Done()
			return acp.PermissionOption{}, ctx.Err()
		}}
		go func() { synctest.Wait(); cancel() }() // ends at once
		var requests []tools.Request
		for range 6 {
			requests = append(requests, tools.Request{Name: "slow"})
		}
		requests = append(requests, tools.Request{Name: "edit"}, tools.Request{Name: "nothing"})
		all, err := registry(t, slow, edit(done)).Run(ctx, tools.Env{Session: s, Logger: quiet()}, requests)
		require.ErrorIs(t, err, context.Canceled)
		ended := map[string]int{}
		for _, line := range s.lines {
			if strings.Contains(line, " failed ") {
				ended[line]++
			}
		}
		assert.Len(t, ended, 8)
		for i, d := range all {
			want := tools.Cancelled
			if i == 7 {
				want = tools.Failed
			}
			assert.Equal(t, want, d.Outcome)
			assert.NotEmpty(t, text(d))
		}
	})
}

// inTurn answers the second of two questions first, with yes, and then the first one with no.
type inTurn struct {
	session
	second chan struct{} // closed when the second question is asked

	mu    sync.Mutex // guards asked
	asked []acp.ToolCallID
}

func (s *inTurn) AskPermission(ctx context.Context, u *acp.ToolCallUpdate, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	s.mu.Lock()
	s.asked = append(s.asked, u.ToolCallID)
	first := len(s.asked) == 1
	s.mu.Unlock()
	if first {
		<-s.second
		return choose(acp.PermissionOptionKindRejectOnce)(ctx, options)
	}
	defer close(s.second)
	return choose(acp.PermissionOptionKindAllowOnce)(ctx, options)
}

// Two questions at the same time may be answered in any order. Each answer applies to its own call.
func TestTwoQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &inTurn{second: make(chan struct{})}
		read := tools.Tool{Name: "read", Effect: tools.Reads, Schema: object, Run: done}
		env := tools.Env{Session: s, Gate: func(context.Context, *tools.Call) tools.Decision { return tools.Ask }}
		all, err := registry(t, read).Run(t.Context(), env, []tools.Request{{Name: "read"}, {Name: "read"}})
		require.NoError(t, err)
		outcomes := map[tools.Outcome]acp.ToolCallID{all[0].Outcome: all[0].ToolCallID, all[1].Outcome: all[1].ToolCallID}
		assert.Equal(t, map[tools.Outcome]acp.ToolCallID{tools.Rejected: s.asked[0], tools.Completed: s.asked[1]}, outcomes)
	})
}

// A rule allows exactly what it describes, and only for the tool that it was set for.
func TestRules(t *testing.T) {
	command := func(name string) tools.Tool {
		return tools.Tool{Name: name, Schema: object, Run: done, Describe: func(_ context.Context, in json.RawMessage) tools.Summary {
			var v struct{ Command string }
			_ = json.Unmarshal(in, &v)
			return tools.Summary{Rule: &tools.Rule{Tool: "any", What: v.Command, Label: "`" + v.Command + "` in this session"}}
		}}
	}
	asked := 0
	s := &session{answer: func(ctx context.Context, options []acp.PermissionOption) (acp.PermissionOption, error) {
		asked++
		return choose(acp.PermissionOptionKindAllowAlways)(ctx, options)
	}}
	r := registry(t, command("run"), command("sh"))
	rules := new(tools.Rules)
	run := func(rules *tools.Rules, name, command string) int {
		asked = 0
		input, _ := json.Marshal(map[string]string{"command": command})
		_, err := r.Run(t.Context(), tools.Env{Session: s, Rules: rules, Logger: quiet()}, []tools.Request{{Name: name, Input: input}})
		require.NoError(t, err)
		return asked
	}
	assert.Equal(t, 1, run(rules, "run", "ls"))
	assert.Equal(t, 0, run(rules, "run", "ls"))
	for _, other := range []string{"ls; rm -r /", "ls\nrm -r /", "X=1 ls", "bash -c ls", "ls ", "LS", "ls -l", ""} {
		assert.Equal(t, 1, run(rules, "run", other), other)
	}
	assert.Equal(t, 1, run(rules, "sh", "ls"), "another tool")
	assert.Equal(t, 1, run(new(tools.Rules), "run", "ls"), "another session")
	assert.Equal(t, 1, run(nil, "run", "ls"), "no rules: always is not offered")
	assert.Contains(t, s.lines[len(s.lines)-1], "Permission could not be asked for")
	failing := &tools.Rules{Store: func(context.Context, tools.Rule) error { return errors.New("disk full") }}
	_, err := r.Run(t.Context(), tools.Env{Session: s, Rules: failing, Logger: quiet()}, []tools.Request{{Name: "run"}})
	require.NoError(t, err)
	assert.Contains(t, s.lines[len(s.lines)-1], "failed [Internal error]", "a rule that cannot be stored allows nothing")
}

// A call does not run if the client could not be told about it.
func TestUpdateFails(t *testing.T) {
	for _, at := range []string{"pending", "in_progress", "completed"} {
		ran := 0
		tool := edit(func(context.Context, *tools.Call) (tools.Result, error) { ran++; return tools.Text("done"), nil })
		broken := errors.New("disk full")
		s := &session{update: func(line string) error {
			if strings.Contains(line, at) {
				return broken
			}
			return nil
		}}
		env := tools.Env{Session: s, Logger: quiet(), Gate: func(context.Context, *tools.Call) tools.Decision { return tools.Allow }}
		all, err := registry(t, tool).Run(t.Context(), env, []tools.Request{{Name: "edit"}, {Name: "edit"}})
		require.ErrorIs(t, err, broken, at)
		want := 0
		if at == "completed" {
			want = 1
		}
		assert.Equal(t, want, ran, at)
		assert.NotEqual(t, tools.Completed, all[1].Outcome)
	}
}

// Results of any size fit into a message. They are cut between runes.
func TestLargeResult(t *testing.T) {
	long := strings.Repeat("é", 5<<20)
	tool := tools.Tool{Name: "read", Effect: tools.Reads, Schema: object, Run: func(context.Context, *tools.Call) (tools.Result, error) {
		return tools.Result{Model: []tools.Part{{Text: "x" + long}, {Data: make([]byte, 9<<20), MIMEType: "image/png"}}, Content: []acp.ToolCallContent{acp.ToolText(long)}, Raw: long}, nil
	}}
	var content int
	s := &session{update: func(line string) error { content = len(line); return nil }}
	all, err := registry(t, tool).Run(t.Context(), tools.Env{Session: s}, []tools.Request{{Name: "read"}})
	require.NoError(t, err)
	assert.Less(t, content, 300<<10)
	first := all[0].Model[0].Text
	assert.Less(t, len(first), 300<<10)
	assert.True(t, strings.HasSuffix(first, "é\n[the rest is left out]"), "cut at a rune")
	assert.Equal(t, tools.Part{Text: "[image/png that is too large to be read]"}, all[0].Model[1])
}

// A call whose name is known before its input is shown at once, and updated when the input is
// known.
func TestAnnounce(t *testing.T) {
	s := &session{}
	r := registry(t, edit(done))
	env := tools.Env{Session: s, Gate: func(context.Context, *tools.Call) tools.Decision { return tools.Allow }}
	id, err := r.Announce(t.Context(), env, "edit")
	require.NoError(t, err)
	_, err = r.Run(t.Context(), env, []tools.Request{{Name: "edit", Input: object, ToolCallID: id}})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"call 1 Edit a file edit pending",
		`update 1 Edit /a edit {"type":"object"} @/a [diff of /a]`,
		"update 1 in_progress",
		"update 1 completed [diff of /a | done]",
	}, s.lines)
}

// refusing is a session that cannot send a tool call with an input, or an update with content.
type refusing struct{ session }

func (s *refusing) Update(ctx context.Context, u acp.SessionUpdate) error {
	switch u := u.(type) {
	case *acp.ToolCall:
		if u.RawInput != nil {
			return &acp.InvalidError{}
		}
	case *acp.ToolCallUpdate:
		if u.RawOutput != nil {
			return &acp.InvalidError{}
		}
	}
	return s.session.Update(ctx, u)
}

// A call that cannot be shown does not run, and one whose result cannot be shown has ended. The turn
// goes on in both cases.
func TestCannotBeSent(t *testing.T) {
	s := &refusing{}
	allowed := tools.Env{Session: s, Logger: quiet(), Gate: func(context.Context, *tools.Call) tools.Decision { return tools.Allow }}
	ran := 0
	tool := tools.Tool{Name: "x", Schema: object, Run: func(context.Context, *tools.Call) (tools.Result, error) {
		ran++
		return tools.Result{Model: []tools.Part{{Text: "done"}}, Raw: 1}, nil
	}}
	all, err := registry(t, tool).Run(t.Context(), allowed, []tools.Request{{Name: "x"}, {Name: "x", ToolCallID: "announced"}})
	require.NoError(t, err)
	assert.Equal(t, 1, ran)
	assert.Equal(t, "The call could not be shown to the person, so it did not run.", text(all[0]))
	assert.Equal(t, tools.Failed, all[0].Outcome)
	assert.Equal(t, tools.Completed, all[1].Outcome)
	assert.Contains(t, s.lines[len(s.lines)-1], "[the result cannot be shown]")
}

// A call whose begin cannot be stored does not run. What cannot be stored when a call ends is part of
// the error of Run, even if the turn was cancelled.
func TestBeganAndEnded(t *testing.T) {
	full := errors.New("disk full")
	ctx, cancel := context.WithCancelCause(t.Context())
	var began, ended []string
	allowed := tools.Env{Session: &session{}, Logger: quiet(), Gate: func(context.Context, *tools.Call) tools.Decision { return tools.Allow }}
	tool := tools.Tool{Name: "x", Schema: object, Run: func(ctx context.Context, c *tools.Call) (tools.Result, error) {
		cancel(acp.ErrTurnCancelled)
		return tools.Result{}, ctx.Err()
	}}
	request := func(id, name string, fails error) tools.Request {
		return tools.Request{ID: id, Name: name,
			Began: func() error { began = append(began, id); return nil },
			Ended: func(d tools.Done) error { ended = append(ended, id+" "+string(d.Outcome)); return fails }}
	}
	_, err := registry(t, tool).Run(ctx, allowed, []tools.Request{request("a", "none", nil), request("b", "x", full), request("c", "x", nil)})
	require.ErrorIs(t, err, acp.ErrTurnCancelled)
	require.ErrorIs(t, err, full)
	assert.Equal(t, []string{"b"}, began)
	assert.ElementsMatch(t, []string{"a failed", "b cancelled", "c cancelled"}, ended)
	bad := tools.Request{Name: "x", Began: func() error { return full }}
	all, err := registry(t, tool).Run(t.Context(), allowed, []tools.Request{bad})
	require.ErrorIs(t, err, full)
	assert.Equal(t, tools.Cancelled, all[0].Outcome)
	assert.Equal(t, "The call was cancelled before it ran.", text(all[0]))
}

// The parts of a result are limited together, not only one by one.
func TestManyParts(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	var parts []tools.Part
	for range 1000 {
		parts = append(parts, tools.Part{Text: long}, tools.Part{MIMEType: "image/png", Data: make([]byte, 3<<20)})
	}
	tool := tools.Tool{Name: "x", Schema: object, Effect: tools.Reads, Run: func(context.Context, *tools.Call) (tools.Result, error) {
		return tools.Result{Model: parts}, nil
	}}
	s := &session{}
	all, err := registry(t, tool).Run(t.Context(), tools.Env{Session: s}, []tools.Request{{Name: "x"}})
	require.NoError(t, err)
	texts, data := 0, 0
	for _, p := range all[0].Model {
		texts, data = texts+len(p.Text), data+len(p.Data)
	}
	assert.Less(t, texts, 2<<20)
	assert.LessOrEqual(t, data, 8<<20)
	assert.Less(t, len(strings.Join(s.lines, "")), 2<<20)
}
