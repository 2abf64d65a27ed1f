package talk

import "github.com/acpkit/go-sdk/internal/wire"

// Needs collects the capabilities that an agent must have for a message.
type Needs struct {
	// Session, Prompt and Server are the groups of capabilities in the version, such as "session.".
	Session, Prompt, Server string
	Paths                   []string
}

// Of adds the capability of the method.
func (n *Needs) Of(m *wire.Method) {
	if m.Capability != "" {
		n.Paths = append(n.Paths, m.Capability)
	}
}

// Block adds the capability for a kind of content in a prompt. Text and links to resources need
// none, and have the kind "".
func (n *Needs) Block(kind string) { n.add(n.Prompt, kind) }

// MCP adds the capability for a kind of MCP server, if it is not "".
func (n *Needs) MCP(kind string) { n.add(n.Server, kind) }

func (n *Needs) add(group, kind string) {
	if kind != "" {
		n.Paths = append(n.Paths, group+kind)
	}
}

// Folders adds the capability for folders beside that of the session.
func (n *Needs) Folders(count int) {
	if count > 0 {
		n.Paths = append(n.Paths, n.Session+"additionalDirectories")
	}
}

// SystemPrompt adds what a system prompt of that mode needs. There is no capability for an unknown
// mode, and an empty one is invalid.
func (n *Needs) SystemPrompt(mode string) {
	n.add(n.Session, "systemPrompt")
	if mode != "append" && mode != "" {
		n.add(n.Session, "systemPrompt.mode."+mode)
	}
}
