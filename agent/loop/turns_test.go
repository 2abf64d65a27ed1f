package loop_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// waits returns an answer that yields events, calls reached, and then waits until its ctx is done.
func waits(reached func(), ended *time.Time, events ...loop.Event) answer {
	return func(ctx context.Context, yield func(loop.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		reached()
		<-ctx.Done()
		*ended = time.Now()
		yield(nil, context.Cause(ctx))
	}
}

// A cancelled turn ends within 100 ms, whatever it is doing. The next request has a result for each
// call, and the text that the person has seen.
func TestCancel(t *testing.T) {
	call := func(index int, id, name string) loop.CallDelta {
		return loop.CallDelta{Index: index, ID: id, Name: name, Input: `{"path":"x"}`}
	}
	for name, tt := range map[string]struct {
		first func(reached func(), ended *time.Time) answers
		asks  bool
		last  string // messages of the request after the cancelled turn
	}{
		"in the stream, before anything is said": {
			first: func(reached func(), ended *time.Time) answers { return answers{waits(reached, ended)} },
			last:  "user: one\nuser: two",
		},
		"in the stream": {
			first: func(reached func(), ended *time.Time) answers {
				return answers{waits(reached, ended, loop.Text("Hal"))}
			},
			last: "user: one\nassistant: Hal\nuser: two",
		},
		"in the stream, in a call": {
			first: func(reached func(), ended *time.Time) answers {
				return answers{waits(reached, ended, loop.Text("I write."), call(0, "a", "write"))}
			},
			last: "user: one\nassistant: I write.\nuser: two",
		},
		"in a tool": {
			first: func(func(), *time.Time) answers {
				return answers{says(call(0, "a", "read"), call(1, "b", "wait"), call(2, "c", "write"))}
			},
			last: "user: one\nassistant: a read({\"path\":\"x\"}) b wait({\"path\":\"x\"}) c write({\"path\":\"x\"})\n" +
				"results: a=text of x b!The call was cancelled. It may have taken effect in part. c!The call was cancelled before it ran.\nuser: two",
		},
		"while permission is asked": {
			first: func(func(), *time.Time) answers {
				return answers{says(call(0, "a", "read"), call(1, "b", "write"), call(2, "c", "read"))}
			},
			asks: true,
			last: "user: one\nassistant: a read({\"path\":\"x\"}) b write({\"path\":\"x\"}) c read({\"path\":\"x\"})\n" +
				"results: a=text of x b!The call was cancelled before it ran. c!The call was cancelled before it ran.\nuser: two",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reached := make(chan struct{}, 1)
				var ended time.Time // when the model or the tool noticed the cancel
				wait := tools.Typed("wait", "Waits.", func(ctx context.Context, _ *tools.Call, _ pathInput) (tools.Result, error) {
					reached <- struct{}{}
					<-ctx.Done()
					ended = time.Now()
					return tools.Result{}, ctx.Err()
				})
				wait.Effect = tools.Reads
				m := &script{answers: append(tt.first(func() { reached <- struct{}{} }, &ended), says(loop.Text("Again.")))}
				p := &person{}
				if tt.asks {
					p.asked = reached
				}
				conn, id := start(t, m, p, wait)
				stopped := make(chan acp.StopReason, 1)
				go func() { // ends with the turn
					stop, err := ask(t, conn, id, "one")
					assert.NoError(t, err)
					stopped <- stop
				}()
				<-reached
				synctest.Wait()
				begin := time.Now()
				require.NoError(t, conn.Cancel(t.Context(), &acp.CancelNotification{SessionID: id}))
				assert.Equal(t, acp.StopReasonCancelled, <-stopped)
				assert.Less(t, time.Since(begin), 100*time.Millisecond)
				if !tt.asks {
					assert.Less(t, ended.Sub(begin), 100*time.Millisecond)
					assert.False(t, ended.Before(begin), "it was not aborted before")
				}
				assert.Empty(t, p.open(), "no call stays open")
				require.Len(t, m.seen, 1, "a turn that is cancelled sends no request any more")
				stop, err := ask(t, conn, id, "two")
				require.NoError(t, err)
				assert.Equal(t, acp.StopReasonEndTurn, stop)
				assert.Equal(t, tt.last, m.seen[1])
			})
		})
	}
}

// If the program ends during a call, the model later reads that the call was interrupted, and the
// call does not run again. A call that had ended before keeps its result.
func TestCrashInACall(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	store, err := journal.OpenFiles(before, nil)
	require.NoError(t, err)
	var ran atomic.Int32
	running, release := make(chan struct{}), make(chan struct{})
	deploy := tools.Typed("deploy", "Deploys.", func(context.Context, *tools.Call, pathInput) (tools.Result, error) {
		ran.Add(1)
		close(running)
		<-release
		return tools.Text("deployed"), nil
	})
	deploy.Effect = tools.Reads // needs no permission
	m := &script{answers: answers{
		says(loop.Text("I deploy."), loop.CallDelta{Index: 0, ID: "a", Name: "write", Input: `{"path":"x"}`},
			loop.CallDelta{Index: 1, ID: "b", Name: "deploy", Input: `{"path":"x"}`}, loop.CallDelta{Index: 2, ID: "c", Name: "write", Input: `{"path":"y"}`}),
		says(loop.Text("Done.")),
	}}
	conn := peertest.Connect(t, serve(m, store, deploy).Serve, &person{}, nil)
	session, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: dir})
	require.NoError(t, err)
	over := make(chan struct{})
	go func() { // ends with the turn
		defer close(over)
		_, _ = ask(t, conn, session.SessionID, "go")
	}()
	<-running
	require.NoError(t, os.CopyFS(after, os.DirFS(before)), "what a crash now would leave")
	close(release)
	<-over

	for range 2 {
		store, err = journal.OpenFiles(after, nil)
		require.NoError(t, err)
		m = &script{answers: answers{says(loop.Text("I look."))}}
		p := &person{}
		a := serve(m, store, deploy)
		conn = peertest.Connect(t, a.Serve, p, nil)
		_, err = conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: session.SessionID, Cwd: dir})
		require.NoError(t, err)
		assert.Empty(t, p.open(), "no call stays open")
		_, err = ask(t, conn, session.SessionID, "and now?")
		require.NoError(t, err)
		require.NoError(t, a.Close(t.Context()))
	}
	const interrupted, neverRan = "The call was interrupted: it may have taken effect. Look before you repeat it.", "The call did not run, because the agent was interrupted before."
	assert.Equal(t, []string{"user: go\nassistant: I deploy. a write({\"path\":\"x\"}) b deploy({\"path\":\"x\"}) c write({\"path\":\"y\"})\n" +
		"results: a=written b!" + interrupted + " c!" + neverRan + "\nuser: and now?\nassistant: I look.\nuser: and now?"}, m.seen)
	assert.Equal(t, int32(1), ran.Load())
}

// Calls that only read run at the same time. Their results are in the order of the calls.
func TestParallelReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := tools.Typed("slow", "Reads slowly.", func(_ context.Context, _ *tools.Call, in pathInput) (tools.Result, error) {
			d, err := time.ParseDuration(in.Path)
			time.Sleep(d)
			return tools.Text("read in " + in.Path), err
		})
		slow.Effect = tools.Reads
		var deltas []loop.Event
		for i, d := range []string{"3s", "1s", "2s"} {
			deltas = append(deltas, loop.CallDelta{Index: i, ID: d, Name: "slow", Input: `{"path":"` + d + `"}`})
		}
		m := &script{answers: answers{says(deltas...), says(loop.Text("Ok."))}}
		conn, id := start(t, m, &person{}, slow)
		begin := time.Now()
		_, err := ask(t, conn, id, "go")
		require.NoError(t, err)
		assert.Less(t, time.Since(begin), 3500*time.Millisecond, "one after the other takes 6 s")
		assert.Contains(t, m.seen[1], "results: 3s=read in 3s 1s=read in 1s 2s=read in 2s")
	})
}

// An answer without a text and a call is not stored, and the model is asked once more. If that gives
// nothing, the person reads it.
func TestEmptyAnswer(t *testing.T) {
	announced := says(loop.Stop{Reason: loop.ToolCalls})
	m := &script{answers: answers{says(), says(loop.Thought("hm")), says(), says(loop.Text("Ok.")),
		announced, announced, says(loop.Thought("hm")), says(loop.CallDelta{Name: "read", Input: `{"path":"x"}`}), says(), says(loop.Text("Done."))}}
	p := &person{}
	converse(t, m, p, "one", "two", "three", "four")
	assert.Equal(t, []string{
		"The model has answered twice without a text or a call. Ask again, or choose another model.", "Ok.",
		"The model has announced tool calls twice and has sent none. Ask again, or choose another model.", "Done.",
	}, p.messages)
	assert.Equal(t, "user: one\nuser: two", m.seen[3])
}

// However an answer ends, the person reads why.
func TestEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		answer answer
		stop   acp.StopReason
		text   string
		err    string
	}{
		"refused":                {says(loop.Text("No."), loop.Stop{Reason: loop.Refused}), acp.StopReasonRefusal, "No.", ""},
		"refused without a word": {says(loop.Stop{Reason: loop.Refused, Text: "policy"}), acp.StopReasonRefusal, "The model has refused to answer (policy).", ""},
		"filtered": {says(loop.Text("I "), loop.CallDelta{Name: "read", Input: `{"path":"x"}`}, loop.Stop{Reason: loop.Filtered, Text: "safety"}), acp.StopReasonRefusal,
			"I A filter of the service has ended the answer (safety).", ""},
		"failed":  {says(loop.Text("I "), loop.Stop{Reason: loop.Failed, Text: "crash"}), "", "I ", "the service has ended the answer of the model (crash)"},
		"too big": {says(loop.Text(strings.Repeat("x", 2<<20)), loop.Stop{}), "", "", "the answer of the model is too long"},
		"too many calls": {func(_ context.Context, yield func(loop.Event, error) bool) {
			for i := range 1000 {
				if !yield(loop.CallDelta{Index: i, Name: "read"}, nil) {
					return
				}
			}
		}, "", "", "more than 128 tool calls"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &script{answers: answers{tt.answer, says(loop.Text("Ok."))}}
			p := &person{}
			conn := peertest.Connect(t, kit.New(&kit.Options{Turn: loop.New(m, &loop.Options{MaxAnswer: 1 << 20}).Turn}).Serve, p, nil)
			session, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
			require.NoError(t, err)
			stop, err := ask(t, conn, session.SessionID, "go")
			assert.Equal(t, tt.stop, stop)
			assert.Equal(t, tt.text, p.text)
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
			}
			_, err = ask(t, conn, session.SessionID, "and now?")
			assert.NoError(t, err, "the session goes on")
			assert.Less(t, len(m.seen[1]), 100<<10)
		})
	}
}

// A call that is cut off does not run. The model reads why, and the turn ends if it happens again and
// again.
func TestCutCalls(t *testing.T) {
	write := func(input string, reason loop.StopReason) answer {
		return says(loop.CallDelta{ID: "a", Name: "write", Input: `{"path":"x"}`}, loop.CallDelta{Index: 1, ID: "b", Name: "write", Input: input}, loop.Stop{Reason: reason})
	}
	m := &script{answers: answers{write(`{"pa`, loop.Length), says(loop.Text("Ok.")), write("", loop.Length), write(`{"pa`, loop.Done), write(`{"pa`, loop.ToolCalls)}}
	p := &person{}
	conn, id := converse(t, m, p, "one")
	const sentence = "b!Your output was cut at the limit of tokens for one answer, so this call did not run. Do it in smaller steps."
	assert.Contains(t, m.seen[1], "results: a=written "+sentence)
	stop, err := ask(t, conn, id, "two")
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonMaxTokens, stop)
	assert.Contains(t, m.seen[3], "b write({})\nresults: a=written "+sentence)
	assert.Contains(t, m.seen[4], "b!The input of the call is not a JSON object.")
	assert.Contains(t, p.text, "The calls of the model are cut off again and again")
}

// An input that is longer than what a tool takes is not stored whole, and names are cut.
func TestHugeCalls(t *testing.T) {
	m := &script{answers: answers{says(loop.CallDelta{ID: strings.Repeat("i", 1000), Name: strings.Repeat("n", 1000), Input: `{"path":"` + strings.Repeat("x", 2<<20) + `"}`}), says(loop.Text("Ok."))}}
	converse(t, m, &person{}, "one")
	assert.Less(t, len(m.seen[1]), 10<<10)
	assert.Contains(t, m.seen[1], "There is no tool")
}

// What services send as the input of a call is read as the object that it contains.
func TestInputs(t *testing.T) {
	for given, want := range map[string]string{
		`{}{"path":"x"}`: `{"path":"x"}`, `{"path":"x"}{"path":"x"}`: `{"path":"x"}`, `"{\"path\":\"x\"}"`: `{"path":"x"}`, "null": "{}", " ": "{}", `{"path":"x"}{}`: `{"path":"x"}`,
		"```json\n{\"path\":\"x\"}\n```": `{"path":"x"}`, `{"path":"x"}{"path":"y"}`: `"{\"path\":\"x\"}{\"path\":\"y\"}"`, `{"path`: `"{\"path"`, `[]`: `[]`,
	} {
		m := &script{answers: answers{says(loop.CallDelta{ID: "a", Name: "read", Input: given}), says(loop.Text("Ok."))}}
		converse(t, m, &person{}, "one")
		assert.Contains(t, m.seen[1], "a read("+want+")\n", given)
	}
}

// The tokens of a turn are in the response to its prompt, and a window that is not known is not
// reported.
func TestUsage(t *testing.T) {
	usage := func(in, out, size uint64) loop.Usage {
		return loop.Usage{Used: in + out, Size: size, Tokens: &acp.Usage{InputTokens: in, OutputTokens: out, TotalTokens: in + out, ThoughtTokens: new(uint64(1))}, Cost: &acp.Cost{Amount: 0.5, Currency: "USD"}}
	}
	m := &script{answers: answers{says(loop.CallDelta{Name: "read", Input: `{"path":"x"}`}, usage(10, 1, 0)), says(loop.Text("Ok."), usage(20, 2, 100)), says(loop.Text("Ok."))}}
	p := &person{}
	conn, id := start(t, m, p)
	res, err := conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("go")}})
	require.NoError(t, err)
	assert.Equal(t, &acp.Usage{InputTokens: 30, OutputTokens: 3, TotalTokens: 33, ThoughtTokens: new(uint64(2))}, res.Usage)
	assert.Equal(t, []*acp.UsageUpdate{{Used: 22, Size: 100, Cost: &acp.Cost{Amount: 1, Currency: "USD"}}}, p.usage)
	res, err = conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("go")}})
	require.NoError(t, err)
	assert.Nil(t, res.Usage)
}

// A prompt that arrives between two requests to the model waits for the end of the turn.
func TestQueuedPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := make(chan acp.StopReason, 1)
		m, p := &script{}, &person{}
		conn, id := start(t, m, p)
		m.answers = answers{
			func(ctx context.Context, yield func(loop.Event, error) bool) {
				go func() { // ends with its turn
					stop, err := ask(t, conn, id, "two")
					assert.NoError(t, err)
					second <- stop
				}()
				time.Sleep(time.Second) // the prompt has arrived
				says(loop.Text("I read."), loop.CallDelta{ID: "a", Name: "read", Input: `{"path":"x"}`})(ctx, yield)
			},
			says(loop.Text("First.")),
			says(loop.Text("Second.")),
		}
		stop, err := ask(t, conn, id, "one")
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, stop)
		assert.Equal(t, acp.StopReasonEndTurn, <-second)
		first := "user: one\nassistant: I read. a read({\"path\":\"x\"})\nresults: a=text of x"
		assert.Equal(t, []string{"user: one", first, first + "\nassistant: First.\nuser: two"}, m.seen)
	})
}

// Each answer is a separate message, even if there is no call between two answers.
func TestMessageOfEachAnswer(t *testing.T) {
	m := &script{answers: answers{
		says(loop.Text("I "), loop.Text("look."), loop.CallDelta{ID: "a", Name: "read", Input: `{"path":"x"}`}),
		fails(loop.ErrTooLong, loop.Text("I ask")),
		says(loop.Text("SUMMARY")), says(loop.Text("I ask"), loop.Text(" again.")), says(loop.Text("Bye.")),
	}}
	p := &person{}
	converse(t, m, p, "one", "two")
	require.Len(t, p.messages, 5)
	assert.Contains(t, p.messages[2], "too long for the model")
	assert.Equal(t, []string{"I look.", "I ask", "I ask again.", "Bye."}, slices.Delete(p.messages, 2, 3))
	assert.NotContains(t, p.ids, acp.MessageID(""))
}
