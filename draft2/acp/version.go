package acp

import (
	"encoding/json"

	v1 "github.com/acpkit/go-sdk/acp"
)

// ProtocolVersion is the version of the Agent Client Protocol whose vocabulary this
// package holds: the value of protocolVersion in the request and the response of
// initialize.
const ProtocolVersion = 2

// ToolFailure is an error that determines the last update of a failed tool call, in terms of
// version 1; see [v1.ToolFailure]. An error is the same in both versions.
type ToolFailure = v1.ToolFailure

// FailToolCall returns the update that ends the tool call id with err. The same error
// determines it as in version 1, see [v1.FailToolCall]. Content that version 2 has in another
// form, such as a diff, is left out.
func FailToolCall(id ToolCallID, err error) *ToolCallUpdate {
	old := v1.FailToolCall(id, err)
	u := &ToolCallUpdate{ToolCallID: id, Status: Some(ToolCallStatusFailed), RawInput: old.RawInput, RawOutput: old.RawOutput}
	if old.Title != "" {
		u.Title = Some(old.Title)
	}
	if old.Kind != "" {
		u.Kind = Some(old.Kind)
	}
	if old.Content == nil {
		return u
	}
	content := []ToolCallContent{}
	for _, c := range old.Content {
		same := new(Content)
		raw, err := json.Marshal(c)
		if _, ok := c.(*v1.Content); ok && err == nil && json.Unmarshal(raw, same) == nil {
			content = append(content, same)
		}
	}
	u.Content = Some(content)
	return u
}
