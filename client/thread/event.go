package thread

import "encoding/json"

// Event is something that happens in a session, in terms that name no version of the
// protocol. [Thread.Do] applies it.
//
// Fields that are pointers change what the item has: nil keeps it, a pointer to the zero
// value clears it.
type Event interface{ apply(t *Thread) }

// MessageChunk adds a piece to a message. The message is created if there is none; see
// the rules of the package.
type MessageChunk struct {
	Role    Role
	ID      string // of the message; empty if it has none
	Content Block
	Meta    Meta
}

// MessageChanged creates or changes the message of that role and id. Content replaces all
// that came before.
type MessageChanged struct {
	Role     Role
	ID       string
	Content  *[]Block
	From, To *Address // nil keeps
	Meta     Meta
}

// Prompted says that the user sent a prompt. ID is empty if it is not known yet. An echo
// of the prompt that comes later is taken for the same message; if the ID is known and the
// echo says something else, the message is what the echo says.
type Prompted struct {
	ID      string
	Content []Block
}

// ToolCallChanged creates or changes a tool call.
type ToolCallChanged struct {
	ID                        string
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
}

// PlanChanged creates a plan or replaces the one of the same id.
type PlanChanged struct{ Plan Plan }

// PlanRemoved removes the plan of that id.
type PlanRemoved struct{ ID string }

// Noticed shows a notice.
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

// UsageChanged says how full the context is. Cost changes what was said of it before.
type UsageChanged struct {
	Used, Size uint64
	Cost       **Cost
	Meta       Meta
}

// ModesChanged replaces the modes; nil removes them.
type ModesChanged struct{ Modes *Modes }

// ModeChanged says which mode is the current one.
type ModeChanged struct {
	ID   string
	Meta Meta
}

// OptionsChanged replaces the list of options.
type OptionsChanged struct{ Options []Option }

// CommandsChanged replaces the list of slash commands.
type CommandsChanged struct{ Commands []Command }

// InfoChanged changes what is known of the session itself.
type InfoChanged struct {
	Title, UpdatedAt *string
	Meta             Meta
}

// PermissionAsked adds an open question. Its Key must be 0: the Thread chooses it.
type PermissionAsked struct{ Permission Permission }

// PermissionAnswered removes an open question.
type PermissionAnswered struct{ Key uint64 }

// StateChanged says what the session does now. With StateIdle the turn is over: tool calls
// that are open and not in Background are marked as ended, and open questions are removed
// unless something goes on in the background, which they may belong to.
type StateChanged struct {
	State      string
	StopReason string
	Error      *Failure
	Usage      *Tokens
	Background *[]Background
	Meta       Meta
	Raw        json.RawMessage // of a state that its reader does not know
}

// SessionOpened says that the session is open, with what the response says of it: nil
// keeps what is there. What was replayed ends here: unless a turn runs, tool calls that
// are open and not in the background are marked as ended. If the session is new,
// updates that came before the response are newer than it, so what they have said stays.
type SessionOpened struct {
	New      bool
	Modes    *Modes
	Options  *[]Option
	Commands *[]Command
}

// Unrecognized is an update of a kind that its reader does not know.
type Unrecognized struct {
	Type string
	Raw  json.RawMessage
}
