// Copied to client/v2 by go generate.

package client

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

// question is a request to the user that has no response yet.
type question struct {
	about     matter
	cancelled chan struct{}
}

// leaving are the cancels and closes of a session that are being queued for sending.
type leaving struct {
	count int
	none  chan struct{} // closed when count is 0 again
}

// cancelling must be called before a cancel or a close of the session is sent. The caller must
// call cancelled when that is queued for sending, and stop in any case. A prompt that is sent before
// the call of cancelled is not affected. Questions about background work end only if all is true.
func (t *turns) cancelling(id acp.SessionID, all bool) (cancelled, stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.leaving[id]
	if l == nil {
		if t.leaving == nil {
			t.leaving = map[acp.SessionID]*leaving{}
		}
		l = &leaving{none: make(chan struct{})}
		t.leaving[id] = l
	}
	l.count++
	stop = sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if l.count--; l.count == 0 {
			delete(t.leaving, id)
			close(l.none)
		}
	})
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
	return func() { t.cancelled(id, prompts, questions, all); stop() }, stop
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

// answered records that the user, or the client, has decided. It reports false if the question was
// cancelled. While a cancel of the session is being queued it waits: a decision that followed the
// cancel would reach an agent that no longer expects one.
func (t *turns) answered(ctx context.Context, id acp.SessionID, q *question) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l := t.leaving[id]; l != nil && ctx.Err() == nil; l = t.leaving[id] {
		t.mu.Unlock()
		select {
		case <-l.none:
		case <-ctx.Done():
		}
		t.mu.Lock()
	}
	w := t.open[id]
	if w == nil {
		return false
	}
	_, open := w.questions[q]
	delete(w.questions, q)
	t.tidyLocked(id, w)
	return open
}
