package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/acp"
)

// explainAuth tells what to do when the agent wants its user to sign in first.
func (c *chat) explainAuth(cause error) error {
	var b strings.Builder
	fmt.Fprintf(&b, "the agent asks for authentication: %v", cause)
	methods := c.conn.AuthMethods()
	if len(methods) == 0 {
		b.WriteString("\nit offers no way to sign in here; see its own documentation")
		return errors.New(b.String())
	}
	b.WriteString("\nways to sign in:")
	for _, m := range methods {
		switch m := m.(type) {
		case *acp.AuthMethodAgent:
			fmt.Fprintf(&b, "\n  %s: run chat again with -auth %s", m.Name, m.ID)
		case *acp.AuthMethodTerminal:
			command := append(append([]string{}, c.settings.agent...), m.Args...)
			fmt.Fprintf(&b, "\n  %s: run %s once, then chat again", m.Name, strings.Join(command, " "))
		}
	}
	return errors.New(b.String())
}
