package permission_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
)

// inThread is a scope whose questions are listed in a thread.
type inThread struct {
	*testScope
	th *thread.Thread
}

func newInThread(t *testing.T, opts permission.Options) *inThread {
	return &inThread{newTestScope(t, opts), thread.New()}
}

// decide asks as an agent does, and returns where the outcome will be.
func (x *inThread) decide(ctx context.Context, tool permission.Tool) <-chan permission.Outcome {
	got := make(chan permission.Outcome, 1)
	key := x.th.Permission(&acp.RequestPermissionRequest{ToolCall: acp.ToolCallUpdate{Title: tool.Title}})
	go func() { got <- x.Decide(x.th.Context(ctx, key), question(tool)) }() // ends with the outcome
	synctest.Wait()
	return got
}

func (x *inThread) listed() []thread.Permission { return x.th.Snapshot().Permissions }

// option returns the id of the option with the label.
func option(t *testing.T, p thread.Permission, label string) string {
	t.Helper()
	for _, o := range p.Options {
		if o.Label == label {
			return o.ID
		}
	}
	require.Fail(t, "no such label", "%s %v", label, p.Options)
	return ""
}

// A page needs no more than the list in the thread: what a person must see, the labels, and the key for the answer.
// Questions of the agent and about what it did not ask are in one list.
func TestAnswersInTheThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newInThread(t, permission.Options{Ask: permission.InThread, Concurrent: true})
		tool := permission.Tool{Title: "Add", Name: "add", Input: json.RawMessage(`{"a":1}`)}
		got := x.decide(t.Context(), tool)
		text := "new\n"
		act := write(resolved("/w/a"), text)
		act.Text = &text
		wrote := make(chan error, 1)
		go func() { wrote <- x.Authorize(x.th.Context(t.Context(), 0), act) }() // ends with the answer
		synctest.Wait()

		all := x.listed()
		require.Len(t, all, 2)
		assert.Equal(t, []string{`the agent asks: "Add"`, `the tool "add" gets a: 1`}, all[0].Lines)
		assert.Equal(t, []string{"write " + resolved("/w/a")}, all[1].Lines)
		assert.Equal(t, &text, all[1].Text)
		always := option(t, all[0], `Always allow "add" with this input in this session`)
		require.NoError(t, x.th.Answer(all[0].Key, always))
		assert.Equal(t, permission.Outcome{Decision: permission.Allow, OptionID: "id of allow_once", By: permission.ByPerson}, <-got)
		require.NoError(t, x.th.Answer(all[1].Key, option(t, all[1], "Reject")))
		assert.Error(t, <-wrote)
		assert.Empty(t, x.listed())
		assert.Equal(t, all[1].Key, x.last().Question.Key)

		assert.Equal(t, permission.ByMemory, (<-x.decide(t.Context(), tool)).By)
		require.Len(t, x.policy.Remembered(), 1)
	})
}

// A program that asks in another way may let the user answer in the thread too: the first answer counts, and the
// other way is told by its ctx. Questions that wait for their turn can be answered before it.
func TestTwoWaysToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		x := newInThread(t, permission.Options{Ask: func(ctx context.Context, q *permission.Question) (string, error) {
			assert.NotZero(t, q.Key)
			<-ctx.Done()
			ended++
			return q.Pick(permission.AllowOnce), nil
		}})
		first, second := x.decide(t.Context(), permission.Tool{Title: "1"}), x.decide(t.Context(), permission.Tool{Title: "2"})
		all := x.listed()
		require.Len(t, all, 2)
		require.NoError(t, x.th.Answer(all[1].Key, "id of allow_once"))
		assert.Equal(t, permission.Allow, (<-second).Decision)
		assert.Equal(t, 1, x.timesAsked())
		require.NoError(t, x.th.Answer(all[0].Key, "id of reject_once"))
		assert.Equal(t, permission.Deny, (<-first).Decision)
		synctest.Wait()
		assert.Equal(t, 1, ended)
	})
}

// A question that the thread drops is cancelled, and so is one of a turn that ends. A timeout is a denial, and
// leaves nothing in the list.
func TestQuestionsInTheThreadEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			opts permission.Options
			end  func(x *inThread, cancel func())
			by   permission.Reason
		}{
			"reset":        {permission.Options{}, func(x *inThread, _ func()) { x.th.Reset() }, permission.ByCancel},
			"cancelled":    {permission.Options{}, func(_ *inThread, cancel func()) { cancel() }, permission.ByCancel},
			"timeout":      {permission.Options{Timeout: time.Minute}, func(*inThread, func()) { time.Sleep(time.Hour) }, permission.ByTimeout},
			"other option": {permission.Options{Timeout: time.Minute}, func(x *inThread, _ func()) { _ = x.th.Answer(1, "?"); time.Sleep(time.Hour) }, permission.ByTimeout},
		} {
			c.opts.Ask, c.opts.Concurrent = permission.InThread, true
			x := newInThread(t, c.opts)
			ctx, cancel := context.WithCancel(t.Context())
			got := x.decide(ctx, permission.Tool{Title: "T"})
			c.end(x, cancel)
			assert.Equal(t, c.by, (<-got).By, name)
			assert.Empty(t, x.listed(), name)
			cancel()
		}
		d := newTestScope(t, permission.Options{Ask: permission.InThread})
		assert.Equal(t, permission.ByError, d.Decide(t.Context(), question(permission.Tool{})).By, "no thread")
		assert.ErrorContains(t, d.last().Err, "thread.Set")
	})
}

// What a rule decides is not put to a person, and what nobody is asked has no lines.
func TestDecisionsWithoutAPersonAreNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newInThread(t, permission.Options{})
		assert.Equal(t, permission.ByNoOne, (<-x.decide(t.Context(), permission.Tool{Title: "T"})).By)
		for _, p := range x.listed() {
			assert.Nil(t, p.Lines)
		}
	})
}
