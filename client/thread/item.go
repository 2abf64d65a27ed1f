package thread

import (
	"encoding/json"
	"slices"
	"strings"
)

// Item is one thing in the conversation. Items never change; a snapshot taken later holds
// another Item at the same index. The variants are [*Message], [*ToolCall], [*Notice],
// [*Compaction], [*Subagent] and [*Unknown].
type Item interface{ itemKind() string }

func (*Message) itemKind() string    { return "message" }
func (*ToolCall) itemKind() string   { return "tool_call" }
func (*Notice) itemKind() string     { return "notice" }
func (*Compaction) itemKind() string { return "compaction" }
func (*Subagent) itemKind() string   { return "subagent" }
func (*Unknown) itemKind() string    { return "unknown" }

// Role says who speaks in a [Message].
type Role string

// The values of [Role].
const (
	// RoleUser is the user.
	RoleUser Role = "user"
	// RoleAgent is the agent.
	RoleAgent Role = "agent"
	// RoleThought is the agent too, thinking. Interfaces often show it folded.
	RoleThought Role = "thought"
	// RoleSession is another session; From and To tell which.
	RoleSession Role = "session"
)

// Message is what the user or the agent said, or what the agent thought.
type Message struct {
	Role Role `json:"role"`
	// ID is the agent's name for the message; empty if it has none.
	ID string `json:"id,omitempty"`
	// Content is the message. Neighbouring texts are one block.
	Content List[Block] `json:"content,omitzero"`
	// From and To are set for messages between sessions.
	From *Address `json:"from,omitempty"`
	To   *Address `json:"to,omitempty"`
	Meta Meta     `json:"meta,omitempty"`
}

// Address names a session, and the id that a message has there.
type Address struct {
	SessionID string `json:"sessionId,omitempty"`
	MessageID string `json:"messageId,omitempty"`
}

// Text returns the text of the message without what is not text.
func (m *Message) Text() string {
	if m.Content.Len() == 1 && m.Content.At(0).Type == BlockText {
		return m.Content.At(0).Text
	}
	var b strings.Builder
	for _, block := range m.Content.All() {
		if block.Type == BlockText {
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

// The states of a [ToolCall]. Others are possible and are to be shown as in progress.
const (
	ToolPending    = "pending"
	ToolInProgress = "in_progress"
	ToolPaused     = "paused"
	ToolCompleted  = "completed"
	ToolFailed     = "failed"
	ToolCancelled  = "cancelled"
)

// ToolCall is something that the agent does.
type ToolCall struct {
	ID string `json:"id"`
	// Title says in one line what the call does. It is the agent's word.
	Title string `json:"title,omitempty"`
	// Name is the tool's programmatic name; empty if the agent does not say.
	Name string `json:"name,omitempty"`
	// Kind sorts calls for display, such as "read", "edit" or "execute".
	Kind string `json:"kind"`
	// Status is one of the Tool constants. Ended calls keep theirs.
	Status string `json:"status"`
	// Ended reports that the turn, or the session, ended while the call was open: the
	// agent works on it no more.
	Ended     bool              `json:"ended,omitempty"`
	Content   List[ToolContent] `json:"content,omitzero"`
	Locations []Location        `json:"locations,omitempty"`
	// RawInput and RawOutput are what the tool got and returned, any JSON.
	RawInput  json.RawMessage `json:"rawInput,omitempty"`
	RawOutput json.RawMessage `json:"rawOutput,omitempty"`
	// Cancellable reports that the agent can cancel the call by itself.
	Cancellable bool `json:"cancellable,omitempty"`
	Meta        Meta `json:"meta,omitempty"`
}

// Open reports whether the agent still works on the call, or will.
func (c *ToolCall) Open() bool {
	return !c.Ended && !slices.Contains([]string{ToolCompleted, ToolFailed, ToolCancelled}, c.Status)
}

// Notice is a remark to the user that is not part of the conversation.
type Notice struct {
	// Severity is "info", "warning" or "error"; show other values as "info".
	Severity    string `json:"severity"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	Meta        Meta   `json:"meta,omitempty"`
}

// Compaction tells that the agent replaced old parts of its context by a summary.
type Compaction struct {
	ID string `json:"id"`
	// Status is "in_progress", "completed", "failed" or "cancelled"; show other values as
	// "in_progress".
	Status  string      `json:"status"`
	Summary List[Block] `json:"summary,omitzero"`
	Error   string      `json:"error,omitempty"`
	Meta    Meta        `json:"meta,omitempty"`
}

// Subagent is a session that the agent started under this one.
type Subagent struct {
	SessionID   string `json:"sessionId"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// State is "running", "idle", "requires_action", or a value that this package does
	// not know; empty means unknown. Show all but "idle" as busy.
	State string `json:"state,omitempty"`
	// StopReason says why an idle subagent stopped.
	StopReason string   `json:"stopReason,omitempty"`
	Error      *Failure `json:"error,omitempty"`
	Usage      *Tokens  `json:"usage,omitempty"`
	// Background lists what goes on in it whatever State is.
	Background []Background `json:"background,omitempty"`
	Cwd        string       `json:"cwd,omitempty"`
	// AdditionalDirectories lists further folders it may work in.
	AdditionalDirectories []string `json:"additionalDirectories,omitempty"`
	// Cancellable reports that the subagent may be cancelled by itself.
	Cancellable bool `json:"cancellable,omitempty"`
	Meta        Meta `json:"meta,omitempty"`
}

// Unknown is an update of a kind that this package does not know.
type Unknown struct {
	Type string `json:"type"`
	// Raw is the update as it came.
	Raw json.RawMessage `json:"raw,omitempty"`
}
