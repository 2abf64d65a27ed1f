// Package rules has the rules of the protocol about the params of requests that do not follow from the
// schema: what needs a capability, and what a receiver is obliged to refuse. It knows no version and no
// vocabulary.
package rules

import (
	"cmp"
	"strings"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Version has what differs between the versions: how params are read, and the groups of capabilities
// that they need.
type Version struct {
	Session, Prompt, Server string // such as "session."

	Read func(params any) Request
}

// Request is what rules are about in the params of a request.
type Request struct {
	Blocks  []string // the kinds of content in a prompt that need a capability
	Folders bool     // there are folders beside that of the session
	Servers []Server // that need a capability
	System  *SystemPrompt
	Options bool // there are values of config options for the start of a session
	// OptionType is a type of such a value that the protocol does not have, or "".
	OptionType string
	Title      *string // to be set
	Filter     string  // of archived sessions
	// Wrong says why an agent must refuse params by a rule of the version alone, and WrongServers why
	// it must refuse its servers.
	Wrong, WrongServers string
}

// Server is an MCP server of a kind that needs a capability. A client sends those of unknown kinds
// without one.
type Server struct {
	Kind    string
	Unknown bool
}

// SystemPrompt is a system prompt in a request that opens a session. Fault is what no agent can apply in
// its content, or nil.
type SystemPrompt struct {
	Mode  string
	Fault *wire.FieldErrors
}

// Of returns the system prompt with these blocks; text returns the text of a block, or false if it has
// none.
func Of[B any](mode string, content []B, text func(B) (string, bool)) *SystemPrompt {
	return &SystemPrompt{mode, endpoint.PromptFault(content, text)}
}

// Missing returns the first capability that a message needs and the agent did not advertise, or "".
func (v *Version) Missing(m *wire.Method, params any, has func(path string) bool) string {
	missing := func(path string) bool { return path != "" && !has(path) }
	if missing(m.Capability) {
		return m.Capability
	}
	r := v.Read(params)
	for _, kind := range r.Blocks {
		if missing(v.Prompt + kind) {
			return v.Prompt + kind
		}
	}
	if r.Folders && missing(v.Session+"additionalDirectories") {
		return v.Session + "additionalDirectories"
	}
	for _, s := range r.Servers {
		if !s.Unknown && missing(v.Server+s.Kind) {
			return v.Server + s.Kind
		}
	}
	if r.Options && missing(v.Session+"options") {
		return v.Session + "options"
	}
	if r.System == nil {
		return ""
	}
	path := v.Session + "systemPrompt"
	if missing(path) {
		return path
	}
	// There is no capability for an unknown mode, and an empty one is invalid.
	if mode := r.System.Mode; mode != "append" && mode != "" && missing(path+".mode."+mode) {
		return path + ".mode." + mode
	}
	return ""
}

// Agent returns the error for params that the protocol obliges an agent to refuse, or nil. has reports
// what the agent has advertised. A relay leaves it to the agent behind it to refuse the kinds of content
// and of MCP servers that it did not advertise. It does not leave system prompts to it: a client that
// ignores capabilities would pass them on to an agent that drops them.
func (v *Version) Agent(has func(path string) bool, params any, relay bool) *rpcerr.RequestError {
	r := v.Read(params)
	if r.System != nil {
		if e := v.systemPrompt(has, r.System); e != nil {
			return e
		}
	}
	detail := v.value(has, &r)
	if !relay {
		detail = cmp.Or(detail, v.unadvertised(has, &r), r.WrongServers)
	}
	if detail == "" {
		return nil
	}
	return rpcerr.InvalidParams(nil).WithDetail(detail)
}

// unadvertised returns what needs a capability that the agent did not advertise, or "". An agent that
// left it out would work on something else than what the user has sent.
func (v *Version) unadvertised(has func(string) bool, r *Request) string {
	for _, kind := range r.Blocks {
		if !has(v.Prompt + kind) {
			return "prompt: the agent did not advertise " + v.Prompt + kind
		}
	}
	if r.Folders && !has(v.Session+"additionalDirectories") {
		return "additionalDirectories: the agent did not advertise " + v.Session + "additionalDirectories"
	}
	for _, s := range r.Servers {
		if !has(v.Server + s.Kind) {
			return "mcpServers: the agent did not advertise " + v.Server + s.Kind
		}
	}
	return ""
}

// value returns why the protocol obliges an agent with these capabilities to refuse a value, or "".
func (v *Version) value(has func(string) bool, r *Request) string {
	if r.Title != nil && strings.TrimSpace(*r.Title) == "" {
		return "title: must contain text"
	}
	// An agent ignores options and values that it does not know, but not types of values.
	if r.OptionType != "" && has(v.Session+"options") {
		return "configOptions: the agent has no values of type " + r.OptionType
	}
	switch r.Filter {
	case "", "exclude":
		return r.Wrong
	case "include", "only":
		if has(v.Session + "archive") {
			return r.Wrong
		}
	}
	return "archived: this agent does not support the filter"
}

// systemPrompt returns the error for a system prompt that an agent with these capabilities cannot
// apply, or nil.
func (v *Version) systemPrompt(has func(string) bool, p *SystemPrompt) *rpcerr.RequestError {
	path := v.Session + "systemPrompt"
	override := path + ".mode.override"
	var fields *wire.FieldErrors
	sentence := ""
	switch {
	case !has(path):
		sentence = "this agent takes no system prompt: it did not advertise " + path
		fields = endpoint.PromptError("not supported by this agent")
	case p.Mode == "override" && !has(override):
		sentence = "this agent cannot replace its system prompt: it did not advertise " + override
		fields = endpoint.PromptError("not supported by this agent", "mode")
	case p.Mode != "append" && p.Mode != "override":
		sentence = "the mode of a system prompt must be append or override"
		fields = endpoint.PromptError("unknown mode", "mode")
	default:
		sentence = "the content of a system prompt must be text blocks that are not all blank"
		fields = p.Fault
	}
	if fields == nil {
		return nil
	}
	return rpcerr.InvalidParams(fields).WithDetail(sentence)
}

// OfProtocol returns "" for a type that agents and clients may define, and others unchanged.
func OfProtocol(kind string) string {
	if strings.HasPrefix(kind, "_") {
		return ""
	}
	return kind
}

// Suggestion returns why an agent must not suggest a prompt with these kinds of content: a capability that
// the client did not advertise, or what is wrong with the prompt. blank means that it is nothing but blank
// text. told reports what the agent itself has advertised.
func (v *Version) Suggestion(kinds []string, blank bool, client, told func(path string) bool) (missing, wrong string) {
	if blank {
		return "", "must be more than blank text"
	}
	for _, kind := range kinds {
		if path := "session.promptSuggestions." + kind; !client(path) {
			return path, ""
		}
		if !told(v.Prompt + kind) {
			return "", "the agent did not advertise " + v.Prompt + kind
		}
	}
	return "", ""
}

// Refuse changes the rows of t so that they refuse methods that were not advertised, all but one whose
// params need other capabilities, and params that rule refuses.
func Refuse(t *endpoint.Table, except string, advertised func(capability string) bool, rule func(params any) *rpcerr.RequestError) {
	for _, e := range t.Entries {
		e.Refuse = func(params any) *rpcerr.RequestError {
			if e.Capability != "" && e.Name != except && !advertised(e.Capability) {
				return rpcerr.MethodNotFound(e.Name)
			}
			return rule(params)
		}
	}
}

// Client returns the error for a question to the user that the protocol obliges a client to refuse, or
// nil. has reports what the client has advertised; nil: that is not known. url is nil if the mode has
// none.
func Client(has func(path string) bool, mode string, url *string) *rpcerr.RequestError {
	if url != nil {
		if err := endpoint.CheckWebURL(*url); err != nil {
			return rpcerr.InvalidParams(nil).WithDetail("url " + err.Error()) //errlint:ignore CheckWebURL says what is wrong with a value of the caller
		}
	}
	if has != nil && mode != "" && !has("elicitation."+mode) {
		return rpcerr.InvalidParams(nil).WithDetail("elicitation mode " + mode + " was not advertised")
	}
	return nil
}
