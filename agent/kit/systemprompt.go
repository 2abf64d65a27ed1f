package kit

import (
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
)

// SystemPrompt returns the system prompt that the client sent when it opened the session, or nil
// if it sent none. Its Apply returns the prompt for the model. It holds while the session is open:
// a client that opens the session again sends it again, and one that sends none gets the agent's
// own. The result is shared and must not be modified.
func (s *Session) SystemPrompt() *acp.SystemPrompt { return s.system }

// newSystemPrompt returns the record of the system prompt if it is not the last one that was recorded.
// So the journal tells under which one each turn was made.
func (s *Session) newSystemPrompt() []record {
	now, last := s.system, s.recorded
	switch {
	case now == nil && last == nil, now != nil && last != nil && now.Mode == last.Mode && now.Text() == last.Text():
		return nil
	case now == nil:
		return []record{{journal.KindSystem, nil}}
	}
	plain := &acp.SystemPrompt{Mode: now.Mode, Content: []acp.ContentBlock{acp.Text(now.Text())}}
	return []record{{journal.KindSystem, plain}}
}

// AppliesSystemPrompt implements acp.SystemPromptApplier.
func (c *conn) AppliesSystemPrompt(mode acp.SystemPromptMode) bool {
	return slices.Contains(c.agent.opts.SystemPrompts, mode)
}

func checkModes(modes []acp.SystemPromptMode) error {
	for _, m := range modes {
		if m != acp.SystemPromptModeAppend && m != acp.SystemPromptModeOverride {
			return errors.New("kit: Options.SystemPrompts has a mode that is neither append nor override")
		}
	}
	if len(modes) > 0 && !slices.Contains(modes, acp.SystemPromptModeAppend) {
		return errors.New("kit: Options.SystemPrompts lacks append, which every agent that takes a system prompt must apply")
	}
	return nil
}
