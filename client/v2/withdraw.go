package client

import (
	"slices"

	"github.com/acpkit/go-sdk/acp/v2"
)

// This file cancels a single prompt, which the protocol allows as long as the agent holds the
// prompt. The request of the prompt is cancelled, and the response reports the outcome.

// withdraw cancels a prompt if the agent seems to hold it: its message is not part of the
// conversation, and the session has other work. It reports false if it did not; a cancel of
// the session is needed then. A prompt without other work is not withdrawn: a cancel of the
// session ends nothing else, and agents that do not support $/cancel_request honour it.
func (s *Session) withdraw(p *openPrompt) bool {
	s.mu.Lock()
	state := s.settings.state
	s.mu.Unlock()
	_, idle := state.(*acp.IdleStateUpdate)
	return s.conn.turns.withdraw(s.id, p, state != nil && !idle)
}

func (t *turns) withdraw(id acp.SessionID, p *openPrompt, busy bool) bool {
	t.mu.Lock()
	w := t.open[id]
	held := w != nil && slices.Contains(w.prompts, p) && p.cancel != nil && p.place == 0 && !p.accepted && !p.inserted &&
		(busy || len(w.prompts) > 1)
	cancel := p.cancel
	if held {
		p.withdrawn = true
	}
	t.mu.Unlock()
	if held {
		cancel()
	}
	return held
}

// cancellable records how to cancel the request of a prompt.
func (t *turns) cancellable(p *openPrompt, cancel func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.cancel = cancel
}

// insert records that the prompt has a response, so it can no longer be withdrawn. It reports
// whether it was withdrawn too late, so that its work must be cancelled.
func (t *turns) insert(p *openPrompt) (inVain bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.inserted = true
	return p.withdrawn
}
