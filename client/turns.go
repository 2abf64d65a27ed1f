package client

import (
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

// turns holds the prompts in flight, and the agent's requests to the user (questions) that have no
// response yet, by session. When a turn is cancelled, its questions end too: the agent waits for
// their responses, and the user has already decided.
type turns struct {
	mu      sync.Mutex // guards the fields below, and what they contain
	open    map[acp.SessionID]*work
	leaving map[acp.SessionID]*leaving
	begun   uint64 // number of prompts so far
}

// work is what is in progress in one session.
type work struct {
	prompts   []*openPrompt
	questions map[*question]struct{}
}

// openPrompt is a prompt in flight.
type openPrompt struct {
	number    uint64
	sent      bool          // it is queued for sending, before any later message
	cancelled bool          // a cancel for it was sent
	over      chan struct{} // closed when it is no longer in flight
}

func (t *turns) of(id acp.SessionID) *work {
	w := t.open[id]
	if w == nil {
		if t.open == nil {
			t.open = map[acp.SessionID]*work{}
		}
		w = &work{questions: map[*question]struct{}{}}
		t.open[id] = w
	}
	return w
}

// tidyLocked removes a session with no prompt in flight and no open question.
func (t *turns) tidyLocked(id acp.SessionID, w *work) {
	if len(w.prompts) == 0 && len(w.questions) == 0 {
		delete(t.open, id)
	}
}

func (t *turns) begin(id acp.SessionID) *openPrompt {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun++
	p := &openPrompt{number: t.begun, over: make(chan struct{})}
	w := t.of(id)
	w.prompts = append(w.prompts, p)
	return p
}

// CurrentTurn returns the number of the turn in flight in a session, or 0 if there is none.
// If there are several, it returns the number of the newest. Each turn of a connection has
// its own number.
//
// With it a client can determine to which turn a request of the agent belongs, so that a
// permission for one turn does not apply to the next.
func (c *Conn) CurrentTurn(id acp.SessionID) uint64 {
	return c.turns.newest(id).number
}

// newest returns the newest prompt of a session, or the zero value.
func (t *turns) newest(id acp.SessionID) openPrompt {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.open[id]; w != nil && len(w.prompts) > 0 {
		return *w.prompts[len(w.prompts)-1]
	}
	return openPrompt{}
}

// over returns a channel that is closed when the turn in flight ends, or nil if there is no turn.
func (t *turns) over(id acp.SessionID) <-chan struct{} { return t.newest(id).over }

func (t *turns) sent(p *openPrompt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.sent = true
}

// end records that a prompt is no longer in flight.
func (t *turns) end(id acp.SessionID, p *openPrompt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(p.over)
	if w := t.open[id]; w != nil {
		w.prompts = slices.DeleteFunc(w.prompts, func(o *openPrompt) bool { return o == p })
		t.tidyLocked(id, w)
	}
}
