package main

import "encoding/json"

// The few types that the works need, as a user writes them by hand.

type initializeRequest struct {
	ProtocolVersion    int                `json:"protocolVersion"`
	ClientCapabilities clientCapabilities `json:"clientCapabilities"`
}

type clientCapabilities struct {
	FS struct {
		ReadTextFile bool `json:"readTextFile"`
	} `json:"fs"`
}

type initializeResponse struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities agentCapabilities `json:"agentCapabilities"`
}

type agentCapabilities struct {
	LoadSession bool `json:"loadSession"`
}

type setModeRequest struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}

type promptRequest struct {
	SessionID string        `json:"sessionId"`
	Prompt    []contentText `json:"prompt"`
}

type promptResponse struct {
	StopReason string `json:"stopReason"`
}

type loadRequest struct {
	SessionID  string `json:"sessionId"`
	Cwd        string `json:"cwd"`
	MCPServers []any  `json:"mcpServers"`
}

type readRequest struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
}

type readResponse struct {
	Content string `json:"content"`
}

type contentText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type sessionNotification struct {
	SessionID string        `json:"sessionId"`
	Update    sessionUpdate `json:"update"`
}

// sessionUpdate is all kinds of update in one; Content is an object for chunks
// and an array for tool calls, so it is read in a second step.
type sessionUpdate struct {
	Kind       string          `json:"sessionUpdate"`
	Content    json.RawMessage `json:"content,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	Status     string          `json:"status,omitempty"`
	Title      string          `json:"title,omitempty"`
	Locations  []location      `json:"locations,omitempty"`
	Entries    []planEntry     `json:"entries,omitempty"`
}

type location struct {
	Path string `json:"path"`
	Line *int   `json:"line,omitempty"`
}

type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

type diff struct {
	Type    string  `json:"type"`
	Path    string  `json:"path"`
	OldText *string `json:"oldText"`
	NewText string  `json:"newText"`
}
