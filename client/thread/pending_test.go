package thread_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/termview"
)

var asksOnce = thread.Permission{Lines: []string{"run ls"}, Options: []thread.PermissionOption{{ID: "y", Label: "Allow once", Name: "Yes", Kind: "allow_once"}}}

// A question about a request has the place and the key of the request. An answer by key reaches who asked, once.
func TestAnswerByKey(t *testing.T) {
	th := thread.New()
	key := th.Permission(&acp.RequestPermissionRequest{
		ToolCall: acp.ToolCallUpdate{ToolCallID: "1", Title: "T"},
		Options:  []acp.PermissionOption{{OptionID: "y", Name: "Yes", Kind: "allow_once", Meta: acp.Meta{"k": "v"}}},
	})
	assert.ErrorContains(t, th.Answer(key, "y"), "nobody waits")
	got, answers, remove := thread.ListQuestion(th.Context(t.Context(), key), asksOnce)
	assert.Equal(t, key, got)
	act, more, removeAct := thread.ListQuestion(th.Context(t.Context(), 0), asksOnce)
	listed := th.Snapshot().Permissions
	require.Len(t, listed, 2)
	want := thread.Permission{Key: key, ToolCallID: "1", Title: "T", Lines: []string{"run ls"},
		Options: []thread.PermissionOption{{ID: "y", Label: "Allow once", Name: "Yes", Kind: "allow_once", Meta: thread.Meta{"k": "v"}}}}
	assert.Equal(t, want, listed[0])
	assert.Equal(t, act, listed[1].Key)

	assert.ErrorContains(t, th.Answer(key, "z"), `"z"`)
	assert.ErrorIs(t, th.Answer(key+7, "y"), thread.ErrNotPending)
	require.NoError(t, th.Answer(key, "y"))
	assert.Equal(t, "y", <-answers)
	assert.ErrorIs(t, th.Answer(key, "y"), thread.ErrNotPending, "it was answered")
	require.Len(t, th.Snapshot().Permissions, 1)
	remove()
	remove()

	removeAct()
	_, answered := <-more
	assert.False(t, answered)
	assert.ErrorIs(t, th.Answer(act, "y"), thread.ErrNotPending)
	assert.Empty(t, th.Snapshot().Permissions)

	key, answers, remove = thread.ListQuestion(t.Context(), asksOnce)
	assert.Zero(t, key)
	assert.Nil(t, answers, "without a thread there is no answer")
	remove()
}

// What ends the questions of a thread tells those who wait that there will be no answer.
func TestQuestionsThatAreWithdrawn(t *testing.T) {
	for name, end := range map[string]func(th *thread.Thread){
		"the turn ends": func(th *thread.Thread) { th.EndTurn(&acp.PromptResponse{}, nil) },
		"a reset":       (*thread.Thread).Reset,
		"a restore":     func(th *thread.Thread) { th.Restore(thread.New().Snapshot()) },
	} {
		th := thread.New()
		th.Prompt(nil)
		key := th.Permission(&acp.RequestPermissionRequest{})
		ctx := th.Context(t.Context(), key)
		_, answers, remove := thread.ListQuestion(ctx, asksOnce)
		end(th)
		_, answered := <-answers
		assert.False(t, answered, name)
		remove()
		_, answers, _ = thread.ListQuestion(ctx, asksOnce)
		_, answered = <-answers
		assert.False(t, answered, "%s: the request is no longer listed", name)
		assert.Empty(t, th.Snapshot().Permissions, name)
	}
}

// Beyond those that a snapshot lists, questions can be asked and answered too.
func TestAFloodOfQuestions(t *testing.T) {
	th := thread.New()
	const n = 3000
	answers := make([]<-chan string, n)
	keys := make([]uint64, n)
	for i := range n {
		keys[i], answers[i], _ = thread.ListQuestion(th.Context(t.Context(), th.Ask(thread.Permission{})), asksOnce)
	}
	require.NoError(t, th.Answer(keys[n-1], "y"))
	assert.Equal(t, "y", <-answers[n-1])
	for i := range n - 1 {
		listed := th.Snapshot().Permissions
		require.Equal(t, min(100, n-1-i), len(listed))
		require.Equal(t, keys[i], listed[0].Key)
		require.Equal(t, asksOnce.Lines, listed[len(listed)-1].Lines)
		require.NoError(t, th.Answer(keys[i], "y"))
		require.Equal(t, "y", <-answers[i])
	}
}

// A page gets all of a question as JSON.
func TestQuestionsAsJSON(t *testing.T) {
	th := thread.New()
	p := asksOnce
	p.Text = new("new\n")
	p.Options = append(p.Options[:1:1], thread.PermissionOption{ID: "own allow_always", Label: "Always allow running ls in this session", Kind: "allow_always", Own: true})
	_, _, remove := thread.ListQuestion(th.Context(t.Context(), 0), p)
	defer remove()
	raw, err := json.Marshal(th.Snapshot())
	require.NoError(t, err)
	var page struct{ Permissions json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &page))
	assert.JSONEq(t, `[{"key":1,"lines":["run ls"],"text":"new\n","options":[{"id":"y","label":"Allow once","name":"Yes","kind":"allow_once"},
		{"id":"own allow_always","label":"Always allow running ls in this session","name":"","kind":"allow_always","own":true}]}]`, string(page.Permissions))
}

// A Set puts the thread of the session into the ctx of each request that may lead to a question.
func TestSetGivesRequestsTheirThread(t *testing.T) {
	set := new(thread.Set)
	th := set.Thread("s")
	var keys []uint64
	ask := func(ctx context.Context) {
		key, _, remove := thread.ListQuestion(ctx, asksOnce)
		keys = append(keys, key)
		assert.Len(t, th.Snapshot().Permissions, 1)
		remove()
	}
	c := set.Client(&peertest.Client{OnPermission: func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		ask(ctx)
		return acp.Cancelled(), nil
	}})
	_, err := c.RequestPermission(t.Context(), &acp.RequestPermissionRequest{SessionID: "s"})
	require.NoError(t, err)
	all := set.Client(&asking{&peertest.Client{}, ask, nil})
	_, _ = all.(acp.TextFileReader).ReadTextFile(t.Context(), &acp.ReadTextFileRequest{SessionID: "s"})
	_, _ = all.(acp.TextFileWriter).WriteTextFile(t.Context(), &acp.WriteTextFileRequest{SessionID: "s"})
	_, _ = all.(acp.TerminalHost).CreateTerminal(t.Context(), &acp.CreateTerminalRequest{SessionID: "s"})
	assert.Equal(t, []uint64{1, 2, 3, 4}, keys)
}

type asking struct {
	acp.Client
	ask func(context.Context)
	run func(view func(termview.Update)) // of a terminal; nil asks
}

func (a *asking) ReadTextFile(ctx context.Context, _ *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	a.ask(ctx)
	return nil, acp.ErrClosed
}

func (a *asking) WriteTextFile(ctx context.Context, _ *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	a.ask(ctx)
	return nil, acp.ErrClosed
}

func (a *asking) CreateTerminal(ctx context.Context, _ *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	if a.run != nil {
		a.run(termview.Of(ctx))
	} else {
		a.ask(ctx)
	}
	return nil, acp.ErrClosed
}

func (*asking) TerminalOutput(context.Context, *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	return nil, acp.ErrClosed
}

func (*asking) WaitForTerminalExit(context.Context, *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	return nil, acp.ErrClosed
}

func (*asking) KillTerminal(context.Context, *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	return nil, acp.ErrClosed
}

func (*asking) ReleaseTerminal(context.Context, *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	return nil, acp.ErrClosed
}
