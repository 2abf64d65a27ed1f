package permission

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/client/thread"
)

// Action is the action of an [Operation].
type Action string

// The values of [Action].
const (
	// ActionRead reads a file. It is allowed unless a rule or a person denies it.
	ActionRead Action = "read"
	// ActionWrite creates a file or replaces what is in it.
	ActionWrite Action = "write"
	// ActionCommand runs a command.
	ActionCommand Action = "command"
)

// Operation is one action: a read, a write or a command.
type Operation struct {
	Action Action `json:"action"`
	// Path is the file of a read or a write, with all symlinks resolved. It is empty if it cannot be
	// resolved; no rule allows that.
	Path string `json:"path,omitempty"`
	// Digest is the result of [DigestOf] for the new content of the file; empty if the content
	// is unknown.
	Digest string `json:"digest,omitempty"`
	// Argv is the command and its arguments, as they will run. If Shell is set, it has one
	// element: the command line of a shell. In a [Question], a command that is /bin/sh -c with a line is
	// that line.
	Argv  []string `json:"argv,omitempty"`
	Shell bool     `json:"shell,omitempty"`
	// Program is the file that will be started, if it is known. Rules that allow look at the
	// file that it leads to.
	Program string `json:"program,omitempty"`
	// Cwd is the folder that the command runs in, with all symlinks resolved. It is as the
	// agent wrote it if it cannot be resolved.
	Cwd string `json:"cwd,omitempty"`
	// Env lists the names of the variables that the agent sets for the command. EnvDigest is
	// equal for equal values only; AGENT_SESSION_ID is not part of it.
	Env       []string `json:"env,omitempty"`
	EnvDigest string   `json:"envDigest,omitempty"`
}

// Variable is a variable of the environment of a command.
type Variable struct{ Name, Value string }

// DigestOf returns a digest of texts for Operation.Digest: the
// SHA-256 of the texts and their lengths, in hex.
func DigestOf(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		fmt.Fprintf(h, "%d:", len(s))
		_, _ = io.WriteString(h, s) // a hash does not fail
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// setEnv sets Env and EnvDigest. The order of the variables makes no difference.
func (o *Operation) setEnv(variables []Variable) {
	o.Env, o.EnvDigest = nil, ""
	var values []string
	for _, v := range variables {
		o.Env = append(o.Env, v.Name)
		if !isInert(v.Name) {
			values = append(values, v.Name+"="+v.Value)
		}
	}
	if slices.Sort(values); len(values) > 0 {
		o.EnvDigest = DigestOf(values...)
	}
}

// kind returns the kind of a tool call with such an operation.
func (o *Operation) kind() string {
	return map[Action]string{ActionRead: "read", ActionWrite: "edit", ActionCommand: "execute"}[o.Action]
}

// identity returns a text that is equal for identical operations only. It is empty for a write of
// unknown content, which is identical to no other.
func (o *Operation) identity() string {
	switch o.Action {
	case ActionWrite:
		if o.Digest == "" || o.Path == "" {
			return ""
		}
		return DigestOf("write", o.Path, o.Digest)
	case ActionCommand:
		return DigestOf("command", o.argument(), o.EnvDigest)
	}
	return ""
}

// key returns a text that is equal for operations with equal fields.
func (o *Operation) key() string {
	return DigestOf(string(o.Action), o.Path, o.Digest, o.argument(), o.EnvDigest)
}

// argument returns the argument of an operation in a [Key]: a digest of the file, or of the command
// with its folder and its variables.
func (o *Operation) argument() string {
	if o.Action != ActionCommand {
		return DigestOf(o.Path)
	}
	env := slices.DeleteFunc(slices.Sorted(slices.Values(o.Env)), isInert)
	shell := o.Shell && slices.ContainsFunc(o.Argv, isNoWord) // to a shell, one word is a program
	texts := append([]string{fmt.Sprint(shell), o.Cwd, fmt.Sprint(len(o.Argv))}, o.Argv...)
	return DigestOf(append(append(texts, env...), o.EnvDigest)...)
}

// isNoWord reports whether a shell may read the text as anything but the name of a program.
func isNoWord(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("_-./", r)
	})
}

// The kinds of an [Option] that this package knows. Others permit nothing.
const (
	AllowOnce    = "allow_once"
	AllowAlways  = "allow_always"
	RejectOnce   = "reject_once"
	RejectAlways = "reject_always"
)

// Option is one option of a [Question].
type Option struct {
	ID string `json:"id"`
	// Label describes on one line the effect of choosing the option. Show it, because Name is
	// chosen by the agent: it could be "Reject" for an option that always allows.
	Label string `json:"label,omitempty"`
	// Name is the agent's text, to be shown beside the Label. It is empty if the agent did not offer the
	// option.
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Own reports that this program offers the option, and not the agent. If it is an "always" option, this
	// program keeps the decision, and answers the agent with an option for one time, now and whenever it asks
	// again.
	Own bool `json:"own,omitempty"`
}

// Question is a question to a person: a permission request of the agent, or an operation
// that the agent did not ask about.
type Question struct {
	// Key is the key of the question in the thread of its session, for [thread.Thread.Answer]; 0 if a decision
	// needs no person or no thread is around the client.
	Key uint64
	// Session is the id of the session. Workspace is its folder.
	Session   string
	Workspace string
	// Turn is the number of the turn that the question belongs to; 0 if no turn is in
	// progress.
	Turn uint64
	// Agent is the name of the agent.
	Agent string
	// Title and Description are texts of the agent; empty if the agent did not ask.
	Title       string
	Description string
	// Tool is the tool call that the agent asks about; nil if there is none.
	Tool *Tool
	// Command is the command line that the agent asks about; empty if there is none. Cwd is
	// the folder that it would run in.
	Command string
	Cwd     string
	// Operations lists what would be done. If Claimed is set, the list is only a claim of the
	// agent and may be incomplete.
	Operations []Operation
	Claimed    bool
	// Variables are the variables that the agent sets for the command, if it did not ask about the
	// command. They may be secret. A [Record] does not contain them.
	Variables []Variable
	// Text is the new content of the file, for a write that the agent did not ask about. For other
	// questions it is nil, and the diffs of Tool show the change. It may be secret.
	Text *string
	// Options lists the options to choose from: those of the agent, then the
	// "always" options of this program.
	Options []Option

	complete bool // Operations are all that the tool call does
	vague    bool // what the tool does to a file of Operations is not shown
}

// listed returns the question as a thread shows it.
func (q *Question) listed() thread.Permission {
	p := thread.Permission{Title: q.Title, Description: q.Description, Command: q.Command, Cwd: q.Cwd, Lines: q.Lines(), Text: q.Text}
	for _, o := range q.Options {
		p.Options = append(p.Options, thread.PermissionOption{ID: o.ID, Label: o.Label, Name: o.Name, Kind: o.Kind, Own: o.Own})
	}
	return p
}

func (q *Question) option(id string) (Option, bool) {
	i := slices.IndexFunc(q.Options, func(o Option) bool { return o.ID == id })
	if i < 0 {
		return Option{}, false
	}
	return q.Options[i], true
}

// Pick returns the id of the first option of the first kind that is offered, or "" if none
// is. It prefers an option of this program to one of the agent. It is for an Options.Ask that asks only yes or
// no:
//
//	return q.Pick(permission.AllowOnce), nil
func (q *Question) Pick(kinds ...string) string {
	for _, kind := range kinds {
		found := ""
		for _, o := range q.Options {
			if o.Kind == kind && (found == "" || o.Own) {
				found = o.ID
			}
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// ambiguous reports whether two options have the same id, so that an answer could mean either.
func (q *Question) ambiguous() bool {
	seen := map[string]bool{}
	for _, o := range q.Options {
		if seen[o.ID] {
			return true
		}
		seen[o.ID] = true
	}
	return false
}

// only returns the id of the only option of that kind, or "" if there are several.
func (q *Question) only(kind string) string {
	id, n := "", 0
	for _, o := range q.Options {
		if o.Kind == kind {
			id, n = o.ID, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return id
}

// unique returns the id of the first option of that kind whose id no other option has.
func (q *Question) unique(kind string) string {
	count := map[string]int{}
	for _, o := range q.Options {
		count[o.ID]++
	}
	for _, o := range q.Options {
		if o.Kind == kind && count[o.ID] == 1 {
			return o.ID
		}
	}
	return ""
}
