package thread

import "encoding/json"

// Plan is what the agent intends to do: steps, a file or Markdown.
type Plan struct {
	// ID names the plan. It is empty for the plan of agents that have only one.
	ID      string      `json:"id,omitempty"`
	Entries []PlanEntry `json:"entries,omitempty"`
	// URI is the address of a plan that stands in a file.
	URI string `json:"uri,omitempty"`
	// Markdown is a plan written as text.
	Markdown string `json:"markdown,omitempty"`
	Meta     Meta   `json:"meta,omitempty"`
	// Type and Raw hold a plan of a type that this package does not know.
	Type string          `json:"type,omitempty"`
	Raw  json.RawMessage `json:"raw,omitempty"`
}

// PlanEntry is one step of a [Plan].
type PlanEntry struct {
	Content string `json:"content"`
	// Priority is "high", "medium" or "low".
	Priority string `json:"priority"`
	// Status is "pending", "in_progress", "completed" or "cancelled". Show other values as
	// "pending".
	Status string `json:"status"`
	Meta   Meta   `json:"meta,omitempty"`
}

// Permission is a question of the agent that is not answered yet.
type Permission struct {
	// Key names the question within the thread.
	Key uint64 `json:"key"`
	// ToolCallID names the tool call it is about; empty if it is about none.
	ToolCallID  string             `json:"toolCallId,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Command     string             `json:"command,omitempty"`
	Cwd         string             `json:"cwd,omitempty"`
	TerminalID  string             `json:"terminalId,omitempty"`
	Options     []PermissionOption `json:"options"`
	Meta        Meta               `json:"meta,omitempty"`
	// Raw is a subject of a kind that this package does not know.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// PermissionOption is one of the answers to a [Permission].
type PermissionOption struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Kind is "allow_once", "allow_always", "reject_once" or "reject_always". Other values
	// permit nothing.
	Kind string `json:"kind"`
	Meta Meta   `json:"meta,omitempty"`
}

// Usage says how full the model's context is and what the session has cost.
type Usage struct {
	// Used and Size count tokens.
	Used uint64 `json:"used"`
	Size uint64 `json:"size"`
	// Cost is the cost of the session; nil if the agent does not say.
	Cost *Cost `json:"cost,omitempty"`
	Meta Meta  `json:"meta,omitempty"`
}

// Cost is an amount of money, or of what the agent counts in its place.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
	Meta     Meta    `json:"meta,omitempty"`
}

// Modes are the modes of a session.
type Modes struct {
	Current   string `json:"current"`
	Available []Mode `json:"available,omitempty"`
	Meta      Meta   `json:"meta,omitempty"`
}

// Mode is one way for the agent to work.
type Mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Meta        Meta   `json:"meta,omitempty"`
}

// The types of an [Option]. Others are possible.
const (
	OptionSelect  = "select"
	OptionBoolean = "boolean"
)

// Option is one thing that the user can set for a session.
type Option struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Category    string `json:"category,omitempty"`
	// Type is one of the Option constants or a value that this package does not know; Raw
	// holds what it does not know.
	Type string `json:"type"`
	// Value is the id of the chosen value of a select option, On the value of a boolean
	// one.
	Value string `json:"value,omitempty"`
	On    bool   `json:"on,omitempty"`
	// Groups holds the values to choose from. Values that are in no group are in one
	// without a name.
	Groups []OptionGroup   `json:"groups,omitempty"`
	Meta   Meta            `json:"meta,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
}

// OptionGroup is a group of values of an [Option].
type OptionGroup struct {
	ID     string        `json:"id,omitempty"`
	Name   string        `json:"name,omitempty"`
	Values []OptionValue `json:"values"`
	Meta   Meta          `json:"meta,omitempty"`
}

// OptionValue is one value of an [Option].
type OptionValue struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Meta        Meta   `json:"meta,omitempty"`
}

// Command is a slash command.
type Command struct {
	// Name is what follows the slash.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Hint describes the argument. TakesInput reports whether there is one.
	Hint       string          `json:"hint,omitempty"`
	TakesInput bool            `json:"takesInput,omitempty"`
	Meta       Meta            `json:"meta,omitempty"`
	Raw        json.RawMessage `json:"raw,omitempty"`
}

// The states of a [Turn]. Others are possible and are to be shown as running.
const (
	StateIdle           = "idle"
	StateRunning        = "running"
	StateRequiresAction = "requires_action"
)

// Turn says what the session does now, and how its newest turn ended.
type Turn struct {
	// State is one of the State constants. It is empty before the first turn.
	State string `json:"state,omitempty"`
	// StopReason says why the newest turn ended: "end_turn", "max_tokens",
	// "max_turn_requests", "refusal", "cancelled", "error" or a value that this package
	// does not know.
	StopReason string `json:"stopReason,omitempty"`
	// Error is set if the turn failed.
	Error *Failure `json:"error,omitempty"`
	// Usage counts the tokens of the newest turn; nil if the agent does not say.
	Usage *Tokens `json:"usage,omitempty"`
	// Background lists what goes on whatever State is.
	Background []Background `json:"background,omitempty"`
	Meta       Meta         `json:"meta,omitempty"`
	// Raw holds a state of a kind that this package does not know.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Queued is a prompt that was sent and of which the agent has not said yet that it is part
// of the conversation. It may be in the conversation already.
type Queued struct {
	// Key names the prompt within the thread.
	Key     uint64      `json:"key"`
	Content List[Block] `json:"content,omitzero"`
}

// Failure is an error, for people to read.
type Failure struct {
	Message string `json:"message"`
	// Code is the code of a JSON-RPC error; 0 for other errors.
	Code int `json:"code,omitempty"`
	// Data is what the agent says beside it, any JSON.
	Data json.RawMessage `json:"data,omitempty"`
}

// Tokens counts the tokens of a piece of work. A nil count is unknown.
type Tokens struct {
	Total       uint64  `json:"total"`
	Input       uint64  `json:"input"`
	Output      uint64  `json:"output"`
	Thought     *uint64 `json:"thought,omitempty"`
	CachedRead  *uint64 `json:"cachedRead,omitempty"`
	CachedWrite *uint64 `json:"cachedWrite,omitempty"`
	Meta        Meta    `json:"meta,omitempty"`
}

// Background is a piece of work that outlives its turn.
type Background struct {
	// Type is "tool_call", "terminal", "subagent" or a value that this package does not
	// know, and ID the id of the tool call, terminal or session.
	Type string          `json:"type"`
	ID   string          `json:"id,omitempty"`
	Meta Meta            `json:"meta,omitempty"`
	Raw  json.RawMessage `json:"raw,omitempty"`
}

// Terminal is a terminal and its output.
type Terminal struct {
	ID      string `json:"id"`
	Command string `json:"command,omitempty"`
	Cwd     string `json:"cwd,omitempty"`
	// Output is the end of the output, at most [TerminalOutputLimit] bytes. It must not be
	// changed.
	Output []byte `json:"output,omitempty"`
	// Truncated reports that Output is not all of it.
	Truncated bool `json:"truncated,omitempty"`
	// Exit is nil while the command runs.
	Exit *Exit `json:"exit,omitempty"`
	// Columns and Rows are the size of the terminal; 0 if it is unknown.
	Columns     int  `json:"columns,omitempty"`
	Rows        int  `json:"rows,omitempty"`
	Cancellable bool `json:"cancellable,omitempty"`
	Meta        Meta `json:"meta,omitempty"`
}

// Exit says how a command ended: with a code or by a signal.
type Exit struct {
	Code   *int64 `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"`
	Meta   Meta   `json:"meta,omitempty"`
}
