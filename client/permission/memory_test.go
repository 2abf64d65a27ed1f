package permission_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
)

// An "always" decision allows only what was decided. A question with an additional operation is
// asked.
func TestMemoryAllowsNothingElse(t *testing.T) {
	text := "x"
	diff := []permission.Diff{{Path: on("/w/a"), NewText: &text}}
	for name, tool := range map[string]permission.Tool{
		"a command":                {Diffs: diff, Input: json.RawMessage(`{"command":"rm -rf /w"}`)},
		"an argument":              {Diffs: diff, Input: json.RawMessage(`{"odd":"rm -rf /w"}`)},
		"a file":                   {Diffs: diff, Paths: []string{on("/w/b")}},
		"a diff without a text":    {Diffs: append(diff[:1:1], permission.Diff{Path: on("/w/b")})},
		"another kind":             {Diffs: diff, Kind: "execute"},
		"a tool, and a command":    {Diffs: diff, Name: "bash", Input: json.RawMessage(`{"command":"rm -rf /w"}`)},
		"a tool, and another file": {Diffs: diff, Name: "edit", Paths: []string{on("/w/b")}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestScope(t, permission.Options{Ask: pick(permission.AllowAlways)})
			d.Decide(t.Context(), question(permission.Tool{Diffs: diff}))
			assert.Equal(t, permission.ByMemory, d.Decide(t.Context(), question(permission.Tool{Diffs: diff, Kind: "edit", Paths: []string{on("/w/a")}})).By)
			assert.Equal(t, permission.ByPerson, d.Decide(t.Context(), question(tool)).By)
		})
		t.Run(name+", denied", func(t *testing.T) {
			d := newTestScope(t, permission.Options{Ask: pick(permission.RejectAlways)})
			d.Decide(t.Context(), question(permission.Tool{Diffs: diff}))
			o := d.Decide(t.Context(), question(tool))
			assert.Equal(t, permission.ByMemory, o.By, "what is denied always is denied with anything else")
			assert.Equal(t, permission.Deny, o.Decision)
		})
	}
}

// However often a person has answered always, the next answer is remembered too.
func TestMemoryKeepsEveryDecision(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowAlways)})
	const decisions = 12_000
	for i := range decisions {
		d.Decide(t.Context(), question(permission.Tool{Name: "t", Input: json.RawMessage(strconv.Itoa(i))}))
	}
	for _, i := range []int{0, decisions - 1} {
		o := d.Decide(t.Context(), question(permission.Tool{Name: "t", Input: json.RawMessage(strconv.Itoa(i))}))
		assert.Equal(t, permission.ByMemory, o.By)
	}
}

// When a person answers always, pending questions about the same operation get the same
// decision, and the person is asked only once.
func TestAlwaysAppliesToPendingQuestions(t *testing.T) {
	for answer, want := range map[string]permission.Decision{permission.AllowAlways: permission.Allow, permission.RejectAlways: permission.Deny} {
		synctest.Test(t, func(t *testing.T) {
			click := make(chan struct{})
			d := newTestScope(t, permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
				<-click
				return q.Pick(answer), nil
			}})
			got := make(chan permission.Outcome, 4)
			for range cap(got) {
				go func() { // ends with click
					got <- d.Decide(t.Context(), question(permission.Tool{Name: "t", Input: json.RawMessage(`1`)}))
				}()
			}
			synctest.Wait()
			close(click)
			for range cap(got) {
				assert.Equal(t, want, (<-got).Decision)
			}
			assert.Equal(t, 1, d.timesAsked())
		})
	}
}

// A write that waits while a person decides about a question uses the permission from that
// question.
func TestAllowAppliesToAPendingWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		click := make(chan struct{})
		d := newTestScope(t, permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
			<-click
			return q.Pick(permission.AllowOnce), nil
		}})
		go d.Decide(t.Context(), question(edit("/w/a", "x"))) // ends with click
		synctest.Wait()
		done := make(chan error, 1)
		go func() { done <- d.Authorize(t.Context(), write(resolved("/w/a"), "x")) }() // ends with click
		synctest.Wait()
		close(click)
		require.NoError(t, <-done)
		assert.Equal(t, 1, d.timesAsked())
		require.NoError(t, d.Authorize(t.Context(), write(resolved("/w/a"), "x")))
		assert.Equal(t, 2, d.timesAsked(), "it was consumed")
	})
}

// A permission is for one operation, even if the question names it several times.
func TestOneAllowIsOneOperation(t *testing.T) {
	text := "x"
	diff := permission.Diff{Path: on("/w/a"), NewText: &text}
	line := shell("make").Operation
	for name, c := range map[string]struct {
		tool    permission.Tool
		command string
		act     permission.Act
	}{
		"a diff, three times":         {permission.Tool{Diffs: []permission.Diff{diff, diff, diff}}, "", write(resolved("/w/a"), text)},
		"a command of both":           {permission.Tool{Name: "run"}, "make", shell("make")},
		"a command of both, by words": {permission.Tool{Name: "words"}, "make", command("make")},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []permission.Operation
			d := newTestScope(t, permission.Options{
				Ask: func(_ context.Context, q *permission.Question) (string, error) {
					asked = q.Operations
					return q.Pick(permission.AllowOnce), nil
				},
				Extract: func(_ string, t *permission.Tool) ([]permission.Operation, bool) {
					o := line
					o.Shell = t.Name == "run"
					return []permission.Operation{o}, t.Name != ""
				},
			})
			q := question(c.tool)
			q.Command, q.Cwd = c.command, "/w"
			require.Equal(t, permission.Allow, d.Decide(t.Context(), q).Decision)
			assert.Len(t, asked, 1)
			require.NoError(t, d.Authorize(t.Context(), c.act))
			require.Equal(t, 1, d.timesAsked())
			require.NoError(t, d.Authorize(t.Context(), c.act))
			assert.Equal(t, 2, d.timesAsked(), "the second was not allowed by the question")
		})
	}
}

// A program can add rules while its agents run, and can list and revoke "always" decisions.
func TestRulesAndDecisionsChange(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowAlways)})
	require.NoError(t, d.Authorize(t.Context(), command("ls", "-l")))
	require.NoError(t, d.Authorize(t.Context(), write(resolved("/w/a"), "x")))
	all := d.policy.Remembered()
	require.Len(t, all, 2)
	assert.Equal(t, "running ls -l", all[0].What)
	assert.Equal(t, permission.Allow, all[0].Decision)
	assert.Equal(t, "s", all[0].Session)

	d.policy.Revoke(all[0])
	assert.Equal(t, all[1:], d.policy.Remembered())
	require.NoError(t, d.Authorize(t.Context(), command("ls", "-l")))
	assert.Equal(t, permission.ByPerson, d.last().Outcome.By)
	require.NoError(t, d.Authorize(t.Context(), write(resolved("/w/a"), "y")))
	assert.Equal(t, permission.ByMemory, d.last().Outcome.By)

	require.NoError(t, d.policy.SetRules(append(d.policy.Rules(), permission.Rule{Name: "no", Decision: permission.Deny, Commands: []string{"ls"}})...))
	assert.Error(t, d.Authorize(t.Context(), command("ls", "-l")))
	assert.Error(t, d.policy.SetRules(permission.Rule{}))
	require.Len(t, d.policy.Rules(), 1, "a rule that is invalid changes nothing")
	require.NoError(t, d.policy.SetRules())
	require.NoError(t, d.Authorize(t.Context(), command("ls", "-l")))

	// A question about several operations is one decision.
	tool := permission.Tool{Name: "t", Kind: "execute", Input: json.RawMessage(`{"command":"make","args":["x"]}`)}
	d.Decide(t.Context(), question(tool))
	all = d.policy.Remembered()
	require.Len(t, all, 3)
	assert.Equal(t, "running make x", all[1].What)
	d.policy.Revoke(all[1])
	require.NoError(t, d.Authorize(t.Context(), command("make", "x")))
	assert.Equal(t, permission.ByGrant, d.last().Outcome.By, "once, for the answer")
	require.NoError(t, d.Authorize(t.Context(), command("make", "x")))
	assert.Equal(t, permission.ByPerson, d.last().Outcome.By)

	d.Close()
	assert.Empty(t, d.policy.Remembered())
}
