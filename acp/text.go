package acp

// AgentText returns an update with a piece of a message of the agent.
func AgentText(s string) *AgentMessageChunk { return &AgentMessageChunk{Content: Text(s)} }

// AgentThought returns an update with a piece of the reasoning of the agent.
func AgentThought(s string) *AgentThoughtChunk { return &AgentThoughtChunk{Content: Text(s)} }

// UserText returns an update with a piece of a message of the user. Agents send it when
// they replay a session.
func UserText(s string) *UserMessageChunk { return &UserMessageChunk{Content: Text(s)} }
