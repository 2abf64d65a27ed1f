package permission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
)

// An "always" of the agent is answered with that option, and nothing is remembered: what it covers is known to
// the agent alone. That of this program is answered with an option for one time, and remembered.
func TestWhoseAlways(t *testing.T) {
	tool := permission.Tool{Name: "add", Input: json.RawMessage(`{"a":1}`)}
	for label, c := range map[string]struct {
		answer  string // the id that the agent gets
		decides permission.Decision
		again   permission.Reason
	}{
		`Always allow "add" with this input in this session`:           {"id of allow_once", permission.Allow, permission.ByMemory},
		`Always allow, as far as this agent decides: "allow_always"`:   {"id of allow_always", permission.Allow, permission.ByPerson},
		`Always reject "add" with this input in this session`:          {"id of reject_once", permission.Deny, permission.ByMemory},
		`Always reject, as far as this agent decides: "reject_always"`: {"id of reject_always", permission.Deny, permission.ByPerson},
		`Allow once`: {"id of allow_once", permission.Allow, permission.ByPerson}, `Reject`: {"id of reject_once", permission.Deny, permission.ByPerson},
	} {
		d := newTestScope(t, permission.Options{Ask: choose(label)})
		for _, by := range []permission.Reason{permission.ByPerson, c.again} {
			assert.Equal(t, permission.Outcome{Decision: c.decides, OptionID: c.answer, By: by}, d.Decide(t.Context(), question(tool)), label)
		}
		other := tool
		other.Input = json.RawMessage(`{"a":2}`)
		assert.Equal(t, permission.ByPerson, d.Decide(t.Context(), question(other)).By, label)
		all := d.policy.Remembered()
		assert.Equal(t, c.again == permission.ByMemory, len(all) > 0, label)
		for _, r := range all {
			d.policy.Revoke(r)
		}
		assert.Equal(t, permission.ByPerson, d.Decide(t.Context(), question(tool)).By, label)
	}
}

// choose returns an Ask function that chooses the option with the label.
func choose(label string) func(context.Context, *permission.Question) (string, error) {
	return func(_ context.Context, q *permission.Question) (string, error) {
		for _, o := range q.Options {
			if o.Label == label {
				return o.ID, nil
			}
		}
		return "", fmt.Errorf("%q is not offered: %v", label, q.Options)
	}
}

// This program offers an "always" only if it can keep it: the decision can be remembered, and one option answers
// the agent for one time. The ids are its own.
func TestWhatIsOffered(t *testing.T) {
	known := permission.Tool{Name: "t", Input: json.RawMessage(`1`)}
	text := "x"
	half := permission.Tool{Diffs: []permission.Diff{{Path: on("/w/a"), NewText: &text}}, Input: json.RawMessage(`{"more":1}`)}
	const once, always, no, never = permission.AllowOnce, permission.AllowAlways, permission.RejectOnce, permission.RejectAlways
	for name, c := range map[string]struct {
		tool    permission.Tool
		options []permission.Option
		want    []string // kinds; those of this program with a +
	}{
		"usual":              {known, usual, []string{always, once, no, never, "+" + always, "+" + never}},
		"no always":          {known, options(once, no), []string{once, no, "+" + always, "+" + never}},
		"unknown":            {permission.Tool{}, usual, []string{always, once, no, never}},
		"known in part":      {half, options(once, no), []string{once, no, "+" + never}},
		"no option for once": {known, options(always, never), []string{always, never}},
		"two for once":       {known, append(options(once, no), permission.Option{ID: "2", Kind: once}, permission.Option{ID: "3", Kind: no}), []string{once, no, once, no}},
		"ids like ours":      {known, append(options(once), permission.Option{ID: "own allow_always", Kind: "x"}), []string{once, "x", "+" + always}},
	} {
		q := asks(t, permission.Options{}, func(s *permission.Scope) {
			q := question(c.tool)
			q.Options = c.options
			s.Decide(t.Context(), q)
		})
		var kinds []string
		ids := map[string]bool{}
		for _, o := range q.Options {
			ids[o.ID] = true
			kinds = append(kinds, map[bool]string{true: "+"}[o.Own]+o.Kind)
		}
		assert.Equal(t, c.want, kinds, name)
		assert.Len(t, ids, len(q.Options), name)
	}
}

// Whatever a person chooses, what runs afterwards without a question is what the label says: for random questions
// and what an agent does next, in random forms.
func TestNothingMoreThanTheLabelSays(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	remembered := 0
	for range 500 {
		asked, chosen := randomTool(r), permission.Option{}
		var seen *permission.Question
		choosing := true
		d := newTestScope(t, permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
			if !choosing {
				return "", nil
			}
			seen, chosen = q, q.Options[r.IntN(len(q.Options))]
			return chosen.ID, nil
		}})
		q := question(asked)
		q.Options = slices.Clone(usual)
		r.Shuffle(len(q.Options), func(i, j int) { q.Options[i], q.Options[j] = q.Options[j], q.Options[i] })
		for i := range q.Options {
			q.Options[i].Name = []string{"Allow once", "Reject", "Always allow running ls in this session", "Yes"}[r.IntN(4)]
		}
		o := d.Decide(t.Context(), q)
		choosing = false
		allowed := strings.HasPrefix(chosen.Label, "Allow") || strings.HasPrefix(chosen.Label, "Always allow")
		require.Equal(t, allowed, o.Decision == permission.Allow, chosen.Label)
		promises := strings.HasPrefix(chosen.Label, "Always") && strings.HasSuffix(chosen.Label, " in this session")
		require.Equal(t, promises, chosen.Own, chosen.Label)
		require.Equal(t, promises, len(d.policy.Remembered()) > 0, chosen.Label)
		if kept := d.policy.Remembered(); promises {
			assert.Contains(t, chosen.Label, kept[0].What)
			remembered++
		}
		once := map[string]bool{} // what was allowed for one time is used once
		for range 40 {
			turn := uint64(1 + r.IntN(2))
			if r.IntN(2) == 0 {
				next := question(randomTool(r))
				next.Turn = turn
				if after := d.Decide(t.Context(), next); after.Decision == permission.Allow {
					require.Equal(t, permission.ByMemory, after.By)
					require.Equal(t, "id of allow_once", after.OptionID)
					require.True(t, promises && allowed, chosen.Label)
					require.True(t, within(seen, chosen.Label, d.last().Question), "%s\n%v %+v\n%v %+v", chosen.Label, seen.Lines(), seen.Tool, d.last().Question.Lines(), d.last().Question.Tool)
				}
				continue
			}
			act := randomAct(r)
			act.Turn = turn
			if d.Authorize(t.Context(), act) != nil {
				continue
			}
			by, line := d.last().Outcome.By, d.last().Question.Lines()[0]
			require.Contains(t, seen.Lines(), line, chosen.Label)
			if by == permission.ByGrant {
				require.True(t, allowed && turn == 1 && !once[line+act.Operation.Digest], chosen.Label)
				once[line+act.Operation.Digest] = true
				continue
			}
			require.Equal(t, permission.ByMemory, by)
			require.True(t, promises && allowed, chosen.Label)
		}
		for _, kept := range d.policy.Remembered() {
			d.policy.Revoke(kept)
		}
		require.NotEqual(t, permission.ByMemory, d.Decide(t.Context(), q).By)
	}
	assert.Greater(t, remembered, 60)
}

// within reports whether what is allowed without a question was shown in the question, and is named by the label:
// the tool with the same input, and operations of the question.
func within(asked *permission.Question, label string, now *permission.Question) bool {
	sameTool := asked.Tool.Name == now.Tool.Name && string(asked.Tool.Input) == string(now.Tool.Input)
	if input := string(now.Tool.Input); len(input) > len("{}") && !sameTool && !strings.HasPrefix(input, `{"command":`) {
		return false
	}
	if len(now.Operations) == 0 && !strings.Contains(label, fmt.Sprintf(`"%s" with this input`, asked.Tool.Name)) {
		return false
	}
	shown := asked.Lines()
	for _, line := range now.Lines()[1:] {
		if !slices.Contains(shown, line) && !(sameTool && (strings.HasPrefix(line, "the tool") || strings.HasPrefix(line, "the input"))) {
			return false
		}
	}
	return true
}

func randomTool(r *rand.Rand) permission.Tool {
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	text := one("x", "y")
	t := permission.Tool{ID: "c", Title: one("", "Run ls"), Name: one("", "add", "Bash"), Kind: one("", "edit", "execute", "read")}
	if input := one("", `{}`, `{"a":1}`, `{"a":2}`, `{"command":"ls"}`, `{"command":"rm x"}`, `{"command":"ls","more":1}`, `{"path":"a"}`); input != "" {
		t.Input = json.RawMessage(input)
	}
	for range r.IntN(3) {
		d := permission.Diff{Path: on(one("/w/a", "/w/b"))}
		if r.IntN(4) > 0 {
			d.NewText = &text
		}
		t.Diffs = append(t.Diffs, d)
	}
	if r.IntN(3) == 0 {
		t.Paths = []string{on(one("/w/a", "/w/b", "/w/c"))}
	}
	return t
}

func randomAct(r *rand.Rand) permission.Act {
	switch r.IntN(3) {
	case 0:
		return write(resolved([]string{"/w/a", "/w/b", "/w/c"}[r.IntN(3)]), []string{"x", "y", "z"}[r.IntN(3)])
	case 1:
		return shell([]string{"ls", "rm x", "ls -l"}[r.IntN(3)])
	}
	return command([]string{"ls", "rm"}[r.IntN(2)])
}
