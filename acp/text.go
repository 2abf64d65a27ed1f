package acp

import "strings"

// Text returns a text block, for prompts and messages.
func Text(s string) *TextContent { return &TextContent{Text: s} }

// AgentText returns a piece of what an agent says, as a session update.
func AgentText(s string) *AgentMessageChunk { return &AgentMessageChunk{Content: Text(s)} }

// AgentThought returns a piece of what an agent thinks, as a session update.
func AgentThought(s string) *AgentThoughtChunk { return &AgentThoughtChunk{Content: Text(s)} }

// UserText returns a piece of what the user said, as a session update. Agents send
// it when they replay a session.
func UserText(s string) *UserMessageChunk { return &UserMessageChunk{Content: Text(s)} }

// ToolText returns text as the content of a tool call.
func ToolText(s string) *Content { return &Content{Content: Text(s)} }

// PlainText joins the text in blocks, without anything between: chunks of one
// message may be cut anywhere. Text of embedded resources counts, every other kind
// of block is left out, and so is nil.
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
