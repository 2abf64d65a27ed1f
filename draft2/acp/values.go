package acp

import (
	"context"
	"encoding/json"
	"strings"

	v1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/roles"
)

// Text returns a text block, for prompts and messages.
func Text(s string) *TextContent { return &TextContent{Text: s} }

// ToolText returns text as the content of a tool call.
func ToolText(s string) *Content { return &Content{Content: Text(s)} }

// PlainText concatenates the text of blocks, without separators. It includes the text of
// embedded resources and ignores all other kinds of blocks and nil.
func PlainText(blocks ...ContentBlock) string {
	var b strings.Builder
	for _, block := range blocks {
		if text, ok := block.(*TextContent); ok && text != nil {
			b.WriteString(text.Text)
		} else if embedded, ok := block.(*EmbeddedResource); ok && embedded != nil {
			if text, ok := embedded.Resource.(*TextResourceContents); ok && text != nil {
				b.WriteString(text.Text)
			}
		}
	}
	return b.String()
}

// Selected returns the response that selects the option with the given id.
func Selected(id PermissionOptionID) *RequestPermissionResponse {
	return &RequestPermissionResponse{Outcome: &SelectedPermissionOutcome{OptionID: id}}
}

// Cancelled returns the response to a permission request whose turn was cancelled, or for
// which no option is suitable.
func Cancelled() *RequestPermissionResponse {
	return &RequestPermissionResponse{Outcome: &CancelledPermissionOutcome{}}
}

// SelectKind returns the response that selects the first option of the first of the kinds that is
// offered, and [Cancelled] if none is; see [v1.SelectKind].
func SelectKind(options []PermissionOption, kinds ...PermissionOptionKind) *RequestPermissionResponse {
	if o, ok := v1.SelectKind(options, kinds...).Outcome.(*v1.SelectedPermissionOutcome); ok {
		return Selected(o.OptionID)
	}
	return Cancelled()
}

// SystemPromptApplier is an optional interface of an agent that applies the system prompts of
// clients; see [v1.SystemPromptApplier].
type SystemPromptApplier = v1.SystemPromptApplier

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
	if p == nil {
		return own
	}
	as1 := &v1.SystemPrompt{Mode: p.Mode, Content: []v1.ContentBlock{v1.Text(p.Text())}}
	return as1.Apply(own)
}

// AgentWrapper is embedded in a struct that wraps an agent. It passes every method to Agent and
// keeps its optional interfaces and capabilities. The struct declares the methods that it
// changes, and Handles to add or to remove an optional interface; see [v1.AgentWrapper].
type AgentWrapper struct{ Agent }

// Unwrap returns the wrapped agent.
func (w AgentWrapper) Unwrap() Agent { return w.Agent }

// AppliesSystemPrompt implements [SystemPromptApplier]: it reports what the wrapped agent applies.
func (w AgentWrapper) AppliesSystemPrompt(mode SystemPromptMode) bool {
	a, ok := w.Agent.(SystemPromptApplier)
	return ok && a.AppliesSystemPrompt(mode)
}

// HandleExtension implements [ExtensionHandler]. The method does not exist if the wrapped
// agent is no ExtensionHandler.
func (w AgentWrapper) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return roles.Extension(w.Agent, ctx, method, params)
}

// HandleExtensionNotification implements [ExtensionNotificationHandler]. The notification is
// ignored if the wrapped agent is no ExtensionNotificationHandler.
func (w AgentWrapper) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return roles.ExtensionNotification(w.Agent, ctx, method, params)
}

// ClientWrapper is embedded in a struct that wraps a client. It does for a [Client] what
// [AgentWrapper] does for an agent.
type ClientWrapper struct{ Client }

// Unwrap returns the wrapped client.
func (w ClientWrapper) Unwrap() Client { return w.Client }

// HandleExtension implements [ExtensionHandler]. The method does not exist if the wrapped
// client is no ExtensionHandler.
func (w ClientWrapper) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return roles.Extension(w.Client, ctx, method, params)
}

// HandleExtensionNotification implements [ExtensionNotificationHandler]. The notification is
// ignored if the wrapped client is no ExtensionNotificationHandler.
func (w ClientWrapper) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return roles.ExtensionNotification(w.Client, ctx, method, params)
}
