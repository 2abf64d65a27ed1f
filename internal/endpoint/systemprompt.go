package endpoint

import (
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/internal/wire"
)

// PromptFault returns what no agent can apply in the content of a system prompt, at its place in
// the params, or nil. text returns the text of a block, or false if the block is none.
func PromptFault[B any](content []B, text func(B) (string, bool)) *wire.FieldErrors {
	filled := false
	for i, block := range content {
		s, ok := text(block)
		if !ok {
			return PromptError("must be a text block", "content", strconv.Itoa(i))
		}
		filled = filled || strings.TrimSpace(s) != ""
	}
	if !filled {
		return PromptError("must contain text", "content")
	}
	return nil
}

// PromptError returns a violation at a path in the system prompt of params.
func PromptError(message string, path ...string) *wire.FieldErrors {
	fields := &wire.FieldErrors{}
	fields.Add(append([]string{"systemPrompt"}, path...), message)
	return fields
}
