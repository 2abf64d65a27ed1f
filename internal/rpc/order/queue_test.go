package order

// This test is in the package because the queue and the groups are not exported.

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// handler is a request that does nothing.
type handler struct {
	Request
	Scope
}

func (*handler) Serve(Scoped) {}
func (*handler) End(Ended)    {}

func TestQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var q queue
	var model []int64
	next := int64(0)
	for range 2000 {
		for range r.IntN(60) {
			next++
			q.push(Item{Size: next})
			model = append(model, next)
		}
		var all []int64
		for it := range q.all() {
			all = append(all, it.Size)
		}
		require.Equal(t, model, all)
		take := r.IntN(62)
		if r.IntN(4) == 0 {
			take = len(model)
		}
		for range min(take, len(model)) {
			require.Equal(t, model[0], q.pop().Size)
			if model = model[1:]; len(model) == 0 {
				model = nil
			}
		}
		require.Equal(t, len(model), q.n)
	}
	for range q.all() {
		break // may stop early
	}
}

// A member leaves its group in constant time. If other programs slow the machine, the best try
// counts.
func TestMembersOfAGroup(t *testing.T) {
	const enough = 3 * time.Second
	best := time.Hour
	for try := 0; try < 20 && best > enough; try++ {
		best = min(best, leaveGroup(t))
	}
	assert.LessOrEqual(t, best, enough)
}

// leaveGroup returns how long it takes until 300 000 members have left their group.
func leaveGroup(t *testing.T) time.Duration {
	p := pending{groups: map[string]*list{}}
	all := make([]*Request, 300_000)
	for i := range all {
		h := &handler{}
		h.do, all[i] = h, &h.Request
		all[i].member = &member{node: node{request: all[i]}}
		p.join(&all[i].member.node, "s")
	}
	begun := time.Now()
	for i := range all { // from both ends to the middle
		at := i / 2
		if i%2 == 1 {
			at = len(all) - 1 - i/2
		}
		p.leave(&all[at].member.node, "s")
		p.leave(&all[at].member.node, "s") // no matter
		if i == len(all)-3 {
			assert.Equal(t, all[len(all)/2-1:len(all)/2+1], p.endGroup(&Ends{Group: "s", All: true}))
		}
	}
	took := time.Since(begun)
	assert.Empty(t, p.groups)
	return took
}
