package client

import (
	"slices"

	"github.com/acpkit/go-sdk/acp/v2"
)

// question is a request to the user that has no response yet.
type question struct {
	about     matter
	cancelled chan struct{}
}

// over returns nil: in this version the agent may work on after a turn, and ask.
func (*turns) over(acp.SessionID) <-chan struct{} { return nil }

// cancelling must be called before a cancel for a session is sent. The caller must call
// cancelled after the cancel is queued for sending. A prompt that is sent between the two
// calls is not affected. Questions about background work end only if all is true.
func (t *turns) cancelling(id acp.SessionID, all bool) (cancelled func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var prompts []*openPrompt
	var questions []*question
	if w := t.open[id]; w != nil {
		for _, p := range w.prompts {
			if p.sent {
				prompts = append(prompts, p)
			}
		}
		for q := range w.questions {
			questions = append(questions, q)
		}
	}
	return func() { t.cancelled(id, prompts, questions, all) }
}

func (t *turns) cancelled(id acp.SessionID, prompts []*openPrompt, questions []*question, all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range prompts {
		p.cancelled = true
	}
	w := t.open[id]
	if w == nil {
		return
	}
	if w.allCancelled() { // questions that arrived between the two calls end too
		for q := range w.questions {
			w.cancel(q, all)
		}
	}
	for _, q := range questions {
		w.cancel(q, all)
	}
	t.tidyLocked(id, w)
}

func (w *work) allCancelled() bool {
	for _, p := range w.prompts {
		if !p.cancelled {
			return false
		}
	}
	return true
}

// cancel ends a question, unless it has ended or is about background work.
func (w *work) cancel(q *question, all bool) {
	if _, open := w.questions[q]; open && (all || !w.inBackground(q.about)) {
		delete(w.questions, q)
		close(q.cancelled)
	}
}

// inBackground reports whether something belongs to background work.
func (w *work) inBackground(about matter) bool {
	return slices.ContainsFunc(w.background, func(item acp.BackgroundWork) bool {
		switch item := item.(type) {
		case *acp.BackgroundToolCall:
			return item.ToolCallID == about.toolCall
		case *acp.BackgroundTerminal:
			return item.TerminalID == about.terminal
		}
		return false
	})
}

// ask records a question. It returns nil if all turns of the session are cancelled; the
// user must not be asked then.
func (t *turns) ask(id acp.SessionID, about matter) *question {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.of(id)
	if len(w.prompts) > 0 && w.allCancelled() && !w.inBackground(about) {
		return nil
	}
	q := &question{about, make(chan struct{})}
	w.questions[q] = struct{}{}
	return q
}

// answered records that the question is no longer open.
func (t *turns) answered(id acp.SessionID, q *question) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.open[id]; w != nil {
		delete(w.questions, q)
		t.tidyLocked(id, w)
	}
}
