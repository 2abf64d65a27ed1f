// Package tools runs the tool calls of a model: it announces them to the client, asks for
// permission, runs them, and reports how each one ended, to the client and to the model.
//
// A [Tool] is what the model may call; [Typed] makes one from a Go function and a struct. A
// [Registry] holds the tools of a session and runs the calls of one answer of the model:
//
//	results, err := registry.Run(ctx, tools.Env{Session: conn.Session(id)}, calls)
//
// What it promises:
//
//   - Each call has one result, in the order of the calls, whatever fails.
//   - The client sees each call as pending, then as in_progress once nothing more has to be
//     asked, then as completed or failed, once. No call stays open.
//   - What was allowed is what runs: the input that is decoded for the tool is the one that the
//     person saw, byte by byte, unless Describe makes it more exact.
//   - Calls that only read run at the same time, at most four. Each other call runs alone,
//     after those before it.
//
// An error of a tool is not shown: the client and the model read "Internal error", and the
// text goes to the log. A tool says what went wrong by returning a [Failure], an
// *rpcerr.RequestError, or any other acp.ToolFailure.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
)

// A Tool is what a model may call.
type Tool struct {
	Name        string // letters, digits, - and _, at most 64: what models accept
	Title       string // for people; empty means Name
	Description string // for the model
	Kind        acp.ToolKind
	Effect      Effect
	Schema      json.RawMessage // the JSON schema of the input, an object

	// Describe tells what a call with this input does, before permission is asked for. It must
	// change nothing. Nil means that the title of the tool says enough.
	Describe func(ctx context.Context, in json.RawMessage) Summary

	// Run makes the call. It must return when ctx is done.
	Run func(ctx context.Context, c *Call) (Result, error)
}

// An Effect says what a call does outside of the program.
type Effect int

// The zero Effect is the one that needs permission in every case.
const (
	Executes Effect = iota // runs programs, or anything else
	Writes                 // changes files
	Network                // sends something over a network
	Reads                  // changes nothing, so that it may run at the same time as others
)

// A Summary is what a person reads about a call.
type Summary struct {
	Title     string // one line; empty means that of the tool
	Locations []acp.ToolCallLocation
	Preview   []acp.ToolCallContent // such as the diff of an edit

	// Rule is what the person may allow for the rest of the session. Nil means that each call
	// needs a question of its own.
	Rule *Rule

	// Input is what the client gets as the input of the call, a JSON object, if it must be more
	// exact than that of the model, such as the command that runs a line. Nil means that of the
	// model.
	Input json.RawMessage

	// Err means that the call cannot succeed. It fails with this error, and nobody is asked.
	Err error
}

// A Rule allows calls of one tool without a question: those whose Describe returns the same
// rule. It should say exactly what is done, such as a whole command or a path.
type Rule struct {
	Tool  string // set by Run
	What  string // compared as a whole
	Label string // for the person, behind "Always allow": "`ls` in this session"
}

// A Result is what came of a call.
type Result struct {
	Model   []Part                // for the model
	Content []acp.ToolCallContent // for the person, behind what the call has shown; nil means the texts of Model
	Raw     any                   // for programs, as JSON
}

// Text returns a result of one text.
func Text(text string) Result { return Result{Model: []Part{{Text: text}}} }

// A Part is a text, or data such as an image.
type Part struct {
	Text     string `json:"text,omitempty"`
	MIMEType string `json:"mimeType,omitempty"` // of Data
	Data     []byte `json:"data,omitempty"`
}

// A Failure is an error that the person and the model read.
type Failure struct{ Text string }

// Failf returns a Failure. Its text must hold no secret.
func Failf(format string, args ...any) error { return &Failure{fmt.Sprintf(format, args...)} }

func (f *Failure) Error() string { return f.Text }

// FailedToolCall implements acp.ToolFailure.
func (f *Failure) FailedToolCall() *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{Content: []acp.ToolCallContent{acp.ToolText(f.Text)}}
}

// A Request is a call that the model wants.
type Request struct {
	ID    string // of the model; it may be empty, and is not unique
	Name  string
	Input json.RawMessage // a JSON object; empty means {}

	// ToolCallID is what Announce returned for it, or empty.
	ToolCallID acp.ToolCallID

	// Ended, if not nil, gets the result before the client does. Calls that only read call it at
	// the same time. An error ends the turn.
	Ended func(Done) error
}

// Outcome is how a call ended.
type Outcome string

// The outcomes of calls.
const (
	Completed Outcome = "completed"
	Failed    Outcome = "failed"
	Rejected  Outcome = "rejected"  // by a person or by the Gate
	Cancelled Outcome = "cancelled" // with the turn
)

// Done is the result of one request.
type Done struct {
	Request
	Result
	Outcome Outcome
}

// A Session is where calls are reported and permission is asked for. *agent.Session has both
// methods. Update also sends if ctx is done. If it fails for a call that is about to run, the
// call does not run.
type Session interface {
	Update(ctx context.Context, u acp.SessionUpdate) error
	AskPermission(ctx context.Context, call *acp.ToolCallUpdate, options ...acp.PermissionOption) (acp.PermissionOption, error)
}

// An Ender is a Session that gets the last update of each call by End in place of Update, with
// what the model reads: a session that stores it needs the text of what a terminal has shown.
type Ender interface {
	End(ctx context.Context, u *acp.ToolCallUpdate, model []Part) error
}

// Env is what the calls of a session need.
type Env struct {
	Session Session

	// Gate decides before a person is asked. Nil means that calls which only read are allowed
	// and others are asked for. It is called for each call, also for one that a rule allows.
	Gate func(ctx context.Context, c *Call) Decision

	// Rules holds what the person has allowed. Nil means that nothing is offered but to allow
	// a call once.
	Rules Rules

	// Logger gets the errors of tools, which nobody else sees. Nil means slog.Default.
	Logger *slog.Logger
}

// Rules holds the rules of one session. [NewRules] returns one in memory.
type Rules interface {
	Allowed(Rule) bool
	Allow(context.Context, Rule) error // if it fails the call does not run
}

// A Decision is what a Gate decides about a call.
type Decision int

// The zero Decision is the careful one.
const (
	Ask   Decision = iota // ask the person, unless a rule allows the call
	Allow                 // run it
	Deny                  // do not run it
)

// A Registry holds the tools of a session. It is safe for concurrent use.
type Registry struct{ tools []Tool }

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// NewRegistry returns the tools as a Registry, or says which one cannot be used.
func NewRegistry(tools ...Tool) (*Registry, error) {
	names := make(map[string]bool, len(tools))
	for i := range tools {
		t := &tools[i]
		var schema struct{ Type string }
		switch {
		case t.Name == "" || len(t.Name) > 64 || strings.Trim(t.Name, letters) != "":
			return nil, fmt.Errorf("tools: the name %q of a tool must be 1 to 64 letters, digits, - or _", t.Name)
		case names[t.Name]:
			return nil, fmt.Errorf("tools: two tools have the name %q", t.Name)
		case t.Run == nil:
			return nil, fmt.Errorf("tools: the tool %q has no Run", t.Name)
		case json.Unmarshal(t.Schema, &schema) != nil || schema.Type != "object":
			return nil, fmt.Errorf(`tools: the schema of the tool %q must be a JSON object with "type": "object"`, t.Name)
		}
		names[t.Name] = true
	}
	return &Registry{slices.Clone(tools)}, nil
}

// Tools returns the tools in their order, for the model.
func (r *Registry) Tools() []Tool { return slices.Clone(r.tools) }

func (r *Registry) find(name string) *Tool {
	i := slices.IndexFunc(r.tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &r.tools[i]
}

// names returns what a model could have meant.
func (r *Registry) names() string {
	names := make([]string, len(r.tools))
	for i, t := range r.tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}
