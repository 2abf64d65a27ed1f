package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// script is a Model with prepared answers. It records the requests.
type script struct {
	answers answers

	mu     sync.Mutex
	seen   []string // the messages of each request
	system []string // the system prompt of each request
}

func (m *script) Generate(ctx context.Context, req *loop.Request) iter.Seq2[loop.Event, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []string
	for _, msg := range req.Messages {
		lines = append(lines, line(msg))
	}
	m.seen, m.system = append(m.seen, strings.Join(lines, "\n")), append(m.system, req.System)
	n := len(m.seen) - 1
	return func(yield func(loop.Event, error) bool) { m.answers[n](ctx, yield) }
}

// line formats a message: "user: hi", "assistant: yes read({})", "results: read=ok edit!no".
func line(m loop.Message) string {
	words := []string{string(m.Role) + ":"}
	for _, p := range m.Parts {
		words = append(words, p.Text)
	}
	for _, c := range m.Calls {
		words = append(words, fmt.Sprintf("%s %s(%s)", c.ID, c.Name, c.Input))
	}
	for _, r := range m.Results {
		sign := "="
		if r.Failed {
			sign = "!"
		}
		words = append(words, r.ID+sign+r.Parts[0].Text)
	}
	if m.Opaque != nil {
		words = append(words, string(m.Opaque))
	}
	return strings.Join(words, " ")
}

type (
	answer  = func(ctx context.Context, yield func(loop.Event, error) bool)
	answers = []answer
)

// says returns an answer that consists of these events.
func says(events ...loop.Event) answer {
	return func(_ context.Context, yield func(loop.Event, error) bool) {
		for _, e := range append(events, loop.Stop{}) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// fails returns an answer that consists of these events and ends with an error.
func fails(err error, events ...loop.Event) answer {
	return func(_ context.Context, yield func(loop.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		yield(nil, err)
	}
}

// person is a client that allows or rejects tool calls.
type person struct {
	reject bool
	asked  chan struct{} // if not nil, receives a value for each question, and no question is answered before the turn ends

	mu       sync.Mutex
	text     string
	messages []string // texts by their message id, in order
	ids      []acp.MessageID
	calls    map[acp.ToolCallID]acp.ToolCallStatus
	usage    []*acp.UsageUpdate
}

func (p *person) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = make(map[acp.ToolCallID]acp.ToolCallStatus)
	}
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		text := acp.PlainText(u.Content)
		p.text += text
		if i := slices.Index(p.ids, u.MessageID); i >= 0 {
			p.messages[i] += text
		} else {
			p.ids, p.messages = append(p.ids, u.MessageID), append(p.messages, text)
		}
	case *acp.UsageUpdate:
		p.usage = append(p.usage, u)
	case *acp.ToolCall:
		p.calls[u.ToolCallID] = u.Status
	case *acp.ToolCallUpdate:
		if u.Status != "" {
			p.calls[u.ToolCallID] = u.Status
		}
	}
	return nil
}

// open returns the tool calls that have not ended.
func (p *person) open() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, status := range p.calls {
		if status != acp.ToolCallStatusCompleted && status != acp.ToolCallStatusFailed {
			all = append(all, fmt.Sprint(id, " ", status))
		}
	}
	return all
}

func (p *person) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if p.asked != nil {
		p.asked <- struct{}{}
		<-ctx.Done()
		return acp.Cancelled(), nil
	}
	option := req.Options[0]
	if p.reject {
		option = req.Options[len(req.Options)-1]
	}
	return &acp.RequestPermissionResponse{Outcome: &acp.SelectedPermissionOutcome{OptionID: option.OptionID}}, nil
}

type pathInput struct {
	Path string `json:"path" validate:"required"`
}

// serve returns an agent with a loop around the model and the tools read, write and more.
func serve(m *script, store journal.Store, more ...tools.Tool) *kit.Agent {
	read := tools.Typed("read", "Reads.", func(_ context.Context, _ *tools.Call, in pathInput) (tools.Result, error) {
		return tools.Text("text of " + in.Path), nil
	})
	read.Effect = tools.Reads
	write := tools.Typed("write", "Writes.", func(context.Context, *tools.Call, pathInput) (tools.Result, error) {
		return tools.Text("written"), nil
	})
	l := loop.New(m, &loop.Options{MaxRequests: 5, System: func(s *kit.Session) string {
		cwd, _ := s.Cwd()
		return "You work in " + cwd + "."
	}})
	return kit.New(&kit.Options{
		Turn: l.Turn, SystemPrompts: loop.SystemPrompts(), Store: store, Tools: func(*kit.Session) []tools.Tool { return append([]tools.Tool{read, write}, more...) },
		Commands: kit.Commands{{Name: "compact", Run: l.Compact}},
	})
}

// start serves a loop around the model and opens a session.
func start(t *testing.T, m *script, p *person, more ...tools.Tool) (*client.Conn, acp.SessionID) {
	t.Helper()
	conn := peertest.Connect(t, serve(m, nil, more...).Serve, p, nil)
	res, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
	require.NoError(t, err)
	return conn, res.SessionID
}

func ask(t *testing.T, conn *client.Conn, id acp.SessionID, text string) (acp.StopReason, error) {
	t.Helper()
	res, err := conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text(text)}})
	if err != nil {
		return "", err
	}
	return res.StopReason, nil
}

// converse serves a loop around the model and prompts with each text in one session.
func converse(t *testing.T, m *script, p *person, texts ...string) (conn *client.Conn, id acp.SessionID) {
	t.Helper()
	conn, id = start(t, m, p)
	for _, text := range texts {
		stop, err := ask(t, conn, id, text)
		require.NoError(t, err)
		require.Equal(t, acp.StopReasonEndTurn, stop)
	}
	return conn, id
}

func TestWithoutModel(t *testing.T) {
	_, err := loop.New(nil, nil).Turn(t.Context(), nil, nil)
	assert.EqualError(t, err, "loop: New was given no Model: pass the result of chat.New, or a Model of your own")
}

func TestRounds(t *testing.T) {
	for name, tt := range map[string]struct {
		answers answers
		reject  bool
		stop    acp.StopReason
		text    string
		last    string // the messages of the last request
	}{
		"one answer": {
			answers: answers{says(loop.Text("He"), loop.Text("llo"))},
			stop:    acp.StopReasonEndTurn, text: "Hello", last: "user: go",
		},
		"three rounds, calls in pieces, ids that repeat": {
			answers: answers{
				says(loop.Text("I look."), loop.CallDelta{Index: 0, ID: "a", Name: "read", Input: `{"pa`}, loop.CallDelta{Index: 1, ID: "a", Name: "read"},
					loop.CallDelta{Index: 0, Input: `th":"x"}`}, loop.CallDelta{Index: 1, Input: `{"path":"y"}`}),
				says(loop.CallDelta{Index: 3, Name: "write", Input: `{"path":"x"}`}),
				says(loop.Text("Done.")),
			},
			stop: acp.StopReasonEndTurn, text: "I look.Done.",
			last: "user: go\nassistant: I look. a read({\"path\":\"x\"}) call_1 read({\"path\":\"y\"})\nresults: a=text of x call_1=text of y\n" +
				"assistant: call_0 write({\"path\":\"x\"})\nresults: call_0=written",
		},
		"rejected, and the model goes on": {
			answers: answers{
				says(loop.CallDelta{ID: "a", Name: "write", Input: `{"path":"x"}`}), says(loop.Text("Then not.")),
			},
			reject: true, stop: acp.StopReasonEndTurn, text: "Then not.",
			last: "user: go\nassistant: a write({\"path\":\"x\"})\nresults: a!The person rejected this call. Do not try it again in another way; go on without it, or ask what to do.",
		},
		"input that is no JSON, and a tool that does not exist": {
			answers: answers{
				says(loop.CallDelta{Index: 0, ID: "a", Name: "read", Input: `{"path`}, loop.CallDelta{Index: 1, ID: "b", Name: "fly"}), says(loop.Text("Ok.")),
			},
			stop: acp.StopReasonEndTurn, text: "Ok.",
			last: "user: go\nassistant: a read(\"{\\\"path\") b fly({})\nresults: a!The input of the call is not a JSON object. Call the tool again with all of its input. b!There is no tool \"fly\". The tools are: read, write.",
		},
		"no more tokens": {
			answers: answers{says(loop.Text("He"), loop.Stop{Reason: loop.Length})},
			stop:    acp.StopReasonMaxTokens, text: "HeThe model had no room left for its answer: give it a larger context, for Ollama with OLLAMA_CONTEXT_LENGTH=32768.", last: "user: go",
		},
		"no more tokens after much text": {
			answers: answers{says(loop.Text(strings.Repeat("long ", 100)), loop.Stop{Reason: loop.Length})},
			stop:    acp.StopReasonMaxTokens, text: strings.Repeat("long ", 100), last: "user: go",
		},
		"what the model wants back": {
			answers: answers{
				says(loop.CallDelta{ID: "a", Name: "read", Input: `{"path":"x"}`}, loop.Stop{Opaque: json.RawMessage(`{"signature":1}`)}), says(loop.Text("Ok.")),
			},
			stop: acp.StopReasonEndTurn, text: "Ok.",
			last: "user: go\nassistant: a read({\"path\":\"x\"}) {\"signature\":1}\nresults: a=text of x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &script{answers: tt.answers}
			p := &person{reject: tt.reject}
			conn, id := start(t, m, p)
			stop, err := ask(t, conn, id, "go")
			require.NoError(t, err)
			assert.Equal(t, tt.stop, stop)
			assert.Equal(t, tt.text, p.text)
			assert.Equal(t, tt.last, m.seen[len(m.seen)-1])
		})
	}
}

// Each session has its own system prompt. That of the client is appended, or replaces it, also when
// the conversation is summarized.
func TestSystem(t *testing.T) {
	m := &script{answers: slices.Repeat(answers{says(loop.Text("x"))}, 6)}
	conn := peertest.Connect(t, serve(m, nil).Serve, &person{}, nil)
	words := []acp.ContentBlock{acp.Text("Be brief.")}
	var want []string
	for _, p := range []*acp.SystemPrompt{nil, {Mode: acp.SystemPromptModeAppend, Content: words}, {Mode: acp.SystemPromptModeOverride, Content: words}} {
		dir := t.TempDir()
		session, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: dir, SystemPrompt: p})
		require.NoError(t, err)
		for _, text := range []string{"go", "/compact"} {
			_, err = ask(t, conn, session.SessionID, text)
			require.NoError(t, err)
			want = append(want, p.Apply("You work in "+dir+"."))
		}
	}
	assert.Equal(t, want, m.system)
	assert.Equal(t, "Be brief.", m.system[5])
	assert.True(t, strings.HasSuffix(m.system[3], ".\n\nBe brief."), m.system[3])
}

func TestMaxRequests(t *testing.T) {
	m := &script{answers: slices.Repeat(answers{says(loop.CallDelta{ID: "a", Name: "read", Input: `{"path":"x"}`})}, 5)}
	conn, id := start(t, m, &person{})
	stop, err := ask(t, conn, id, "go")
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonMaxTurnRequests, stop)
}

// A conversation that has become too long is summarized at most once in a turn.
func TestTooLong(t *testing.T) {
	tooLong := fails(fmt.Errorf("status 400: %w", loop.ErrTooLong))
	m := &script{answers: answers{
		says(loop.Text("first")), tooLong, says(loop.Text("SUMMARY")), says(loop.Text("second")), says(loop.Text("SHORT")), says(loop.Text("third")), tooLong, says(loop.Text("S")), tooLong,
	}}
	p := &person{}
	conn, id := converse(t, m, p, "one", "two", "/compact", "three")
	const told = "The conversation had become too long for the model, so the model goes on with a summary of it."
	assert.Equal(t, "first"+told+"secondThe conversation is summarized.third", p.text)
	assert.Equal(t, "user: A summary of our conversation so far:\n\nSUMMARY\nassistant: Thank you, I go on from there.\nuser: two", m.seen[3])
	assert.Equal(t, "user: A summary of our conversation so far:\n\nSHORT\nassistant: Thank you, I go on from there.\nuser: three", m.seen[5])
	_, err := ask(t, conn, id, "four")
	assert.Error(t, err, "too long again")
}

// The model gets the current prompt whole after a summary, however long it is, and without the results of
// the turn so far.
func TestTooLongKeepsThePrompt(t *testing.T) {
	m := &script{answers: answers{says(loop.Text("first")), fails(loop.ErrTooLong), says(loop.Text("SUMMARY")), says(loop.Text("second")), says(loop.Text("third"))}}
	prompt := strings.Repeat("every word counts ", 5_000)
	converse(t, m, &person{}, "one", prompt, "three")
	const summary = "user: A summary of our conversation so far:\n\nSUMMARY\nassistant: Thank you, I go on from there.\nuser: "
	assert.Equal(t, summary+prompt, m.seen[3])
	assert.Equal(t, summary+prompt+"\nassistant: second\nuser: three", m.seen[4], "also in later turns")
}

// The model reads the prompts that were cancelled while they waited.
func TestEarlierPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &script{answers: answers{
			func(ctx context.Context, yield func(loop.Event, error) bool) { <-ctx.Done(); yield(nil, ctx.Err()) },
			says(loop.Text("Yes.")), says(loop.Text("Yes?")),
		}}
		conn, id := start(t, m, &person{})
		done := make(chan acp.StopReason)
		for _, text := range []string{"one", "two"} {
			go func() { // ends with the cancel
				reason, err := ask(t, conn, id, text)
				assert.NoError(t, err)
				done <- reason
			}()
			synctest.Wait()
		}
		require.NoError(t, conn.Cancel(t.Context(), &acp.CancelNotification{SessionID: id}))
		assert.Equal(t, []acp.StopReason{"cancelled", "cancelled"}, []acp.StopReason{<-done, <-done})
		for _, text := range []string{"three", "four"} {
			_, err := ask(t, conn, id, text)
			require.NoError(t, err)
		}
		assert.Equal(t, "user: one\nuser: two\nuser: three\nassistant: Yes.\nuser: four", m.seen[2])
	})
}

// If even the request for a summary is too long, for example because the conversation was held with
// a larger model, its texts are cut until the model accepts it. This holds for a prompt and for
// /compact.
func TestTooLongForASummary(t *testing.T) {
	for _, last := range []string{"/compact", "and now?"} {
		m := &script{answers: slices.Repeat(answers{says(loop.Text(strings.Repeat("wörter ", 1_000)))}, 10)}
		small := func(ctx context.Context, yield func(loop.Event, error) bool) {
			if seen := m.seen[len(m.seen)-1]; len(seen) > 4<<10 {
				yield(nil, loop.ErrTooLong)
				return
			}
			says(loop.Text("SUMMARY"))(ctx, yield)
		}
		m.answers = append(m.answers, slices.Repeat(answers{small}, 10)...)
		converse(t, m, &person{}, append(slices.Repeat([]string{"Tell me more."}, 10), last, "go on")...)
		after := "user: A summary of our conversation so far:\n\nSUMMARY\nassistant: Thank you, I go on from there.\n"
		if last != "/compact" {
			after += "user: and now?\nassistant: SUMMARY\n"
		}
		assert.Equal(t, after+"user: go on", m.seen[len(m.seen)-1])
	}
}

// A long input of a call does not make the request for a summary too long.
func TestTooLongByCalls(t *testing.T) {
	m := &script{answers: answers{
		says(loop.CallDelta{ID: "a", Name: "read", Input: `{"path":"` + strings.Repeat("x", 1<<20) + `"}`}),
		fails(loop.ErrTooLong), says(loop.Text("SUMMARY")), says(loop.Text("Done.")),
	}}
	converse(t, m, &person{}, "go")
	assert.Less(t, len(m.seen[2]), 20<<10)
	assert.Contains(t, m.seen[2], "a read(\"")
}

// The text of the model before an error or a cancel is kept, and its calls are not.
func TestErrorInAnAnswer(t *testing.T) {
	m := &script{answers: answers{
		fails(errors.New("cut"), loop.Text("Hal"), loop.CallDelta{ID: "a", Name: "read", Input: `{}`}),
		says(loop.Text("Again.")),
	}}
	conn, id := start(t, m, &person{})
	_, err := ask(t, conn, id, "one")
	require.Error(t, err)
	_, err = ask(t, conn, id, "two")
	require.NoError(t, err)
	assert.Equal(t, "user: one\nassistant: Hal\nuser: two", m.seen[1])
}

// A model that panics fails the prompt with an internal error that has an id, whatever the text of the panic says, and
// the session goes on. The conversation is not summarized for it.
func TestModelThatPanics(t *testing.T) {
	for _, text := range []string{"context_length_exceeded", "rate limit"} {
		broken := func(_ context.Context, yield func(loop.Event, error) bool) {
			yield(loop.Text("Hal"), nil)
			panic(errors.New(text))
		}
		m := &script{answers: answers{broken, says(loop.Text("Again."))}}
		conn, id := start(t, m, &person{})
		_, err := ask(t, conn, id, "one")
		var e *rpcerr.RequestError
		require.ErrorAs(t, err, &e, text)
		assert.Equal(t, rpcerr.CodeInternalError, e.Code)
		var data struct{ ErrorID string }
		require.NoError(t, e.DecodeData(&data))
		assert.NotEmpty(t, data.ErrorID)
		assert.NotContains(t, err.Error(), text)
		require.Len(t, m.seen, 1)
		_, err = ask(t, conn, id, "two")
		require.NoError(t, err)
		assert.Contains(t, m.seen[1], "user: one")
	}
}

// The request for a summary does not contain Opaque, which may have the long texts in full.
func TestTooLongOpaque(t *testing.T) {
	m := &script{answers: answers{
		says(loop.Text("first"), loop.Stop{Opaque: json.RawMessage(`{"signed":"first"}`)}), fails(loop.ErrTooLong), says(loop.Text("SUMMARY")), says(loop.Text("second")),
	}}
	converse(t, m, &person{}, "one", "two")
	assert.Contains(t, m.seen[1], `{"signed":"first"}`)
	assert.NotContains(t, m.seen[2], `{"signed":"first"}`)
}
