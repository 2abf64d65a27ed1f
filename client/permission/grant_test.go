package permission_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
)

func edit(path, text string) permission.Tool {
	return permission.Tool{ID: "1", Name: "edit", Kind: "edit", Diffs: []permission.Diff{{Path: on(path), NewText: &text}}}
}

// A person is asked about writes and commands that the agent did not ask about.
func TestActsWithoutAQuestion(t *testing.T) {
	for _, act := range []permission.Act{write("/w/a", "x"), command("ls"), shell("ls")} {
		d := newTestScope(t, permission.Options{Ask: pick(permission.RejectOnce)})
		var denied *permission.DeniedError
		require.ErrorAs(t, d.Authorize(t.Context(), act), &denied)
		assert.Equal(t, act.Operation, denied.Operation)
		assert.Equal(t, 1, d.timesAsked())
		q := d.last().Question
		assert.Nil(t, q.Tool)
		assert.False(t, q.Claimed)
		assert.Equal(t, []permission.Operation{act.Operation}, q.Operations)

		d = newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
		for range 2 {
			require.NoError(t, d.Authorize(t.Context(), act))
		}
		assert.Equal(t, 2, d.timesAsked(), "once is once")
	}
}

// A permission is for the identical operation in the same turn, once.
func TestAllowIsConsumed(t *testing.T) {
	identical := write(resolved("/w/a"), "text")
	for name, c := range map[string]struct {
		act   permission.Act
		asked int
	}{
		"identical":       {identical, 1},
		"another file":    {write(resolved("/w/b"), "text"), 2},
		"another text":    {write(resolved("/w/a"), "evil"), 2},
		"another turn":    {func() permission.Act { a := identical; a.Turn = 2; return a }(), 2},
		"no turn":         {func() permission.Act { a := identical; a.Turn = 0; return a }(), 2},
		"another session": {func() permission.Act { a := identical; a.Session = "t"; return a }(), 2},
		"a command":       {command("/w/a"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
			require.Equal(t, permission.Allow, d.Decide(t.Context(), question(edit("/w/a", "text"))).Decision)
			assert.True(t, d.last().Question.Claimed)
			require.NoError(t, d.Authorize(t.Context(), c.act))
			assert.Equal(t, c.asked, d.timesAsked())
			require.NoError(t, d.Authorize(t.Context(), c.act))
			assert.Equal(t, c.asked+1, d.timesAsked(), "the second time it is asked")
		})
	}
}

func TestWhatGrantsNothing(t *testing.T) {
	text := "text"
	for name, c := range map[string]struct {
		answer string
		tool   permission.Tool
	}{
		"a denial":             {permission.RejectOnce, edit("/w/a", text)},
		"a file without text":  {permission.AllowOnce, permission.Tool{Paths: []string{on("/w/a")}}},
		"a diff without text":  {permission.AllowOnce, permission.Tool{Diffs: []permission.Diff{{Path: on("/w/a")}}}},
		"a path in the input":  {permission.AllowOnce, permission.Tool{Input: json.RawMessage(`{"path":"` + on("/w/a") + `"}`)}},
		"a kind of the agent'": {"allow_for_session", edit("/w/a", text)},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestScope(t, permission.Options{Ask: pick(c.answer)})
			q := question(c.tool)
			q.Options = append(options("allow_for_session"), usual...)
			d.Decide(t.Context(), q)
			before := d.timesAsked()
			d.Authorize(t.Context(), write(resolved("/w/a"), text))
			assert.Equal(t, before+1, d.timesAsked())
		})
	}
	t.Run("a rule", func(t *testing.T) {
		d := newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow, Tools: []string{"edit"}})
		require.Equal(t, permission.Allow, d.Decide(t.Context(), question(edit("/w/a", text))).Decision)
		assert.Error(t, d.Authorize(t.Context(), write(resolved("/w/a"), text)))
	})
	t.Run("when a rule denies the act", func(t *testing.T) {
		d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)}, permission.Rule{Decision: permission.Deny, Commands: []string{"rm"}})
		assert.Error(t, d.Authorize(t.Context(), command("rm", "x")))
		assert.Zero(t, d.timesAsked())
	})
}

func TestGrantOfACommand(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce), Extract: func(_ string, tool *permission.Tool) ([]permission.Operation, bool) {
		return []permission.Operation{{Action: permission.ActionCommand, Argv: []string{"make"}, Cwd: on("/")}}, true
	}})
	d.Decide(t.Context(), question(permission.Tool{}))
	act := command("make")
	act.Operation.Cwd = resolved("/")
	poisoned := act
	poisoned.Operation.Env, poisoned.Operation.EnvDigest = []string{"LD_PRELOAD"}, permission.DigestOf("LD_PRELOAD=x")
	require.NoError(t, d.Authorize(t.Context(), poisoned))
	assert.Equal(t, 2, d.timesAsked())
	require.NoError(t, d.Authorize(t.Context(), act))
	assert.Equal(t, 2, d.timesAsked())
}

func TestTheSameCallAskedTwice(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
	for range 2 {
		require.Equal(t, permission.Allow, d.Decide(t.Context(), question(edit("/w/a", "x"))).Decision)
	}
	assert.Equal(t, 2, d.timesAsked())
	for range 2 { // two permissions allow two operations
		require.NoError(t, d.Authorize(t.Context(), write(resolved("/w/a"), "x")))
	}
	assert.Equal(t, 2, d.timesAsked())
}

func TestGrantsAreConsumedOnceByMany(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)})
	d.Decide(t.Context(), question(edit("/w/a", "x")))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { assert.NoError(t, d.Authorize(t.Context(), write(resolved("/w/a"), "x"))) })
	}
	all.Wait()
	assert.Equal(t, 20, d.timesAsked(), "19 of them, and the question")
}

func TestMemory(t *testing.T) {
	tool := permission.Tool{Name: "t", Input: json.RawMessage(`{"a":1, "b":2}`)}
	same := permission.Tool{Name: "t", Input: json.RawMessage(`{"b":2,"a":1}`)}
	for answer, decision := range map[string]permission.Decision{permission.AllowAlways: permission.Allow, permission.RejectAlways: permission.Deny} {
		d := newTestScope(t, permission.Options{Ask: pick(answer)})
		d.Decide(t.Context(), question(tool))
		o := d.Decide(t.Context(), question(same))
		assert.Equal(t, permission.ByMemory, o.By)
		assert.Equal(t, decision, o.Decision)
		assert.Equal(t, map[permission.Decision]string{permission.Allow: "id of allow_once", permission.Deny: "id of reject_once"}[decision], o.OptionID)
		for name, q := range map[string]*permission.Question{
			"another argument": question(permission.Tool{Name: "t", Input: json.RawMessage(`{"a":2}`)}),
			"another tool":     question(permission.Tool{Name: "u", Input: tool.Input}),
			"no argument":      question(permission.Tool{Name: "t"}),
			"another workspace": func() *permission.Question {
				q := question(tool)
				q.Workspace = "/v"
				return q
			}(),
			"another session": func() *permission.Question {
				q := question(tool)
				q.Session = "t"
				return q
			}(),
		} {
			assert.Equal(t, permission.ByPerson, d.Decide(t.Context(), q).By, name)
		}
		d.EndSession("s")
		assert.Equal(t, permission.ByPerson, d.Decide(t.Context(), question(tool)).By)
	}
}

func TestMemoryOfActs(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowAlways)})
	require.NoError(t, d.Authorize(t.Context(), write("/w/a", "1")))
	require.NoError(t, d.Authorize(t.Context(), write("/w/a", "2")))
	assert.Equal(t, 1, d.timesAsked(), "always is for the file")
	require.NoError(t, d.Authorize(t.Context(), write("/w/b", "2")))
	require.NoError(t, d.Authorize(t.Context(), command("ls", "-l")))
	assert.Equal(t, 3, d.timesAsked())
	require.NoError(t, d.Authorize(t.Context(), command("ls", "-l")))
	assert.Equal(t, 3, d.timesAsked())
	for _, other := range []permission.Act{command("ls"), command("ls -l"), shell("ls -l"), func() permission.Act {
		a := command("ls", "-l")
		a.Operation.Cwd = "/"
		return a
	}()} {
		before := d.timesAsked()
		require.NoError(t, d.Authorize(t.Context(), other))
		assert.Equal(t, before+1, d.timesAsked(), "%+v", other)
	}
}

// shared is a memory that outlives sessions.
type shared struct {
	mu   sync.Mutex // guards all
	kept map[permission.Key]permission.Decision
}

func (s *shared) Recall(k permission.Key) permission.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[k]
}

func (s *shared) Remember(r permission.Remembered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range r.Keys {
		s.kept[k] = r.Decision
	}
}

func TestSharedMemory(t *testing.T) {
	m := &shared{kept: map[permission.Key]permission.Decision{}}
	ask := newTestScope(t, permission.Options{Ask: pick(permission.AllowAlways), Memory: m})
	require.NoError(t, ask.Authorize(t.Context(), command("ls")))
	other := newTestScope(t, permission.Options{Memory: m}, permission.Rule{Decision: permission.Ask, Commands: []string{"cat"}})
	act := command("ls")
	act.Session = "another"
	require.NoError(t, other.Authorize(t.Context(), act))
	assert.Equal(t, permission.ByMemory, other.last().Outcome.By)
	require.NoError(t, ask.Authorize(t.Context(), command("cat", "x")))
	assert.Error(t, other.Authorize(t.Context(), command("cat", "x")), "a rule that asks comes before the memory")
}

func TestClosedScope(t *testing.T) {
	d := newTestScope(t, permission.Options{Ask: pick(permission.AllowAlways)})
	require.NoError(t, d.Authorize(t.Context(), command("ls")))
	d.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the connection is lost
	assert.Error(t, d.Authorize(ctx, command("ls")))
	assert.Empty(t, d.Decide(ctx, question(edit("/w/a", "x"))).OptionID)
	assert.ErrorIs(t, d.Authorize(t.Context(), command("ls")), permission.ErrClosed)
	assert.Equal(t, permission.Outcome{By: permission.ByCancel}, d.Decide(t.Context(), question(edit("/w/a", "x"))))
}
