package streamhttp

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/stream"
)

// Whatever happens in whichever order, nothing is lost without an error, nothing is delivered or
// posted twice, what was sent in order is delivered and posted in order, a response overtakes neither
// the updates before it nor the notifications before it, a cancel not its request, and everything ends. The end
// of the connection is no loss of a session.
func TestBook(t *testing.T) {
	for seed := range uint64(3000) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 0)), t: t, unordered: map[string]bool{}, failing: seed%2 == 0, writes: 12}
		w.b = newBook(w.deliver, func(err error) { w.ended = err })
		w.write(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
		w.written[0].taken, w.written[0].over, w.posting = true, true, nil
		w.do(w.b.initialized("c", stream.ParseMessage([]byte(`{"jsonrpc":"2.0","id":0,"result":{}}`))))
		w.b.left()
		for w.writes > 0 {
			w.step()
		}
		w.failing = false
		dies := seed%10 == 1 || seed%10 == 5 // nothing was lost before
		if seed%5 > 0 && !dies {
			for w.step() {
			}
			w.check()
		}
		if dies { // all event streams end, in any order
			w.dying, w.turns = true, nil
			for w.ended == nil && w.step() {
			}
		}
		w.b.fail(io.EOF)
		for w.step() {
		}
		select {
		case <-w.b.quiet:
		default:
			assert.Fail(t, "something has not ended")
		}
		assert.Equal(t, io.EOF, w.ended)
		if t.Failed() {
			t.Fatalf("the episode is %d", seed)
		}
	}
}

// check checks that nothing is left of an episode.
func (w *world) check() {
	for _, s := range w.sent {
		listens := slices.ContainsFunc(w.open, func(o *source) bool { return o.session == s.on })
		delivered := s.delivered || s.lost || !listens || s.m.CancelID != nil || s.arrived && s.m.IsResponse()
		assert.True(w.t, delivered, "%s is not delivered", s.m.Data)
	}
	for _, c := range w.written {
		assert.True(w.t, c.over || c.m.Kind != stream.KindRequest, "nothing becomes of %s", c.m.Data)
		assert.True(w.t, c.taken || c.lost || c.m.Kind == stream.KindRequest, "%s is not posted", c.m.Data)
	}
	busy, _ := w.b.busy()
	assert.False(w.t, busy)
	assert.Empty(w.t, w.b.calls)
}
