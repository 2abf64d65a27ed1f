package client

import (
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/talk"
)

// turns holds, by session, the prompts whose work has not ended. It reads the updates of a session
// to know when the work on a prompt begins and ends.
type turns struct {
	asked talk.Turns // ends the agent's questions to the user

	mu   sync.Mutex // guards the fields below, and what they contain; locked before that of asked
	open map[acp.SessionID]*work
}

// work is what is in progress in one session.
type work struct {
	prompts   []*openPrompt // in the order in which they were made
	latest    *openPrompt   // the prompt with a Turn that began last and has not ended
	begins    uint64        // how many prompts have begun
	echoes    echoes
	snapshots snapshots
	// busy reports whether the agent was at work when it last reported its state, or that it
	// has not reported its state.
	busy       bool
	background bool // there was background work in the last report
}

// openPrompt is a prompt whose work has not ended.
type openPrompt struct {
	talk.Prompt
	turn      *Turn         // nil for a prompt of a plain method
	cancel    func()        // cancels the request; nil until it is queued for sending
	withdrawn bool          // its request was cancelled, because the agent appeared to hold it
	inserted  bool          // the caller has the response
	closed    bool          // its session was closed
	id        acp.MessageID // of its message, once it has begun
	place     uint64        // among those that have begun, from 1; 0: it has not begun
	accepted  bool          // the response was handled
	// idle is the end of its work, read before the response.
	idle *acp.IdleStateUpdate
}

// ended holds prompts whose work has ended.
type ended struct {
	prompts []*openPrompt
	idle    *acp.IdleStateUpdate // nil: their session was closed
}

// finish ends the turns. It must be called without the lock of turns. If e is nil, it does nothing.
func (e *ended) finish() {
	if e == nil {
		return
	}
	for _, p := range e.prompts {
		switch {
		case p.turn == nil:
		case e.idle == nil:
			p.turn.finish(nil, ErrSessionClosed)
		default:
			p.turn.finish(e.idle, idleError(e.idle))
		}
	}
}

func (t *turns) of(id acp.SessionID) *work {
	w := t.open[id]
	if w == nil {
		if t.open == nil {
			t.open = map[acp.SessionID]*work{}
		}
		w = &work{busy: true}
		t.open[id] = w
	}
	return w
}

// tidyLocked forgets a session in which nothing is in progress.
func (t *turns) tidyLocked(id acp.SessionID, w *work) {
	if len(w.prompts) == 0 {
		w.echoes = echoes{}
		if !w.background && w.snapshots.reopening == 0 {
			delete(t.open, id)
		}
	}
}

// begin records a prompt. state is the state of the session, or nil if it is not known.
func (t *turns) begin(id acp.SessionID, turn *Turn, state acp.StateUpdate) *openPrompt {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &openPrompt{turn: turn}
	t.asked.Begin(string(id), &p.Prompt)
	if _, idle := state.(*acp.IdleStateUpdate); idle && t.open[id] == nil {
		t.of(id).busy = false
	}
	w := t.of(id)
	w.prompts = append(w.prompts, p)
	return p
}

// accepted records that the message of a prompt is part of the conversation, at the place of
// the response. The id is empty if it is not known. The caller must call finish of the
// result.
func (t *turns) accepted(session acp.SessionID, p *openPrompt, id acp.MessageID) *ended {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.open[session]
	if w == nil || !slices.Contains(w.prompts, p) {
		return nil
	}
	p.accepted = true
	switch e := w.echoes.find(id); {
	case p.place > 0 && (id == "" || p.id == id): // began at its message
	case e != nil: // it began at the message of another prompt
		p.id, p.idle = id, e.idle
		if p.place == 0 {
			w.beginLocked(p)
		}
	default:
		p.id, p.idle = id, nil
		w.beginLocked(p)
	}
	w.echoes.known(id)
	w.findLatestLocked()
	switch {
	case p.closed:
		return t.endLocked(session, w, nil, p)
	case p.idle != nil:
		return t.endLocked(session, w, p.idle, p)
	case p.turn == nil:
		// Of the prompts without a Turn, only the newest is needed.
		t.removeLocked(session, w, func(o *openPrompt) bool { return o != p && o.turn == nil && o.accepted })
	}
	return nil
}

// drop records that a prompt has failed, or is given up.
func (t *turns) drop(session acp.SessionID, p *openPrompt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.open[session]; w != nil {
		t.endLocked(session, w, nil, p)
	}
}

// forget ends the prompts of a session that was closed, or only those of s if it is not nil.
func (t *turns) forget(session acp.SessionID, s *Session) {
	t.mu.Lock()
	w := t.open[session]
	var e *ended
	if w != nil {
		if s == nil {
			w.background = false
			t.asked.Background(string(session), nil)
		}
		var over []*openPrompt
		for _, p := range w.prompts {
			if s != nil && (p.turn == nil || p.turn.session != s) {
				continue
			}
			if p.closed = true; p.accepted {
				over = append(over, p)
			}
		}
		e = t.endLocked(session, w, nil, over...)
	}
	t.mu.Unlock()
	e.finish()
}

func (t *turns) endLocked(session acp.SessionID, w *work, idle *acp.IdleStateUpdate, over ...*openPrompt) *ended {
	t.removeLocked(session, w, func(p *openPrompt) bool { return slices.Contains(over, p) })
	w.findLatestLocked()
	t.tidyLocked(session, w)
	if len(over) == 0 {
		return nil
	}
	return &ended{over, idle}
}

func (t *turns) removeLocked(session acp.SessionID, w *work, over func(*openPrompt) bool) {
	w.prompts = slices.DeleteFunc(w.prompts, func(p *openPrompt) bool {
		if !over(p) {
			return false
		}
		t.asked.End(string(session), &p.Prompt)
		return true
	})
}

// inFlight reports whether a Turn of the session is in flight.
func (t *turns) inFlight(id acp.SessionID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.open[id]
	return w != nil && slices.ContainsFunc(w.prompts, func(p *openPrompt) bool { return p.turn != nil })
}

// current returns the number of the turn in progress in a session, or 0; see [Asked].
func (t *turns) current(id acp.SessionID) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var latest *openPrompt
	if w := t.open[id]; w != nil {
		for _, p := range w.prompts {
			if p.idle == nil && (latest == nil || p.place > latest.place) {
				latest = p
			}
		}
	}
	if latest == nil {
		return 0
	}
	return latest.Number
}

func (w *work) beginLocked(p *openPrompt) {
	w.begins++
	p.place = w.begins
}

// findLatestLocked finds the prompt whose Turn gets the updates.
func (w *work) findLatestLocked() {
	w.latest = nil
	for _, p := range w.prompts {
		if p.turn != nil && p.place > 0 && p.idle == nil && (w.latest == nil || p.place > w.latest.place) {
			w.latest = p
		}
	}
}
