package talk

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Turns holds, by session, the prompts in flight and the agent's requests to the user (questions)
// that have no response yet. When a turn is cancelled, its questions end too: the agent waits for
// their responses, and the user has already decided.
type Turns struct {
	mu      sync.Mutex // guards the fields below, and what they contain
	open    map[string]*work
	leaving map[string]*leaving
	begun   uint64 // number of prompts so far
}

// work is what is in progress in one session.
type work struct {
	prompts    []*Prompt
	questions  map[*question]struct{}
	background []Matter
}

// Matter is what a question is about. The zero value is the turn itself.
type Matter struct{ ToolCall, Terminal string }

// Prompt is a prompt in flight.
type Prompt struct {
	Number    uint64        // among those of the connection, from 1
	Over      chan struct{} // nil, or to be closed when it is no longer in flight
	sent      bool          // it is queued for sending, before any later message
	cancelled bool          // a cancel for it was sent
}

func (t *Turns) of(id string) *work {
	w := t.open[id]
	if w == nil {
		if t.open == nil {
			t.open = map[string]*work{}
		}
		w = &work{questions: map[*question]struct{}{}}
		t.open[id] = w
	}
	return w
}

// tidyLocked removes a session in which nothing is in progress.
func (t *Turns) tidyLocked(id string, w *work) {
	if len(w.prompts) == 0 && len(w.questions) == 0 && len(w.background) == 0 {
		delete(t.open, id)
	}
}

// Begin records p as a prompt of the session. The caller must call End.
func (t *Turns) Begin(id string, p *Prompt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun++
	p.Number = t.begun
	w := t.of(id)
	w.prompts = append(w.prompts, p)
}

// Newest returns the newest prompt of a session, or nil.
func (t *Turns) Newest(id string) *Prompt {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.open[id]; w != nil && len(w.prompts) > 0 {
		return w.prompts[len(w.prompts)-1]
	}
	return nil
}

// Sent records that a prompt is queued for sending.
func (t *Turns) Sent(p *Prompt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.sent = true
}

// End records that a prompt is no longer in flight. Only the first call counts.
func (t *Turns) End(id string, p *Prompt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.open[id]
	if w == nil {
		return
	}
	i := slices.Index(w.prompts, p)
	if i < 0 {
		return
	}
	if p.Over != nil {
		close(p.Over)
	}
	w.prompts = slices.Delete(w.prompts, i, i+1)
	t.tidyLocked(id, w)
}

// Background records what goes on outside of turns. A cancel does not end questions about it.
func (t *Turns) Background(id string, list []Matter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.of(id)
	w.background = list
	t.tidyLocked(id, w)
}

func (w *work) inBackground(about Matter) bool {
	return slices.ContainsFunc(w.background, func(item Matter) bool {
		return item.ToolCall != "" && item.ToolCall == about.ToolCall || item.Terminal != "" && item.Terminal == about.Terminal
	})
}

// leaving are the cancels and closes of a session that are being queued for sending.
type leaving struct {
	count int
	none  chan struct{} // closed when count is 0 again
}

// Cancelling must be called before a cancel or a close of the session is sent. The caller must
// call cancelled when that is queued for sending, and stop in any case. A prompt that is sent before
// the call of cancelled is not affected. Questions about background work end only if all is true.
func (t *Turns) Cancelling(id string, all bool) (cancelled, stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.leaving[id]
	if l == nil {
		if t.leaving == nil {
			t.leaving = map[string]*leaving{}
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
	var prompts []*Prompt
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

func (t *Turns) cancelled(id string, prompts []*Prompt, questions []*question, all bool) {
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
	return !slices.ContainsFunc(w.prompts, func(p *Prompt) bool { return !p.cancelled })
}

// cancel ends a question, unless it has ended or is about background work.
func (w *work) cancel(q *question, all bool) {
	if _, open := w.questions[q]; open && (all || !w.inBackground(q.about)) {
		delete(w.questions, q)
		close(q.cancelled)
	}
}

// Cancel sends a cancel of the session's turns, and ends their questions.
func (t *Turns) Cancel(id string, send func() error) error {
	cancelled, stop := t.Cancelling(id, false)
	defer stop()
	err := send()
	if err == nil {
		cancelled()
	}
	return err
}

// CancelTurn calls cancel, which asks the agent to cancel the work of a session. It waits for the
// grace, and at least for a second. ctx may be done.
func CancelTurn(ctx context.Context, grace time.Duration, log *slog.Logger, cancel func(context.Context) error) {
	// An agent that does not read must not block the caller.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), max(grace, time.Second))
	defer stop()
	if err := cancel(ctx); err != nil {
		log.Debug("acp: the turn could not be cancelled", "method", "session/cancel", "error", err)
	}
}
