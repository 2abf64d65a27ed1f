package thread_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/thread"
)

// parts are the plans, suggestions and cursors of a thread, made in the simplest way.
type parts struct {
	Plans       []thread.Plan       `json:",omitempty"`
	Suggestions []thread.Suggestion `json:",omitempty"`
	Cursors     []thread.Cursor     `json:",omitempty"`
}

func (p *parts) apply(e thread.Event) {
	switch e := e.(type) {
	case thread.PlanChanged:
		if i := slices.IndexFunc(p.Plans, func(q thread.Plan) bool { return q.ID == e.Plan.ID }); i >= 0 {
			p.Plans[i] = e.Plan
		} else {
			p.Plans = append(p.Plans, e.Plan)
		}
	case thread.PlanRemoved:
		p.Plans = slices.DeleteFunc(p.Plans, func(q thread.Plan) bool { return q.ID == e.ID })
	case thread.SuggestionsChanged:
		p.Suggestions = e.Suggestions
	case thread.CursorChanged:
		i := slices.IndexFunc(p.Cursors, func(c thread.Cursor) bool { return c.ID == e.ID })
		if i < 0 && e.Anchor == nil {
			return
		} else if i < 0 {
			i = len(p.Cursors)
			p.Cursors = append(p.Cursors, thread.Cursor{ID: e.ID, Anchor: *e.Anchor})
		}
		c := &p.Cursors[i]
		if e.Fork != nil {
			c.Fork = *e.Fork
		}
		if e.Meta != nil {
			m := thread.Meta{}
			for k, v := range c.Meta {
				if !e.Whole {
					m[k] = v
				}
			}
			for k, v := range e.Meta {
				m[k] = v
			}
			c.Meta = m
		}
	}
}

// json returns the parts as JSON, without those that are empty.
func (p *parts) json(t *testing.T) string { return toJSON(t, p) }

// Random plans, suggestions and cursors, among other updates, give what the simplest implementation gives; a
// snapshot never changes; and a thread that is restored in between goes on like one that is not.
func TestRandomParts(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		th, want := thread.New(), &parts{}
		id := func() string { return []string{"", "a", "b", "\x00", fmt.Sprint(r.IntN(60))}[r.IntN(5)] }
		meta := func() thread.Meta {
			if r.IntN(2) == 0 {
				return nil
			}
			return thread.Meta{[]string{"k", "l", "m"}[r.IntN(3)]: float64(r.IntN(9))}
		}
		taken := map[*thread.Snapshot]string{}
		see := func(s *thread.Snapshot) string {
			return toJSON(t, &parts{slices.Clone(s.Plans), slices.Clone(s.Suggestions), s.Cursors.Slice()})
		}
		for range 80 {
			var e thread.Event
			switch r.IntN(7) {
			case 0:
				e = thread.PlanChanged{Plan: thread.Plan{ID: id(), Markdown: fmt.Sprint(r.IntN(9)), Meta: meta()}}
			case 1:
				e = thread.PlanRemoved{ID: id()}
			case 2:
				var list []thread.Suggestion
				for range r.IntN(3) {
					list = append(list, thread.Suggestion{Prompt: []thread.Block{{Type: thread.BlockText, Text: fmt.Sprint(r.IntN(9))}}})
				}
				e = thread.SuggestionsChanged{Suggestions: list}
			case 3, 4, 5:
				c := thread.CursorChanged{ID: id(), Meta: meta(), Whole: r.IntN(2) == 0}
				if r.IntN(2) == 0 {
					c.Anchor = &thread.CursorAnchor{Type: "tool_call", ID: fmt.Sprint(r.IntN(9)), Position: "after"}
				}
				if r.IntN(2) == 0 {
					c.Fork = new(r.IntN(2) == 0)
				}
				e = c
			default:
				switch r.IntN(3) {
				case 0:
					th.Drop(r.IntN(10))
				case 1:
					var s thread.Snapshot
					require.NoError(t, json.Unmarshal([]byte(toJSON(t, th.Snapshot())), &s))
					th = thread.New()
					th.Restore(&s)
				}
				e = thread.Noticed{Notice: thread.Notice{Title: "n"}}
			}
			th.Do(e)
			want.apply(e)
			s := th.Snapshot()
			require.Equal(t, want.json(t), see(s), "seed %d", seed)
			taken[s] = see(s)
		}
		for s, then := range taken {
			require.Equal(t, then, see(s), "seed %d: a snapshot has changed", seed)
		}
		th.Reset()
		require.Equal(t, (&parts{}).json(t), see(th.Snapshot()))
	}
}
