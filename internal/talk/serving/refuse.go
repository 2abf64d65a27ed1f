package serving

import (
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The protocol obliges an agent to refuse what it did not advertise. Its author may not know that, so
// the connection refuses it. group is the group of the capabilities of sessions in the version, and has
// reports whether the agent has advertised a capability.

// RefusePrompt returns the error for a system prompt that an agent cannot apply, or nil. fault returns
// what is wrong with the content.
func RefusePrompt(has func(path string) bool, group, mode string, fault func() *wire.FieldErrors) *rpcerr.RequestError {
	path := group + "systemPrompt"
	override := path + ".mode.override"
	var fields *wire.FieldErrors
	sentence := ""
	switch {
	case !has(path):
		sentence = "this agent takes no system prompt: it did not advertise " + path
		fields = endpoint.PromptError("not supported by this agent")
	case mode == "override" && !has(override):
		sentence = "this agent cannot replace its system prompt: it did not advertise " + override
		fields = endpoint.PromptError("not supported by this agent", "mode")
	case mode != "append" && mode != "override":
		sentence = "the mode of a system prompt must be append or override"
		fields = endpoint.PromptError("unknown mode", "mode")
	default:
		fields = fault()
		sentence = "the content of a system prompt must be text blocks that are not all blank"
	}
	if fields == nil {
		return nil
	}
	return rpcerr.InvalidParams(fields).WithDetail(sentence)
}

// RefuseFilter returns the error for a filter of archived sessions that an agent does not support, or
// nil.
func RefuseFilter(has func(path string) bool, group, filter string) *rpcerr.RequestError {
	switch filter {
	case "", "exclude":
		return nil
	case "include", "only":
		if has(group + "archive") {
			return nil
		}
	}
	return rpcerr.InvalidParams(nil).WithDetail("archived: this agent does not support the filter")
}
