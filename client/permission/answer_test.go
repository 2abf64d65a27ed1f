package permission_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/permission"
)

// TestResponses compares the responses for different options and deciders.
func TestResponses(t *testing.T) {
	const once, always, no, never = permission.AllowOnce, permission.AllowAlways, permission.RejectOnce, permission.RejectAlways
	allow := []permission.Rule{{Decision: permission.Allow, Tools: []string{"t"}}}
	deny := []permission.Rule{{Decision: permission.Deny, Tools: []string{"t"}}}
	twice := append(options(once, no), permission.Option{ID: "id of " + once, Kind: no})
	for name, c := range map[string]struct {
		rules   []permission.Rule
		ask     func(context.Context, *permission.Question) (string, error)
		options []permission.Option
		want    string // the id, "" for cancelled
		by      permission.Reason
		allowed bool
	}{
		"allow_always first, a rule allows":     {allow, nil, usual, "id of " + once, permission.ByRule, true},
		"a rule denies":                         {deny, pick(once), usual, "id of " + no, permission.ByRule, false},
		"a person says once":                    {nil, pick(once), usual, "id of " + once, permission.ByPerson, true},
		"a person says always":                  {nil, pick(always), usual, "id of " + always, permission.ByPerson, true},
		"a person says no":                      {nil, pick(no), usual, "id of " + no, permission.ByPerson, false},
		"a person says never":                   {nil, pick(never), usual, "id of " + never, permission.ByPerson, false},
		"a person chooses nothing":              {nil, pick("?"), usual, "id of " + no, permission.ByPerson, false},
		"a person chooses nothing, only always": {nil, pick("?"), options(always, never), "", permission.ByPerson, false},
		"no one to ask":                         {nil, nil, usual, "id of " + no, permission.ByNoOne, false},
		"no one to ask, only always":            {nil, nil, options(always, never), "", permission.ByNoOne, false},
		"no allow_once, a rule allows: ask":     {allow, pick(always), options(always, no), "id of " + always, permission.ByPerson, true},
		"no allow_once, no one to ask":          {allow, nil, options(always, no), "id of " + no, permission.ByNoOne, false},
		"rejects only":                          {allow, pick(never), options(no, never), "id of " + never, permission.ByPerson, false},
		"no options":                            {allow, pick(once), nil, "", permission.ByOptions, false},
		"unknown kinds, a rule allows":          {allow, nil, options("allow_for_session", "x"), "", permission.ByNoOne, false},
		"unknown kinds, a rule denies":          {deny, nil, options("deny_for_session"), "", permission.ByRule, false},
		"a person picks a kind of the agent's":  {nil, pick("allow_for_session"), options("allow_for_session", no), "id of allow_for_session", permission.ByPerson, false},
		"duplicate ids":                         {allow, pick(once), twice, "id of " + no, permission.ByOptions, false},
		"duplicate ids of all":                  {allow, pick(once), append(options(once), options(once)...), "", permission.ByOptions, false},
		"a person chooses what was not offered": {nil, func(context.Context, *permission.Question) (string, error) { return "z", nil }, usual, "id of " + no, permission.ByError, false},
		"the function fails":                    {nil, func(context.Context, *permission.Question) (string, error) { return "id of " + once, errors.New("x") }, usual, "id of " + no, permission.ByError, false},
		"the function panics":                   {nil, func(context.Context, *permission.Question) (string, error) { panic("x") }, usual, "id of " + no, permission.ByError, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestScope(t, permission.Options{Ask: c.ask}, c.rules...)
			q := question(permission.Tool{Name: "t"})
			q.Options = c.options
			o := d.Decide(t.Context(), q)
			assert.Equal(t, c.want, o.OptionID)
			assert.Equal(t, c.by, o.By)
			assert.Equal(t, c.allowed, o.Decision == permission.Allow)
			require.Len(t, d.records, 1)
			assert.Equal(t, o, d.last().Outcome)
			assert.Equal(t, c.by == permission.ByError, d.last().Err != nil)
		})
	}
}

func TestCancelledWhileThePersonThinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		click := make(chan struct{})
		d := newTestScope(t, permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
			select {
			case <-click: // the late click has been made
				return q.Pick(permission.RejectOnce), nil
			default:
			}
			<-click // ignores its ctx
			return q.Pick(permission.AllowAlways), nil
		}})
		ctx, cancel := context.WithCancelCause(t.Context())
		tool := edit("/w/a", "x")
		tool.Input = json.RawMessage(`1`)
		got := make(chan permission.Outcome, 1)
		go func() { got <- d.Decide(ctx, question(tool)) }() // ends with ctx
		synctest.Wait()
		cancel(acp.ErrTurnCancelled)
		assert.Equal(t, permission.Outcome{By: permission.ByCancel}, <-got)
		close(click)
		synctest.Wait()
		// The late click has no effect on later questions, neither through the memory nor through a
		// grant.
		o := d.Decide(t.Context(), question(tool))
		assert.Equal(t, permission.ByPerson, o.By)
		assert.Equal(t, permission.Deny, o.Decision)
		var denied *permission.DeniedError
		require.ErrorAs(t, d.Authorize(t.Context(), write("/w/a", "x")), &denied)
		assert.Equal(t, permission.ByPerson, denied.By)
		assert.Equal(t, 3, d.timesAsked())
		// An operation that begins after the cancel is cancelled at once. The user is not asked.
		assert.Equal(t, permission.Outcome{By: permission.ByCancel}, d.Decide(ctx, question(tool)))
		assert.ErrorIs(t, d.Authorize(ctx, write("/w/a", "x")), acp.ErrTurnCancelled)
		assert.Equal(t, 3, d.timesAsked())
	})
}

// A person who reads from a terminal sees one question at a time, even if the code that reads the
// keys ignores that the ctx of a question is done. The time that a question waits for this code
// counts against its timeout.
func TestOneQuestionAtATimeAlsoAfterACancel(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			var open atomic.Int32
			key := make(chan struct{})
			d := newTestScope(t, permission.Options{Timeout: timeout, Ask: func(_ context.Context, q *permission.Question) (string, error) {
				assert.EqualValues(t, 1, open.Add(1))
				defer open.Add(-1)
				<-key
				return q.Pick(permission.AllowOnce), nil
			}})
			ctx, cancel := context.WithCancel(t.Context())
			first, second := make(chan permission.Outcome, 1), make(chan permission.Outcome, 1)
			go func() { first <- d.Decide(ctx, question(permission.Tool{})) }() // ends with ctx
			synctest.Wait()
			go func() { second <- d.Decide(t.Context(), question(permission.Tool{})) }() // ends with the second key
			cancel()
			assert.Equal(t, permission.ByCancel, (<-first).By)
			synctest.Wait()
			assert.Equal(t, 1, d.timesAsked())
			if timeout > 0 {
				assert.Equal(t, permission.ByTimeout, (<-second).By)
				key <- struct{}{}
				return
			}
			key <- struct{}{}
			key <- struct{}{}
			assert.Equal(t, permission.Allow, (<-second).Decision)
		})
	}
}

// While a person is asked about one agent, questions of other agents are asked too.
func TestConnectionsDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		d := newTestScope(t, permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
			if q.Session == "waits" {
				<-answer
			}
			return q.Pick(permission.AllowOnce), nil
		}})
		q := question(permission.Tool{})
		q.Session = "waits"
		waits := make(chan permission.Outcome, 1)
		go func() { waits <- d.Decide(t.Context(), q) }() // ends with the answer
		synctest.Wait()
		other := d.policy.Scope()
		assert.Equal(t, permission.Allow, other.Decide(t.Context(), question(permission.Tool{})).Decision)
		close(answer)
		assert.Equal(t, permission.Allow, (<-waits).Decision)
	})
}

func TestTimeoutIsDeny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestScope(t, permission.Options{Timeout: time.Minute, Ask: func(ctx context.Context, q *permission.Question) (string, error) {
			<-ctx.Done()
			return q.Pick(permission.AllowOnce), nil
		}})
		o := d.Decide(t.Context(), question(permission.Tool{}))
		assert.Equal(t, permission.Outcome{Decision: permission.Deny, OptionID: "id of reject_once", By: permission.ByTimeout}, o)
		var denied *permission.DeniedError
		require.ErrorAs(t, d.Authorize(t.Context(), command("ls")), &denied)
		assert.Equal(t, permission.ByTimeout, denied.By)
	})
}

func TestTwoAtOnce(t *testing.T) {
	for _, concurrent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var (
				mu         sync.Mutex // guards both
				open, most int
			)
			d := newTestScope(t, permission.Options{Concurrent: concurrent, Ask: func(_ context.Context, q *permission.Question) (string, error) {
				mu.Lock()
				open++
				most = max(most, open)
				mu.Unlock()
				time.Sleep(time.Second) // of the bubble's clock
				mu.Lock()
				open--
				mu.Unlock()
				if q.Tool.Name == "good" {
					return q.Pick(permission.AllowOnce), nil
				}
				return q.Pick(permission.RejectOnce), nil
			}})
			got := make(chan string, 2)
			for _, name := range []string{"good", "bad"} {
				go func() { // ends when it is answered
					o := d.Decide(t.Context(), question(permission.Tool{Name: name}))
					got <- name + " " + string(o.Decision)
				}()
			}
			assert.ElementsMatch(t, []string{"good allow", "bad deny"}, []string{<-got, <-got})
			assert.Equal(t, map[bool]int{false: 1, true: 2}[concurrent], most)
		})
	}
}

func TestQuestionsWaitForEachOtherAndLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		click := make(chan struct{})
		d := newTestScope(t, permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
			<-click
			return q.Pick(permission.AllowOnce), nil
		}})
		go d.Decide(t.Context(), question(permission.Tool{})) // ends with click
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan permission.Outcome, 1)
		go func() { second <- d.Decide(ctx, question(permission.Tool{})) }() // ends with ctx
		synctest.Wait()
		cancel()
		assert.Equal(t, permission.ByCancel, (<-second).By)
		assert.Equal(t, 1, d.timesAsked())
		close(click)
	})
}

func TestFromTheWire(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
	const params = `{"sessionId":"s","toolCall":{"toolCallId":"1"},"options":[
		{"optionId":"1","name":"Always","kind":"allow_always"},{"optionId":"2","name":"Yes","kind":"allow_once"},{"optionId":"3","name":"For now","kind":"codex_kind"}]}`
	assert.Equal(t, &acp.SelectedPermissionOutcome{OptionID: "2"}, fromWire(t, d.Scope, params))
	q := d.last().Question
	assert.Equal(t, "a", q.Agent)
	assert.Equal(t, "/w", q.Workspace)
	assert.Equal(t, "codex_kind", q.Options[2].Kind)
	assert.Equal(t, &acp.CancelledPermissionOutcome{}, fromWire(t, d.Scope, `{"sessionId":"s","toolCall":{"toolCallId":"1"},"options":[]}`))

	d = newTestScope(t, permission.Options{})
	assert.Equal(t, &acp.CancelledPermissionOutcome{}, fromWire(t, d.Scope, params), "no one to ask and nothing to reject with")
}

func TestLargeInput(t *testing.T) {
	big, err := json.Marshal(map[string]string{"x": strings.Repeat("a", 10<<20)})
	require.NoError(t, err)
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowAlways)})
	q := question(permission.Tool{Name: "t", Input: big})
	assert.Equal(t, permission.ByPerson, d.Decide(t.Context(), q).By)
	assert.Equal(t, permission.ByMemory, d.Decide(t.Context(), q).By)
	for _, input := range []string{"", "null", "{", `"text"`, `[]`} {
		q = question(permission.Tool{Name: "t", Input: json.RawMessage(input)})
		assert.Equal(t, permission.ByPerson, d.Decide(t.Context(), q).By, input)
	}
}

// An agent may name any number of files, so the time for a question must be linear in them. One
// question with many files takes about as long as twenty questions with a twentieth of them; with
// quadratic time it would take twenty times as long. Both are timed in turn, so that other load
// slows both, and the best round counts.
func TestQuestionsWithManyFiles(t *testing.T) {
	const few, times, enough = 250, 20, 5
	text := "x"
	tools := func(n int) (byDiff, byPath permission.Tool) {
		for i := range n {
			name := on("/nowhere/" + strconv.Itoa(i))
			byDiff.Diffs = append(byDiff.Diffs, permission.Diff{Path: name, NewText: &text})
			byPath.Paths = append(byPath.Paths, name)
		}
		return byDiff, byPath
	}
	for name, extract := range map[string]func(string, *permission.Tool) ([]permission.Operation, bool){
		"no extractor": nil,
		"extractor": func(_ string, tool *permission.Tool) (all []permission.Operation, ok bool) {
			for _, d := range tool.Diffs {
				all = append(all, permission.Operation{Action: permission.ActionWrite, Path: d.Path, Digest: permission.DigestOf(*d.NewText)})
			}
			return all, true
		},
	} {
		oneDiff, onePath := tools(few)
		allDiff, allPath := tools(times * few)
		for _, c := range []struct{ one, all permission.Tool }{{oneDiff, allDiff}, {onePath, allPath}} {
			d := newTestScope(t, permission.Options{Extract: extract, Ask: pick(permission.RejectOnce)})
			took := func(times int, tool permission.Tool) float64 {
				begin := time.Now()
				for range times {
					assert.Equal(t, permission.Deny, d.Decide(t.Context(), question(tool)).Decision)
				}
				return time.Since(begin).Seconds()
			}
			best := math.Inf(1)
			for round := 0; round < 20 && best > enough; round++ {
				best = min(best, took(1, c.all)/took(times, c.one))
			}
			t.Logf("%s: %.2f", name, best)
			assert.LessOrEqual(t, best, float64(enough), name)
		}
	}
}
