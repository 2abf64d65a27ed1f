package rpc

// White box: the queue and the keys of ids have no face of their own.

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var q queue
	var model []int64
	next := int64(0)
	for range 2000 {
		for range r.IntN(60) {
			next++
			q.push(item{size: next})
			model = append(model, next)
		}
		var all []int64
		for it := range q.all() {
			all = append(all, it.size)
		}
		require.Equal(t, model, all)
		take := r.IntN(62)
		if r.IntN(4) == 0 {
			take = len(model)
		}
		for range min(take, len(model)) {
			require.Equal(t, model[0], q.pop().size)
			if model = model[1:]; len(model) == 0 {
				model = nil
			}
		}
		require.Equal(t, len(model), q.len())
	}
	for range q.all() {
		break // may stop early
	}
}

// A member leaves its group in the same time, however many there are.
func TestMembersOfAGroup(t *testing.T) {
	p := pending{groups: map[string]*group{}}
	all := make([]*request, 300_000)
	for i := range all {
		all[i] = &request{}
		all[i].member.request = all[i]
		p.join(&all[i].member, "s")
	}
	begun := time.Now()
	for i := range all { // from both ends to the middle
		at := i / 2
		if i%2 == 1 {
			at = len(all) - 1 - i/2
		}
		p.leave(&all[at].member)
		p.leave(&all[at].member) // no matter
		if i == len(all)-3 {
			assert.Equal(t, all[len(all)/2-1:len(all)/2+1], p.endGroup("s", true))
		}
	}
	assert.Less(t, time.Since(begun), 3*time.Second)
	assert.Empty(t, p.groups)
}

func TestIDKey(t *testing.T) {
	for _, same := range [][]string{
		{"1", "1.0", "1e0", "10e-1"}, {`"a"`, `"\u0061"`}, {"-7", "-7.0"}, {"0", "-0", "0.0"},
		{"null"}, {`"1"`}, {`"null"`}, {"9007199254740993"}, {"9007199254740992"}, {"1.5"}, {`""`}, {"1e300"}, {`"\ud800"`, `"\uD800"`},
	} {
		for _, id := range same {
			assert.Equal(t, idKey(same[0]), idKey(id), id)
		}
	}
	assert.NotEqual(t, idKey("1"), idKey(`"1"`))
	assert.NotEqual(t, idKey("9007199254740993"), idKey("9007199254740992"))
	for id, want := range map[string]uint64{"1": 1, "7.0": 7, "7e0": 7, "18446744073709551615": 1<<64 - 1, "0": 0, `"1"`: 0, "null": 0, "-1": 0, "1.5": 0, "": 0, "18446744073709551616": 0} {
		got, ok := callID([]byte(id))
		assert.Equal(t, want, got, id)
		assert.Equal(t, want != 0, ok, id)
	}
}
