package acp

import "strings"

// Has tells whether the agent advertises the capability at path, a dotted path of
// wire names below agentCapabilities such as "loadSession" or
// "sessionCapabilities.list". It is false for a nil receiver, an absent group and
// a path that is not known.
func (c *AgentCapabilities) Has(path string) bool {
	if c == nil {
		return false
	}
	group, bit, nested := strings.Cut(path, ".")
	switch group {
	case "loadSession":
		return !nested && c.LoadSession
	case "providers":
		return !nested && c.Providers != nil
	case "promptCapabilities":
		return c.PromptCapabilities != nil && (!nested || c.PromptCapabilities.has(bit))
	case "mcpCapabilities":
		return c.MCPCapabilities != nil && (!nested || c.MCPCapabilities.has(bit))
	case "sessionCapabilities":
		return c.SessionCapabilities != nil && (!nested || c.SessionCapabilities.has(bit))
	case "auth":
		return c.Auth != nil && (!nested || c.Auth.has(bit))
	}
	return false
}

func (c *PromptCapabilities) has(bit string) bool {
	switch bit {
	case "image":
		return c.Image
	case "audio":
		return c.Audio
	case "embeddedContext":
		return c.EmbeddedContext
	}
	return false
}

func (c *MCPCapabilities) has(bit string) bool {
	switch bit {
	case "http":
		return c.HTTP
	case "sse":
		return c.SSE
	case "acp":
		return c.ACP
	}
	return false
}

func (c *SessionCapabilities) has(bit string) bool {
	switch bit {
	case "list":
		return c.List != nil
	case "delete":
		return c.Delete != nil
	case "additionalDirectories":
		return c.AdditionalDirectories != nil
	case "resume":
		return c.Resume != nil
	case "close":
		return c.Close != nil
	case "fork":
		return c.Fork != nil
	case "archive":
		return c.Archive != nil
	case "status":
		return c.Status != nil
	case "title":
		return c.Title != nil
	case "systemPrompt":
		return c.SystemPrompt != nil
	case "systemPrompt.mode":
		return c.SystemPrompt != nil && c.SystemPrompt.Mode != nil
	case "systemPrompt.mode.override":
		return c.SystemPrompt != nil && c.SystemPrompt.Mode != nil && c.SystemPrompt.Mode.Override != nil
	}
	return false
}

func (c *AgentAuthCapabilities) has(bit string) bool {
	switch bit {
	case "logout":
		return c.Logout != nil
	case "status":
		return c.Status != nil
	}
	return false
}

// Has tells whether the client advertises the capability at path, a dotted path of
// wire names below clientCapabilities such as "terminal" or "fs.readTextFile". It
// is false for a nil receiver, an absent group and a path that is not known. The
// path "elicitation" alone needs one of its two forms, because a group with
// neither means nothing.
func (c *ClientCapabilities) Has(path string) bool {
	if c == nil {
		return false
	}
	group, bit, nested := strings.Cut(path, ".")
	switch group {
	case "terminal":
		return !nested && c.Terminal
	case "subagents":
		return !nested && c.Subagents != nil
	case "plan":
		return !nested && c.Plan != nil
	case "fs":
		return c.FS != nil && (!nested || c.FS.has(bit))
	case "session":
		return c.Session != nil && (!nested || c.Session.has(bit))
	case "auth":
		return c.Auth != nil && (!nested || bit == "terminal" && c.Auth.Terminal)
	case "elicitation":
		return c.Elicitation != nil && c.Elicitation.has(bit)
	}
	return false
}

func (c *FileSystemCapabilities) has(bit string) bool {
	switch bit {
	case "readTextFile":
		return c.ReadTextFile
	case "writeTextFile":
		return c.WriteTextFile
	}
	return false
}

func (c *ClientSessionCapabilities) has(bit string) bool {
	switch bit {
	case "compaction":
		return c.Compaction != nil
	case "notices":
		return c.Notices != nil
	case "configOptions":
		return c.ConfigOptions != nil
	case "configOptions.boolean":
		return c.ConfigOptions != nil && c.ConfigOptions.Boolean != nil
	}
	return false
}

func (c *ElicitationCapabilities) has(bit string) bool {
	switch bit {
	case "":
		return c.Form != nil || c.URL != nil
	case "form":
		return c.Form != nil
	case "url":
		return c.URL != nil
	}
	return false
}
