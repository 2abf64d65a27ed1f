package acp

import (
	"strings"
)

// Text returns a text block, for prompts and messages.
func Text(s string) *TextContent { return &TextContent{Text: s} }

// ToolText returns text as the content of a tool call.
func ToolText(s string) *Content { return &Content{Content: Text(s)} }

// PlainText concatenates the text of blocks, without separators, because chunks of one
// message may end anywhere. It includes the text of embedded resources and ignores all
// other kinds of blocks and nil.
func PlainText(blocks ...ContentBlock) string {
	var b strings.Builder
	for _, block := range blocks {
		switch block := block.(type) {
		case *TextContent:
			if block != nil {
				b.WriteString(block.Text)
			}
		case *EmbeddedResource:
			if block == nil {
				continue
			}
			if text, ok := block.Resource.(*TextResourceContents); ok && text != nil {
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

// SelectKind returns the response that selects the first option of the first of the kinds
// that is offered, and [Cancelled] if none is. Programs that decide without a user must
// choose by kind and not by position:
//
//	acp.SelectKind(req.Options, acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways)
func SelectKind(options []PermissionOption, kinds ...PermissionOptionKind) *RequestPermissionResponse {
	for _, kind := range kinds {
		for _, o := range options {
			if o.Kind == kind {
				return Selected(o.OptionID)
			}
		}
	}
	return Cancelled()
}

// AgentText returns an update with a piece of a message of the agent.
func AgentText(s string) *AgentMessageChunk { return &AgentMessageChunk{Content: Text(s)} }

// AgentThought returns an update with a piece of the reasoning of the agent.
func AgentThought(s string) *AgentThoughtChunk { return &AgentThoughtChunk{Content: Text(s)} }

// UserText returns an update with a piece of a message of the user. Agents send it when
// they replay a session.
func UserText(s string) *UserMessageChunk { return &UserMessageChunk{Content: Text(s)} }
