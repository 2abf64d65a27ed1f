// Package tools runs the tool calls of a model. Experimental: it may change in any release. It
// announces each call to the client, asks for permission, runs the tool, and reports the result to
// the client and to the model.
//
// A [Tool] is a function that the model can call; [Typed] makes one from a Go function and a
// struct. A [Registry] holds the tools of a session and runs the calls of one answer of the model:
//
//	results, err := registry.Run(ctx, tools.Env{Session: conn.Session(id)}, calls)
//
// What it promises:
//
//   - Each call has exactly one result, also if it fails. The results have the order of the calls.
//   - The client sees each call as pending, then as in_progress once permission is given, and then
//     as completed or failed, exactly once. No call stays open.
//   - The call that runs is the one that was allowed: the tool decodes the same bytes that the
//     person saw, unless Describe returns a more exact input for the person.
//   - Calls that only read run at the same time, at most four. Any other call runs alone, after the
//     calls before it.
//
// An error of a tool is converted by its [Session], as the error of any handler is: an unexpected
// one is not shown, the client and the model read "Internal error", and the text is logged. A tool
// reports what went wrong with a [Failure], an *rpcerr.RequestError, or any other acp.ToolFailure.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

// A Tool is a function that a model can call.
type Tool struct {
	Name        string // at most 64 letters, digits, - and _, as models require
	Title       string // for people, one line; empty means Name
	ID          string // the Tool of its rules; empty means Name. Set it if different tools can have this Name in different sessions
	Description string // for the model
	Kind        acp.ToolKind
	Effect      Effect
	Schema      json.RawMessage // the JSON schema of the input, an object

	// Describe describes a call with this input for the person, before permission is requested. It
	// must not change anything. Nil means that the title of the tool is sufficient.
	Describe func(ctx context.Context, in json.RawMessage) Summary

	// Run runs the call. It must return when ctx is done.
	Run func(ctx context.Context, c *Call) (Result, error)
}

// An Effect tells what a call does outside of the program.
type Effect int

// The zero Effect always needs permission.
const (
	Executes Effect = iota // runs programs, or anything else
	Writes                 // changes files
	Network                // sends something over a network
	Reads                  // changes nothing; such calls may run at the same time
)

// A Summary describes a call for the person.
type Summary struct {
	Title     string // one line; empty means the title of the tool
	Locations []acp.ToolCallLocation
	Preview   []acp.ToolCallContent // such as the diff of an edit

	// Rule is what the person may allow for the rest of the session. If it is nil, or its label is
	// too long to be shown or not printable, the person is asked about each call.
	Rule *Rule

	// Input replaces the input of the call for the client. It is a JSON object. Set it if the
	// client should see something more exact than the input of the model, such as the command that
	// runs a line. Nil means the input of the model.
	Input json.RawMessage

	// Err, if not nil, reports that the call cannot succeed. The call fails with this error, and
	// the person is not asked.
	Err error
}

// A Rule allows further calls of a tool without a question, if their Describe returns an equal
// rule. It should describe exactly what is done, such as a whole command or a path.
type Rule struct {
	Tool  string `json:"tool"` // ID or Name of the tool; set by Run
	What  string `json:"what"` // compared as a whole
	Label string `json:"-"`    // for the person, after "Always allow": "`ls` in this session"
}

// A Result is the result of a call.
type Result struct {
	Model   []Part                // for the model
	Content []acp.ToolCallContent // for the person, after the content that the call has shown; nil means the texts of Model
	Raw     any                   // for programs, as JSON
}

// Text returns a result with one text.
func Text(text string) Result { return Result{Model: []Part{{Text: text}}} }

// A Part is a text, or data such as an image.
type Part struct {
	Text     string `json:"text,omitempty"`
	MIMEType string `json:"mimeType,omitempty"` // of Data
	Data     []byte `json:"data,omitempty"`
}

// String returns the text, or a note that says of which type the data is.
func (p Part) String() string {
	if p.Data == nil {
		return p.Text
	}
	return "[" + p.MIMEType + " that this model cannot read]"
}

// A Failure is an error whose text the person and the model read.
type Failure struct{ Text string }

// Failf returns a Failure. Its text must not contain a secret.
func Failf(format string, args ...any) error { return &Failure{fmt.Sprintf(format, args...)} }

func (f *Failure) Error() string { return f.Text }

// FailedToolCall implements acp.ToolFailure.
func (f *Failure) FailedToolCall() *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{Content: []acp.ToolCallContent{acp.ToolText(f.Text)}}
}

// A Request is a call that the model has requested.
type Request struct {
	ID    string // the model's id of the call; may be empty, and need not be unique
	Name  string
	Input json.RawMessage // a JSON object, at most 1 MiB; empty means {}. The model is told if it passes anything else

	// ToolCallID is the result of Announce for this call, or empty.
	ToolCallID acp.ToolCallID

	// Err, if not nil, is why the call cannot run. The model reads it.
	Err error

	// Began, if not nil, is called just before the tool runs, when the call is allowed. If it returns
	// an error, the call does not run, and the turn ends.
	Began func() error

	// Ended, if not nil, is called with the result before the client receives it. For calls that
	// only read it is called concurrently. An error ends the turn.
	Ended func(Done) error
}

// Outcome is how a call ended.
type Outcome string

// The outcomes of calls.
const (
	Completed Outcome = "completed"
	Failed    Outcome = "failed"
	Rejected  Outcome = "rejected"  // by the person
	Denied    Outcome = "denied"    // by the Gate
	Cancelled Outcome = "cancelled" // because the turn ended
)

// Done is the result of one request.
type Done struct {
	Request
	Result
	Outcome Outcome
}

// A Session sends the updates and permission requests of calls. *agent.Session implements it.
type Session interface {
	// Update must also send if ctx is done. If it fails for a call that is about to run, the call
	// does not run.
	Update(ctx context.Context, u acp.SessionUpdate) error
	AskPermission(ctx context.Context, call *acp.ToolCallUpdate, options ...acp.PermissionOption) (acp.PermissionOption, error)

	// FailedCall returns the last update of a call that failed with err, whose methods may panic.
	FailedCall(ctx context.Context, id acp.ToolCallID, err error) *acp.ToolCallUpdate
}

// An Ender is a Session whose End is called in place of Update for the last update of each call,
// together with what the model reads. A session that stores updates needs this text, because a
// terminal cannot be stored.
type Ender interface {
	End(ctx context.Context, u *acp.ToolCallUpdate, model []Part) error
}

// Env has what the calls of a session need.
type Env struct {
	Session Session

	// Gate decides about a call before the person is asked. It is called for each call, also for
	// one that a rule allows. Nil means that calls that only read are allowed, and the person is
	// asked about the others.
	Gate func(ctx context.Context, c *Call) Decision

	// Rules holds the rules that the person has set. Nil means that the person can only allow a
	// call once.
	Rules *Rules

	// Logger receives why a call could not be shown, and why permission could not be asked for. If
	// it is nil, slog.Default() is used. The errors of calls go to the log of the Session.
	Logger *slog.Logger
}

// Rules holds the rules that the person has set in one session. The zero Rules has none.
type Rules struct {
	// Store, if not nil, stores a rule that the person sets. If it fails, the call does not run.
	Store func(ctx context.Context, r Rule) error

	all sync.Map // of Rule, without labels
}

// Add adds a rule that is stored already.
func (s *Rules) Add(r Rule) {
	r.Label = ""
	s.all.Store(r, nil)
}

func (s *Rules) has(r Rule) bool {
	r.Label = ""
	_, ok := s.all.Load(r)
	return ok
}

func (s *Rules) set(ctx context.Context, r Rule) error {
	if s.Store != nil {
		if err := s.Store(ctx, r); err != nil {
			return err
		}
	}
	s.Add(r)
	return nil
}

// A Decision is the decision of a Gate about a call. The zero Decision is Ask.
type Decision struct {
	verdict int
	reason  string
}

// The decisions without a reason; see [Denyf].
var (
	Ask   = Decision{}           // ask the person, unless a rule allows the call
	Allow = Decision{verdict: 1} // run it
	Deny  = Decision{verdict: 2} // do not run it
)

// Denyf returns a decision not to run a call. The person and the model read the reason, which must
// not contain a secret: "in plan mode nothing is changed".
func Denyf(format string, args ...any) Decision {
	return Decision{Deny.verdict, fmt.Sprintf(format, args...)}
}

// A Registry holds the tools of a session. It is safe for concurrent use.
type Registry struct {
	tools []Tool
	err   error // names a tool that is invalid
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// NewRegistry returns a Registry with the tools. If a tool is invalid, Err, Announce and Run return
// an error that names it.
func NewRegistry(tools ...Tool) *Registry { return &Registry{slices.Clone(tools), check(tools)} }

func check(tools []Tool) error {
	names := make(map[string]bool, len(tools))
	for i := range tools {
		t := &tools[i]
		var schema struct{ Type string }
		switch {
		case t.Name == "" || len(t.Name) > 64 || strings.Trim(t.Name, letters) != "":
			return fmt.Errorf("tools: the name %q of a tool must be 1 to 64 letters, digits, - or _", t.Name)
		case names[t.Name]:
			return fmt.Errorf("tools: two tools have the name %q", t.Name)
		case t.Run == nil:
			return fmt.Errorf("tools: the tool %q has no Run", t.Name)
		case json.Unmarshal(t.Schema, &schema) != nil || schema.Type != "object":
			return fmt.Errorf(`tools: the schema of the tool %q must be a JSON object with "type": "object"`, t.Name)
		}
		names[t.Name] = true
	}
	return nil
}

// Err returns an error that names an invalid tool, or nil. Call it to report a mistake before the first
// request to the model.
func (r *Registry) Err() error { return r.err }

// Tools returns the tools in their order, for the model.
func (r *Registry) Tools() []Tool { return slices.Clone(r.tools) }

func (r *Registry) find(name string) *Tool {
	i := slices.IndexFunc(r.tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &r.tools[i]
}

// names returns the names of the tools, for the error about an unknown one.
func (r *Registry) names() string {
	names := make([]string, len(r.tools))
	for i, t := range r.tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}
