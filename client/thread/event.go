package thread

import "encoding/json"

// Event is a change of a session, independent of the version of the protocol. [Thread.Do]
// applies it.
//
// In a field that is a pointer, nil leaves the value unchanged and a pointer to the zero
// value clears it.
type Event interface{ apply(t *Thread) }

// MessageChunk adds a piece to a message, and creates the message if there is none; see the
// rules in the package comment.
type MessageChunk struct {
	Role    Role
	ID      string // of the message; empty if it has none
	Content Block
	Meta    Meta
}

// MessageChanged creates or changes the message with the role and id. Content replaces the
// previous content, including chunks.
type MessageChanged struct {
	Role     Role
	ID       string
	Content  *[]Block
	From, To *Address // nil keeps
	Meta     Meta
}

// ToolCallChanged creates or changes a tool call. If Begins is set and the tool call with the id
// belongs to an earlier turn, it creates another one.
type ToolCallChanged struct {
	ID                        string
	Begins                    bool
	Title, Name, Kind, Status *string
	Content                   *[]ToolContent
	Append                    []ToolContent // added after Content
	Locations                 *[]Location
	RawInput, RawOutput       *json.RawMessage
	Cancellable               *bool
	Meta                      Meta
}

// TerminalChanged creates or changes a terminal.
type TerminalChanged struct {
	ID            string
	Command, Cwd  *string
	Output        *[]byte // replaces the output; Thread keeps no reference
	Append        []byte  // added after Output
	Truncated     *bool
	Exit          **Exit
	Columns, Rows *int
	Cancellable   *bool
	Meta          Meta
	stop          func() // of a command that this program runs
}

// PlanChanged creates a plan or replaces the one with the same id.
type PlanChanged struct{ Plan Plan }

// PlanRemoved removes the plan with the id.
type PlanRemoved struct{ ID string }

// SuggestionsChanged replaces the list of suggested prompts.
type SuggestionsChanged struct{ Suggestions []Suggestion }

// Noticed adds a notice.
type Noticed struct{ Notice Notice }

// CompactionChanged creates or changes a compaction.
type CompactionChanged struct {
	ID      string
	Status  *string
	Summary *[]Block
	Append  []Block // added after Summary
	Error   *string
	Meta    Meta
}

// SubagentChanged creates or changes a subagent.
type SubagentChanged struct {
	SessionID             string
	Title, Description    *string
	State, StopReason     *string
	Error                 **Failure
	Usage                 **Tokens
	Background            *[]Background
	Cwd                   *string
	AdditionalDirectories *[]string
	Cancellable           *bool
	Meta                  Meta
}

// UsageChanged replaces Used and Size, and changes the cost.
type UsageChanged struct {
	Used, Size uint64
	Cost       **Cost
	Meta       Meta
}

// OptionsChanged replaces the list of options.
type OptionsChanged struct{ Options []Option }

// CommandsChanged replaces the list of slash commands.
type CommandsChanged struct{ Commands []Command }

// InfoChanged changes the metadata of the session.
type InfoChanged struct {
	Title, UpdatedAt *string
	Meta             Meta
}

// StateChanged changes the state of the session. StateIdle ends the turn: open tool calls
// that are not in Background are marked as ended, and pending permission requests are
// removed unless there is background work, to which they may belong.
type StateChanged struct {
	State      string
	StopReason string
	Error      *Failure
	Usage      *Tokens
	Background *[]Background
	Meta       Meta
	Raw        json.RawMessage // of a state of an unknown kind
}

// SessionOpened reports that the session is open. Modes, Options and Commands are those of
// the response; nil leaves the previous value unchanged. A replay ends with it: unless a
// turn is in progress, open tool calls that are not in the background are marked as ended.
// If New is set, values from updates that arrived before the response are kept.
type SessionOpened struct {
	New      bool
	Modes    *Modes
	Options  *[]Option
	Commands *[]Command
}

// Unrecognized adds an update of an unknown kind.
type Unrecognized struct {
	Type string
	Raw  json.RawMessage
}
