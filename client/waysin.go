package client

import (
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// signIn returns the text that explains how to sign in.
func signIn(c *Conn) string {
	if c == nil {
		return "Sign in to the agent first, with its own command."
	}
	ways := signin.Ways(c.AuthMethods())
	if len(ways) == 0 {
		return "Sign in to the agent first. It offers no method to sign in over the protocol: use its own command."
	}
	var b strings.Builder
	b.WriteString("Sign in to the agent first.")
	for _, w := range ways {
		text := fmt.Sprintf("%s: %s", w.ID, w.Name)
		if w.Description != "" {
			text += fmt.Sprintf(" (%s)", w.Description)
		}
		if how := w.Instruction("the agent's command"); how != "" {
			text += "; " + how
		}
		b.WriteString("\n  " + endpoint.Printable(text)) // the whole text is the agent's
	}
	return b.String()
}
