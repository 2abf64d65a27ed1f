package thread

import (
	"encoding/json"
	"strings"

	"github.com/acpkit/go-sdk/internal/fold"
)

// Item is one element of the conversation. Items are immutable: after a change, a later
// snapshot holds another Item at the same index. The variants are [*Message], [*ToolCall],
// [*Notice], [*Compaction], [*Subagent], [*Unknown] and [*Dropped].
type Item interface{ itemKind() string }

func (*Message) itemKind() string    { return "message" }
func (*ToolCall) itemKind() string   { return "tool_call" }
func (*Notice) itemKind() string     { return "notice" }
func (*Compaction) itemKind() string { return "compaction" }
func (*Subagent) itemKind() string   { return "subagent" }
func (*Unknown) itemKind() string    { return "unknown" }
func (*Dropped) itemKind() string    { return "dropped" }

// Role is the author of a [Message].
type Role string

// The values of [Role].
const (
	// RoleUser is the user.
	RoleUser Role = "user"
	// RoleAgent is the agent.
	RoleAgent Role = "agent"
	// RoleThought is the reasoning of the agent. Interfaces often show it folded.
	RoleThought Role = "thought"
	// RoleSession is another session; see From and To.
	RoleSession Role = "session"
)

// Message is a message of the user or the agent, or a thought of the agent.
type Message struct {
	Role Role `json:"role"`
	// ID is the id that the agent gave the message; empty if it gave none.
	ID string `json:"id,omitempty"`
	// Content is the content of the message. Adjacent texts are one block.
	Content List[Block] `json:"content,omitzero"`
	// From and To are set only for messages between sessions.
	From *Address `json:"from,omitempty"`
	To   *Address `json:"to,omitempty"`
	Meta Meta     `json:"meta,omitempty"`
}

// Address identifies a message in another session.
type Address struct {
	SessionID string `json:"sessionId,omitempty"`
	MessageID string `json:"messageId,omitempty"`
}

// Text returns the text of the message, without other content.
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

// The states of a [ToolCall]. Show other values as in progress.
const (
	ToolPending    = "pending"
	ToolInProgress = "in_progress"
	ToolPaused     = "paused"
	ToolCompleted  = "completed"
	ToolFailed     = "failed"
	ToolCancelled  = "cancelled"
)

// ToolCall is one action of the agent.
type ToolCall struct {
	ID string `json:"id"`
	// Title describes the call in one line. It is a claim of the agent.
	Title string `json:"title,omitempty"`
	// Name is the programmatic name of the tool; empty means unknown.
	Name string `json:"name,omitempty"`
	// Kind is the category of the call, for display, such as "read", "edit" or "execute".
	Kind string `json:"kind"`
	// Status is one of the Tool constants or an unknown value. It does not change when Ended
	// is set.
	Status string `json:"status"`
	// Ended reports whether the turn or the session ended while the call was open: the agent
	// no longer works on it.
	Ended     bool              `json:"ended,omitempty"`
	Content   List[ToolContent] `json:"content,omitzero"`
	Locations []Location        `json:"locations,omitempty"`
	// RawInput and RawOutput are the input and the output of the tool, any JSON.
	RawInput  json.RawMessage `json:"rawInput,omitempty"`
	RawOutput json.RawMessage `json:"rawOutput,omitempty"`
	// Cancellable reports whether the call can be cancelled individually.
	Cancellable bool `json:"cancellable,omitempty"`
	Meta        Meta `json:"meta,omitempty"`
}

// Open reports whether the call has neither finished nor ended.
func (c *ToolCall) Open() bool {
	return !c.Ended && !fold.Final(c.Status)
}

// Notice is a short message to the user that is not part of the conversation.
type Notice struct {
	// Severity is "info", "warning" or "error". Show other values as "info".
	Severity    string `json:"severity"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	Meta        Meta   `json:"meta,omitempty"`
}

// Compaction reports that the agent replaced old parts of its context with a summary.
type Compaction struct {
	ID string `json:"id"`
	// Status is "in_progress", "completed", "failed" or "cancelled"; show other values as
	// "in_progress".
	Status  string      `json:"status"`
	Summary List[Block] `json:"summary,omitzero"`
	Error   string      `json:"error,omitempty"`
	Meta    Meta        `json:"meta,omitempty"`
}

// Subagent is a session that the agent started within this one.
type Subagent struct {
	SessionID   string `json:"sessionId"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// State is "running", "idle", "requires_action", or an unknown value; empty means unknown.
	// Show all values but "idle" as busy.
	State string `json:"state,omitempty"`
	// StopReason is the reason why an idle subagent stopped.
	StopReason string   `json:"stopReason,omitempty"`
	Error      *Failure `json:"error,omitempty"`
	Usage      *Tokens  `json:"usage,omitempty"`
	// Background lists its background work, in any State.
	Background []Background `json:"background,omitempty"`
	Cwd        string       `json:"cwd,omitempty"`
	// AdditionalDirectories lists further directories that it may work in.
	AdditionalDirectories []string `json:"additionalDirectories,omitempty"`
	// Cancellable reports whether the subagent can be cancelled individually.
	Cancellable bool `json:"cancellable,omitempty"`
	Meta        Meta `json:"meta,omitempty"`
}

// Unknown is an update of an unknown kind.
type Unknown struct {
	Type string `json:"type"`
	// Raw is the whole update.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Dropped is an item whose content was removed; see [Thread.Drop]. Show nothing for it.
type Dropped struct{}
