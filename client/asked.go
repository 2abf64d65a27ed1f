// Copied to client/v2 by go generate.

package client

import (
	"github.com/acpkit/go-sdk/acp"
)

// question is a request to the user that has no response yet.
type question struct {
	about     matter
	cancelled chan struct{}
}

// cancelling must be called before a cancel or a close of the session is sent. The caller must
// call cancelled after that is queued for sending. A prompt that is sent between the two calls is
// not affected. Questions about background work end only if all is true.
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
	if w.allCancelled() { // end the questions that arrived between the two calls
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

// ask records a question. If all turns of the session are cancelled it returns nil, and the user
// must not be asked.
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
