package thread

import "encoding/json"

// Plan is a plan of the agent: steps or Markdown.
type Plan struct {
	// ID is the id of the plan. It is empty if the agent has only one plan.
	ID      string      `json:"id,omitempty"`
	Entries []PlanEntry `json:"entries,omitempty"`
	// Markdown is a plan in Markdown, and Path the file that it is kept in, if the agent names one.
	Markdown string `json:"markdown,omitempty"`
	Path     string `json:"path,omitempty"`
	Meta     Meta   `json:"meta,omitempty"`
	// Type and Raw hold a plan of an unknown type, such as the files of earlier schemas.
	Type string          `json:"type,omitempty"`
	Raw  json.RawMessage `json:"raw,omitempty"`
}

// Suggestion is a prompt that the user may want to send next.
type Suggestion struct {
	Prompt []Block `json:"prompt"`
	Meta   Meta    `json:"meta,omitempty"`
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

// Permission is a pending permission request of the agent, or a question about a write or a command that the
// agent did not ask about.
type Permission struct {
	// Key identifies the request within the thread.
	Key uint64 `json:"key"`
	// Lines are what a person must see before choosing, each on a line of its own. They are safe to print. Without
	// Lines, no person is asked, and [Thread.Answer] fails: a rule may decide, or the program by itself.
	Lines []string `json:"lines,omitempty"`
	// Text is the new content of the file, for a write that the agent did not ask about. It may be secret.
	Text *string `json:"text,omitempty"`
	// ToolCallID is the id of the tool call that the request is about; empty if there is none.
	ToolCallID  string             `json:"toolCallId,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Command     string             `json:"command,omitempty"`
	Cwd         string             `json:"cwd,omitempty"`
	TerminalID  string             `json:"terminalId,omitempty"`
	Options     []PermissionOption `json:"options"`
	Meta        Meta               `json:"meta,omitempty"`
	// Raw is a subject of an unknown kind.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// PermissionOption is one option of a [Permission].
type PermissionOption struct {
	ID string `json:"id"`
	// Label says on one line what choosing the option does. Show it, and Name beside it: Name is chosen by the
	// agent. Own reports that this program offers the option, and not the agent.
	Label string `json:"label,omitempty"`
	Name  string `json:"name"`
	Own   bool   `json:"own,omitempty"`
	// Kind is "allow_once", "allow_always", "reject_once" or "reject_always". Other values
	// permit nothing.
	Kind string `json:"kind"`
	Meta Meta   `json:"meta,omitempty"`
}

// Usage is how much of the model's context is used, and the cost of the session so far.
type Usage struct {
	// Used and Size count tokens.
	Used uint64 `json:"used"`
	Size uint64 `json:"size"`
	// Cost is the cost of the session so far; nil means unknown.
	Cost *Cost `json:"cost,omitempty"`
	Meta Meta  `json:"meta,omitempty"`
}

// Cost is an amount of money, or of another unit that the agent uses instead.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
	Meta     Meta    `json:"meta,omitempty"`
}

// Modes are the modes of a session and the current one.
type Modes struct {
	Current   string `json:"current"`
	Available []Mode `json:"available,omitempty"`
	Meta      Meta   `json:"meta,omitempty"`
}

// Mode is one mode in which the agent can work.
type Mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Meta        Meta   `json:"meta,omitempty"`
}

// The types of an [Option]. Other values are possible.
const (
	OptionSelect  = "select"
	OptionBoolean = "boolean"
)

// Option is one setting of a session.
type Option struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Category    string `json:"category,omitempty"`
	// Type is one of the Option constants or an unknown value, for which Raw holds the whole
	// option.
	Type string `json:"type"`
	// Value is the id of the selected value of a select option. On is the value of a boolean
	// option.
	Value string `json:"value,omitempty"`
	On    bool   `json:"on,omitempty"`
	// Groups holds the values of a select option. Ungrouped values are in a group without a
	// name.
	Groups []OptionGroup   `json:"groups,omitempty"`
	Meta   Meta            `json:"meta,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
}

// OptionGroup is a group of values of a select option.
type OptionGroup struct {
	ID     string        `json:"id,omitempty"`
	Name   string        `json:"name,omitempty"`
	Values []OptionValue `json:"values"`
	Meta   Meta          `json:"meta,omitempty"`
}

// OptionValue is one value of a select option.
type OptionValue struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Meta        Meta   `json:"meta,omitempty"`
}

// Command is a slash command.
type Command struct {
	// Name is the name that the user types after the slash.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Hint describes the argument. TakesInput reports whether there is one.
	Hint       string          `json:"hint,omitempty"`
	TakesInput bool            `json:"takesInput,omitempty"`
	Skill      bool            `json:"skill,omitempty"` // a block of a prompt calls it, and not text after a slash
	Meta       Meta            `json:"meta,omitempty"`
	Raw        json.RawMessage `json:"raw,omitempty"`
}

// The states of a [Turn]. Show other values as running.
const (
	StateIdle           = "idle"
	StateRunning        = "running"
	StateRequiresAction = "requires_action"
)

// Turn is the state of the session, and the result of its latest turn.
type Turn struct {
	// State is one of the State constants. It is empty before the first turn.
	State string `json:"state,omitempty"`
	// StopReason is the reason why the latest turn ended: "end_turn", "max_tokens",
	// "max_turn_requests", "refusal", "cancelled", "error" or an unknown value.
	StopReason string `json:"stopReason,omitempty"`
	// Error is set if the turn failed.
	Error *Failure `json:"error,omitempty"`
	// Usage counts the tokens of the latest turn; nil means unknown.
	Usage *Tokens `json:"usage,omitempty"`
	// Background lists the background work, in any State.
	Background []Background `json:"background,omitempty"`
	Meta       Meta         `json:"meta,omitempty"`
	// Raw holds a state of an unknown kind.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Queued is a prompt that was sent and that the agent has not yet reported to be part of
// the conversation.
type Queued struct {
	// Key identifies the prompt within the thread.
	Key     uint64      `json:"key"`
	Content List[Block] `json:"content,omitzero"`
}

// Failure is an error, for display.
type Failure struct {
	Message string `json:"message"`
	// Code is the code of a JSON-RPC error; 0 for other errors.
	Code int `json:"code,omitempty"`
	// Data is additional data of the agent, any JSON.
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

// Background is work that may continue after its turn has ended.
type Background struct {
	// Type is "tool_call", "terminal", "subagent" or an unknown value. ID is the id of the
	// tool call, terminal or session.
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
	// Output is the last part of the output, at most 1 MiB. It must not
	// be modified.
	Output []byte `json:"output,omitempty"`
	// Offset is how many bytes the Thread has received before Output and dropped. A program that
	// shows output as it grows has shown Offset + len(Output) bytes.
	Offset int64 `json:"offset,omitempty"`
	// Truncated reports whether earlier output was dropped.
	Truncated bool `json:"truncated,omitempty"`
	// Exit is nil while the command runs.
	Exit *Exit `json:"exit,omitempty"`
	// Columns and Rows are the size of the terminal; 0 if it is unknown.
	Columns int `json:"columns,omitempty"`
	Rows    int `json:"rows,omitempty"`
	// Cancellable reports whether the command can be ended individually: by [Terminal.Stop], or by
	// terminal/cancel of version 2.
	Cancellable bool `json:"cancellable,omitempty"`
	Meta        Meta `json:"meta,omitempty"`

	stop func() // nil if this program does not run the command
}

// Exit is the exit status of a command: a code or a signal.
type Exit struct {
	Code   *int64 `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"`
	Meta   Meta   `json:"meta,omitempty"`
}
