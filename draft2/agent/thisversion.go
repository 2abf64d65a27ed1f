package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// This file contains what differs between the versions and has no other file. The files whose
// names end in _shared_gen.go are copies of files of version 1.

// updateNotification is the params type of session/update.
type updateNotification = acp.UpdateSessionNotification

// initializeFirst reports whether initialize must not be repeated after another request.
const initializeFirst = true

// strictIDs reports whether the id of a request must be a string or an integer.
const strictIDs = true

// clientOf returns what the client reports about itself.
func clientOf(req *acp.InitializeRequest) *peer {
	return &peer{info: &req.Info, caps: req.Capabilities}
}

// advertised returns a pointer to the member of the response that holds the agent's
// capabilities.
func advertised(res *acp.InitializeResponse) **acp.AgentCapabilities { return &res.Capabilities }

// updateBit returns the capability that an update needs. In version 2, no update needs
// one.
func updateBit(acp.SessionUpdate) string { return "" }

// baseline returns the capabilities that every agent has: an [acp.Agent] has the methods of
// sessions.
func baseline() *acp.AgentCapabilities {
	return &acp.AgentCapabilities{Session: &acp.SessionCapabilities{}}
}

// systemPromptPath is the capability to apply system prompts.
const systemPromptPath = "session.systemPrompt"

// promptBit returns a pointer to that capability.
func promptBit(caps *acp.AgentCapabilities) **acp.SessionSystemPromptCapabilities {
	return &endpoint.Present(&caps.Session).SystemPrompt
}

// systemPromptOfVersion returns the system prompt in the params of methods that only this version
// has. Version 2 has none of these.
func systemPromptOfVersion(any) *acp.SystemPrompt { return nil }

// archivePath is the capability to archive sessions.
const archivePath = "session.archive"

// refusedByVersion returns the error for a value that must be refused in this version alone, or
// nil. A client relies on a replay that it has requested. An agent may have types of its own.
func refusedByVersion(params any) *rpcerr.RequestError {
	if p, ok := params.(*acp.ResumeSessionRequest); ok {
		if from, ok := p.ReplayFrom.(*acp.UnknownReplayFrom); ok && !strings.HasPrefix(from.Type, "_") {
			return rpcerr.InvalidParams(nil).WithDetail("replayFrom: the agent can replay from the start only")
		}
	}
	return nil
}

// amend changes the generated rows of the table.
func (c *Conn) amend(t *endpoint.Table) {
	c.checkServers(t)
	e := t.Entry(methodInitialize.Method)
	method, params := *e.Method, *e.Params
	params.Decode = decodeInitialize
	method.Params = &params
	e.Method = &method
	c.respondToCloseLast(t.Entry(methodCloseSession.Method))
	// The methods always exist: whether something can be cancelled is a property of each tool
	// call and terminal, not of the agent.
	if t.Entry(methodCancelToolCall.Method) == nil {
		methodCancelToolCall.Handle(t, func(_ context.Context, req *acp.CancelToolCallRequest) (*acp.CancelToolCallResponse, error) {
			return nil, rpcerr.InvalidParams(map[string]any{"toolCallId": req.ToolCallID}).WithDetail("the tool call cannot be cancelled")
		})
	}
	if t.Entry(methodCancelTerminal.Method) == nil {
		methodCancelTerminal.Handle(t, func(_ context.Context, req *acp.CancelTerminalRequest) (*acp.CancelTerminalResponse, error) {
			return nil, rpcerr.InvalidParams(map[string]any{"terminalId": req.TerminalID}).WithDetail("the terminal cannot be cancelled")
		})
	}
}

// prompt handles session/prompt. A prompt fails with -32800 if its session is cancelled
// or closed before the prompt is inserted.
func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	res, err := c.agent.Prompt(ctx, req)
	if errors.Is(err, rpcerr.ErrRequestCancelled) {
		return nil, err // such as that of another agent, with its data
	}
	if err != nil && errors.Is(context.Cause(ctx), acp.ErrTurnCancelled) {
		return nil, rpcerr.RequestCancelled(nil).WithCause(err)
	}
	if err == nil && res == nil {
		return nil, errors.New("agent: Prompt returned neither a response nor an error")
	}
	return res, err
}

// reopens reports whether a request of the method opens a session again that the stream has
// lost.
func reopens(method string) bool { return method == acp.MethodSessionResume }

// versioned holds the fields of a Conn that only this version has.
type versioned struct {
	states states // of the sessions
}

func optionID(o acp.SessionConfigOption) string { return string(o.ConfigID) }

// named returns the session that must be open for a request, and the option in its params. Version 2
// has no modes.
func named(params any) (id acp.SessionID, mode, option string) {
	switch p := params.(type) {
	case *acp.PromptRequest:
		return p.SessionID, "", ""
	case *acp.SetSessionConfigOptionRequest:
		return p.SessionID, "", string(p.ConfigID)
	}
	return "", "", ""
}

// opened returns the session that a response has opened or changed, and what it lists.
func opened(params, res any) (id acp.SessionID, modes []string, options []acp.SessionConfigOption) {
	switch res := res.(type) {
	case *acp.NewSessionResponse:
		return res.SessionID, nil, res.ConfigOptions
	case *acp.ForkSessionResponse:
		return res.SessionID, nil, res.ConfigOptions
	case *acp.ResumeSessionResponse:
		return params.(*acp.ResumeSessionRequest).SessionID, nil, res.ConfigOptions
	case *acp.SetSessionConfigOptionResponse:
		return params.(*acp.SetSessionConfigOptionRequest).SessionID, nil, res.ConfigOptions
	}
	return "", nil, nil
}

// decodeInitialize decodes the params of initialize. If the client requests a newer version,
// members that are invalid in this one are left out. A request for an older version is refused, so
// its params are not decoded.
func decodeInitialize(raw []byte) (any, int64, error) {
	members := initializeMembers(raw)
	var requested uint16
	d := wire.NewDecoder(members["protocolVersion"])
	if members["protocolVersion"] == nil || wire.ReadUint(&d, &requested) != nil || requested == acp.ProtocolVersion {
		return methodInitialize.Params.Decode(raw)
	}
	unknown := acp.Implementation{Name: "unknown", Version: "unknown"}
	req := &acp.InitializeRequest{ProtocolVersion: min(requested, acp.ProtocolVersion), Info: unknown}
	if requested > acp.ProtocolVersion {
		req.Capabilities = &acp.ClientCapabilities{}
		if json.Unmarshal(members["info"], &req.Info) != nil || string(members["info"]) == "null" {
			req.Info = unknown
		}
		if json.Unmarshal(members["capabilities"], req.Capabilities) != nil {
			req.Capabilities = &acp.ClientCapabilities{}
		}
		if json.Unmarshal(members["_meta"], &req.Meta) != nil {
			req.Meta = nil
		}
	}
	return req, int64(len(raw)), nil
}

// initializeMembers returns those members of raw that the params of initialize can have, or
// nil if raw is not an object or has one of them more than once.
func initializeMembers(raw []byte) map[string][]byte {
	d := wire.NewDecoder(raw)
	if d.Kind() != '{' {
		return nil
	}
	members := map[string][]byte{}
	o := d.Object()
	for o.Next(&d) {
		name := string(o.Name)
		switch name {
		case "protocolVersion", "info", "capabilities", "_meta":
			var value []byte
			if members[name] != nil || d.Raw(&value) != nil {
				return nil
			}
			members[name] = value
		default:
			d.Skip()
		}
	}
	return members
}

// refused returns the error for an initialize that is refused, or nil. now is what the client
// reported earlier, or nil.
func refused(req *acp.InitializeRequest, now *peer) error {
	switch {
	case req.ProtocolVersion >= acp.ProtocolVersion:
		return nil
	case now != nil:
		return rpcerr.InvalidRequest(nil).WithDetail("a repeated initialize must request protocol version 2 or later")
	}
	return rpcerr.UnsupportedProtocolVersion(int(req.ProtocolVersion), acp.ProtocolVersion)
}
