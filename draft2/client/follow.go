package client

import (
	"slices"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/talk"
)

// read lets an update of a session begin and end prompts. It returns the Turn that the
// update belongs to, or nil, and the prompts that the update has ended, or nil. opened
// reports whether this Conn has opened the session.
func (t *turns) read(id acp.SessionID, u acp.SessionUpdate, opened func(acp.SessionID) bool) (*Turn, *ended) {
	state, _ := u.(*acp.SessionStateUpdate)
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.open[id]
	if w == nil {
		if state == nil || len(backgroundOf(state.StateUpdate)) == 0 || !opened(id) {
			return nil, nil
		}
		w = t.of(id)
	}
	switch u := u.(type) {
	case *acp.UserMessage:
		w.echoLocked(u.MessageID)
	case *acp.UserMessageChunk:
		w.echoLocked(u.MessageID)
	}
	turn := (*Turn)(nil)
	if w.latest != nil {
		turn = w.latest.turn
	}
	if state == nil {
		return turn, nil
	}
	return turn, t.stateLocked(id, w, state.StateUpdate)
}

// echoLocked reads a message of the user. A new one is taken for the message of the oldest
// prompt that has not begun. It may also be that of another client; the response to the
// prompt has the right id.
func (w *work) echoLocked(id acp.MessageID) {
	if w.snapshots.replaying > 0 || !w.echoes.add(id) {
		return
	}
	waits := func(p *openPrompt) bool { return !p.accepted }
	if !slices.ContainsFunc(w.prompts, waits) {
		return
	}
	w.echoes.keep(id)
	i := slices.IndexFunc(w.prompts, func(p *openPrompt) bool { return waits(p) && p.place == 0 })
	if i >= 0 {
		w.prompts[i].id = id
		w.beginLocked(w.prompts[i])
		w.findLatestLocked()
	}
}

// stateLocked reads a state of the session, and returns the prompts that it ends.
func (t *turns) stateLocked(id acp.SessionID, w *work, s acp.StateUpdate) (e *ended) {
	if list := backgroundOf(s); list != nil {
		t.setBackgroundLocked(id, w, list)
	}
	idle, _ := s.(*acp.IdleStateUpdate)
	if w.snapshots.reopening > 0 {
		// The last state before the response is a snapshot. Earlier states are not, unless
		// they are part of the history.
		before := w.snapshots.idle
		w.snapshots.idle = idle
		if before != nil && w.snapshots.replaying == 0 {
			e = t.idleLocked(id, w, before)
		}
		if idle == nil {
			w.busy = true
		}
		return e
	}
	if idle == nil {
		w.busy = true
		return nil
	}
	return t.idleLocked(id, w, idle)
}

// idleLocked ends the prompts that have begun.
func (t *turns) idleLocked(id acp.SessionID, w *work, idle *acp.IdleStateUpdate) *ended {
	repeated := !w.busy && idle.StopReason == "" && idle.Background != nil
	w.busy = false
	if repeated { // only the list of the background work has changed
		t.tidyLocked(id, w)
		return nil
	}
	w.echoes.end(idle)
	var over []*openPrompt
	for _, p := range w.prompts {
		switch {
		case p.place == 0 || p.idle != nil:
		case p.accepted:
			over = append(over, p)
		default: // its response is still to come
			p.idle = idle
		}
	}
	return t.endLocked(id, w, idle, over...)
}

// setBackgroundLocked records the background work, whose questions a cancel does not end.
func (t *turns) setBackgroundLocked(id acp.SessionID, w *work, list []acp.BackgroundWork) {
	var items []talk.Matter
	for _, item := range list {
		switch item := item.(type) {
		case *acp.BackgroundToolCall:
			items = append(items, talk.Matter{ToolCall: string(item.ToolCallID)})
		case *acp.BackgroundTerminal:
			items = append(items, talk.Matter{Terminal: string(item.TerminalID)})
		}
	}
	w.background = len(list) > 0
	t.asked.Background(string(id), items)
}

// backgroundOf returns the list of the background work, or nil if it is not reported.
func backgroundOf(s acp.StateUpdate) []acp.BackgroundWork {
	switch s := s.(type) {
	case *acp.RunningStateUpdate:
		return s.Background
	case *acp.IdleStateUpdate:
		return s.Background
	case *acp.RequiresActionStateUpdate:
		return s.Background
	case *acp.UnknownStateUpdate:
		return s.Background
	}
	return nil
}

// keptEchoes is how many messages of the user are remembered while a prompt waits for its
// response.
const keptEchoes = 256

// echoes are the messages of the user that were read while prompts were in flight.
type echoes struct {
	seen talk.Recent
	kept []echo // read while a prompt had no response, the oldest first
}

// echo is a message of the user, and the end of the work that followed it.
type echo struct {
	id   acp.MessageID
	idle *acp.IdleStateUpdate
}

// add reports whether the message is new.
func (e *echoes) add(id acp.MessageID) bool {
	if e.seen.Has(string(id)) {
		return false
	}
	e.known(id)
	return true
}

// known records that the message belongs to a prompt, so that it does not begin another.
func (e *echoes) known(id acp.MessageID) {
	e.seen.Add(string(id), keptEchoes)
}

func (e *echoes) keep(id acp.MessageID) {
	if len(id) > talk.LongestID {
		return
	}
	if len(e.kept) == keptEchoes {
		e.kept = slices.Delete(e.kept, 0, 1)
	}
	e.kept = append(e.kept, echo{id: id})
}

func (e *echoes) find(id acp.MessageID) *echo {
	if i := slices.IndexFunc(e.kept, func(o echo) bool { return o.id == id }); i >= 0 && id != "" {
		return &e.kept[i]
	}
	return nil
}

// end records the end of the work.
func (e *echoes) end(idle *acp.IdleStateUpdate) {
	for i := range e.kept {
		if e.kept[i].idle == nil {
			e.kept[i].idle = idle
		}
	}
}

// snapshots distinguishes the states that a resume sends from those of the work.
type snapshots struct {
	reopening int                  // resumes in flight
	replaying int                  // those of them that replay the history
	idle      *acp.IdleStateUpdate // the last state read during them, if it is idle
}

// reopen records that a resume is sent. The caller must call reopened at the place of its
// response.
func (t *turns) reopen(id acp.SessionID, replay bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.of(id).snapshots
	s.reopening++
	if replay {
		s.replaying++
	}
}

// reopened records the end of a resume. The state before the response of one that has
// succeeded was a snapshot, which ends no turn.
func (t *turns) reopened(id acp.SessionID, replay, ok bool) {
	t.mu.Lock()
	w := t.open[id]
	var e *ended
	if w != nil {
		s := &w.snapshots
		s.reopening--
		if replay {
			s.replaying--
		}
		if before := s.idle; before != nil && (ok || s.reopening == 0) {
			s.idle = nil
			if ok || replay {
				w.busy = false
			} else {
				e = t.idleLocked(id, w, before)
			}
		}
		t.tidyLocked(id, w)
	}
	t.mu.Unlock()
	if e != nil {
		e.finish()
	}
}
