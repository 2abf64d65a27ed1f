package permission

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Action is what an [Operation] does.
type Action string

// The values of [Action].
const (
	// ActionWrite creates a file or replaces what is in it.
	ActionWrite Action = "write"
	// ActionCommand runs a command.
	ActionCommand Action = "command"
)

// Operation is one thing with effects.
type Operation struct {
	Action Action `json:"action"`
	// Path is the file of a write, with all symlinks resolved.
	Path string `json:"path,omitempty"`
	// Digest is the SHA-256 of the new content of the file, in hex; empty if it is not
	// known. See [DigestOf].
	Digest string `json:"digest,omitempty"`
	// Argv is the command and its arguments, as they will run. If Shell is set it is one
	// element: the line that a shell reads.
	Argv  []string `json:"argv,omitempty"`
	Shell bool     `json:"shell,omitempty"`
	// Cwd is the folder that the command runs in, with all symlinks resolved.
	Cwd string `json:"cwd,omitempty"`
	// Env are the names of the variables that the agent sets for the command. EnvDigest
	// stands for their values; see [DigestOf].
	Env       []string `json:"env,omitempty"`
	EnvDigest string   `json:"envDigest,omitempty"`
}

// DigestOf returns the digest of texts, for Operation.Digest and EnvDigest.
func DigestOf(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		fmt.Fprintf(h, "%d:", len(s))
		_, _ = io.WriteString(h, s) // a hash does not fail
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// kind returns the kind of tool call that does such a thing.
func (o *Operation) kind() string {
	if o.Action == ActionWrite {
		return "edit"
	}
	return "execute"
}

// identity is equal for identical operations only. It is empty for a write whose content
// is not known, which is identical to none.
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

// argument is what memory keeps of an operation: the file, or the command with its folder
// and its variables.
func (o *Operation) argument() string {
	if o.Action == ActionWrite {
		return DigestOf(o.Path)
	}
	env := slices.Sorted(slices.Values(o.Env))
	texts := append([]string{fmt.Sprint(o.Shell), o.Cwd, fmt.Sprint(len(o.Argv))}, o.Argv...)
	return DigestOf(append(append(texts, env...), o.EnvDigest)...)
}

// Tool is the tool call that a question is about. All of it is what the agent claims.
type Tool struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Title string `json:"title,omitempty"`
	// Input is what the tool is called with, any JSON; nil if the agent does not say.
	Input json.RawMessage `json:"input,omitempty"`
	// Diffs are the changes that it shows, Paths the files that it names.
	Diffs []Diff   `json:"diffs,omitempty"`
	Paths []string `json:"paths,omitempty"`
	// Patches are the changes that it shows as patches, such as git writes them. Diffs has
	// an entry for each file of a patch, without texts.
	Patches []string `json:"patches,omitempty"`
}

// Diff is a change of a file as an agent shows it.
type Diff struct {
	Path string `json:"path"`
	// OldText and NewText are the whole texts before and after; nil if there is none, or if
	// the agent does not say.
	OldText *string `json:"oldText,omitempty"`
	NewText *string `json:"newText,omitempty"`
}

// The kinds of an [Option] that this package knows. Others permit nothing.
const (
	AllowOnce    = "allow_once"
	AllowAlways  = "allow_always"
	RejectOnce   = "reject_once"
	RejectAlways = "reject_always"
)

// Option is one of the answers to a [Question].
type Option struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Question is what a person is asked.
type Question struct {
	// Session is the id of the session, Workspace its folder.
	Session   string
	Workspace string
	// Turn numbers the turn of the session that the question belongs to; 0 if no turn runs.
	Turn uint64
	// Agent is the name of the agent.
	Agent string
	// Title and Description are the agent's words; empty if the agent did not ask.
	Title       string
	Description string
	// Tool is the tool call that the agent asks about; nil if the agent did not ask, or asks
	// about no tool call.
	Tool *Tool
	// Command is the line of a command that the agent asks about, Cwd the folder that it
	// would run in. Command is empty if the agent asks about no command.
	Command string
	Cwd     string
	// Operations is what would be done. If Claimed is set it is what the agent says that it
	// would do, and there may be more to it.
	Operations []Operation
	Claimed    bool
	// Options are the answers to choose from.
	Options []Option
}

// option returns the option of that id.
func (q *Question) option(id string) (Option, bool) {
	i := slices.IndexFunc(q.Options, func(o Option) bool { return o.ID == id })
	if i < 0 {
		return Option{}, false
	}
	return q.Options[i], true
}

// Pick returns the id of the first option of the first of the kinds that is offered, and
// "" if none is. It is for an Asker whose person has only said yes or no:
//
//	return q.Pick(permission.AllowOnce), nil
func (q *Question) Pick(kinds ...string) string {
	for _, kind := range kinds {
		for _, o := range q.Options {
			if o.Kind == kind {
				return o.ID
			}
		}
	}
	return ""
}

// ambiguous reports whether two options have the same id, so that no answer could be
// understood.
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
