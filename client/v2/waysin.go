package client

import (
	"strings"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// signIn returns the text that explains how to sign in.
func signIn(c *Conn) string {
	if c == nil {
		return "Sign in to the agent first, with its own command."
	}
	var b strings.Builder
	for _, m := range c.AuthMethods() {
		switch m := m.(type) {
		case *acp.AuthMethodAgent:
			writeWayIn(&b, m.MethodID, m.Name, m.Description, "")
		case *acp.AuthMethodTerminal:
			writeWayIn(&b, m.MethodID, m.Name, m.Description,
				"; run "+strings.Join(append([]string{"the agent's command"}, m.Args...), " "))
		}
	}
	if b.Len() == 0 {
		return "Sign in to the agent first. It offers no method to sign in over the protocol: use its own command."
	}
	return "Sign in to the agent first." + b.String()
}

func writeWayIn(b *strings.Builder, id acp.AuthMethodID, name, description, how string) {
	text := string(id) + ": " + name
	if description != "" {
		text += " (" + description + ")"
	}
	b.WriteString("\n  " + endpoint.Printable(text+how)) // all of it is the agent's
}
