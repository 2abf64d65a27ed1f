package acp

import "strings"

// SystemPromptApplier is an optional interface of an agent that applies the system prompts of
// clients. Without it, and without the capability in the response to initialize, the connection
// refuses every request that carries a system prompt with -32602, before the agent is called.
//
// The agent finds the prompt in the params of the methods that start or open a session. It must apply it for
// as long as the session is open; [SystemPrompt.Apply] does so for both modes. A request without
// a prompt means the agent's own prompt, also for a session that had another one before.
//
// New calls AppliesSystemPrompt once for [SystemPromptModeAppend], which every applier must have,
// and once for [SystemPromptModeOverride]. The result determines the capability that is advertised. The
// connection has checked a prompt that the agent receives: its mode is advertised, and its content is text.
type SystemPromptApplier interface {
	AppliesSystemPrompt(mode SystemPromptMode) bool
}

// AppliesSystemPrompt implements [SystemPromptApplier]: it reports what the wrapped agent applies.
func (w AgentWrapper) AppliesSystemPrompt(mode SystemPromptMode) bool {
	a, ok := w.Agent.(SystemPromptApplier)
	return ok && a.AppliesSystemPrompt(mode)
}

// Text returns the text of the prompt. Blocks are separated by a blank line. A nil prompt has none.
func (p *SystemPrompt) Text() string {
	if p == nil {
		return ""
	}
	var texts []string
	for _, block := range p.Content {
		if text := PlainText(block); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Apply returns the system prompt that a model is given: own, which is that of the agent, followed
// by the text of p, or that text in place of own. A nil prompt returns own.
func (p *SystemPrompt) Apply(own string) string {
	switch text := p.Text(); {
	case p == nil:
		return own
	case p.Mode == SystemPromptModeOverride || own == "":
		return text
	default:
		return own + "\n\n" + text
	}
}
