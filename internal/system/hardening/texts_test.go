package hardening_test

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
)

// textOf is the text of an update that is a piece of a message, else its type.
func textOf(u acp.SessionUpdate) string {
	if m, ok := u.(*acp.AgentMessageChunk); ok {
		return acp.PlainText(m.Content)
	}
	return fmt.Sprintf("%T", u)
}
