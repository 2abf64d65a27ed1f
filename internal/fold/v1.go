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
