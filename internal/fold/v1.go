package fold

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
)

// Version 1 has no value that clears a text: a member that is empty, null or absent keeps it.

// Update applies an update of version 1 to a tool call. It modifies no list of either.
func Update(c *acp.ToolCall, u *acp.ToolCallUpdate) {
	Call{
		Title: &c.Title, Name: &c.Name, Kind: (*string)(&c.Kind), Status: (*string)(&c.Status),
		RawInput: &c.RawInput, RawOutput: &c.RawOutput, Meta: (*map[string]any)(&c.Meta),
	}.Apply(Changed(u))
	Set(&c.Content, List(u.Content))
	Set(&c.Locations, List(u.Locations))
}

// Changed returns what an update of version 1 changes, without its lists.
func Changed(u *acp.ToolCallUpdate) Call {
	return Call{
		Title: Text(u.Title), Name: Text(u.Name), Kind: Text(string(u.Kind)), Status: Text(string(u.Status)),
		RawInput: raw(u.RawInput), RawOutput: raw(u.RawOutput), Meta: (*map[string]any)(&u.Meta),
	}
}

// Announced returns the announcement of a tool call as an update.
func Announced(c *acp.ToolCall) *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{
		ToolCallID: c.ToolCallID, Title: c.Title, Name: c.Name, Kind: c.Kind, Status: c.Status, Content: c.Content,
		Locations: c.Locations, RawInput: c.RawInput, RawOutput: c.RawOutput, Meta: c.Meta,
	}
}

// Chunk returns the role of a chunk of a message, as in [Messages], the id of the message, and the content. The role is empty
// if the update is no chunk.
func Chunk(u acp.SessionUpdate) (role string, id acp.MessageID, content acp.ContentBlock) {
	switch v := u.(type) {
	case *acp.UserMessageChunk:
		return "user", v.MessageID, v.Content
	case *acp.AgentMessageChunk:
		return "agent", v.MessageID, v.Content
	case *acp.AgentThoughtChunk:
		return "thought", v.MessageID, v.Content
	}
	return "", "", nil
}

// Rechunk returns a chunk as u, with another id and content. It returns u if that is no chunk.
func Rechunk(u acp.SessionUpdate, id acp.MessageID, content acp.ContentBlock) acp.SessionUpdate {
	switch v := u.(type) {
	case *acp.UserMessageChunk:
		return &acp.UserMessageChunk{MessageID: id, Content: content, Meta: v.Meta}
	case *acp.AgentMessageChunk:
		return &acp.AgentMessageChunk{MessageID: id, Content: content, Meta: v.Meta}
	case *acp.AgentThoughtChunk:
		return &acp.AgentThoughtChunk{MessageID: id, Content: content, Meta: v.Meta}
	}
	return u
}

// PlainText returns the content if it is a text that can be joined to that of its message, or nil.
func PlainText(content acp.ContentBlock) *acp.TextContent {
	if text, ok := content.(*acp.TextContent); ok && text.Annotations == nil {
		return text
	}
	return nil
}

// Text returns nil for an empty text.
func Text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// List returns nil for a nil list. An empty list clears the one before.
func List[T any](list []T) *[]T {
	if list == nil {
		return nil
	}
	return &list
}

func raw(m json.RawMessage) *json.RawMessage {
	if m == nil || string(m) == "null" {
		return nil
	}
	return &m
}
