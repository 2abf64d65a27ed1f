package agent

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// This file contains what differs between the versions and has no other file.

// updateNotification is the params type of session/update.
type updateNotification = acp.SessionNotification

// initializeFirst reports whether initialize must not be repeated after another request.
const initializeFirst = false

// strictIDs reports whether the id of a request must be a string or an integer.
const strictIDs = false

// refused returns the error for an initialize that is refused, or nil. now is what the client
// reported earlier, or nil.
func refused(*acp.InitializeRequest, *peer) error { return nil }

// clientOf returns what the client reports about itself.
func clientOf(req *acp.InitializeRequest) *peer {
	return &peer{info: req.ClientInfo, caps: req.ClientCapabilities}
}

// advertised returns a pointer to the member of the response that holds the agent's
// capabilities.
func advertised(res *acp.InitializeResponse) **acp.AgentCapabilities { return &res.AgentCapabilities }

// baseline returns the capabilities that every agent has. Version 1 has none of these.
func baseline() *acp.AgentCapabilities { return &acp.AgentCapabilities{} }

// systemPromptPath is the capability to apply system prompts.
const systemPromptPath = "sessionCapabilities.systemPrompt"

// promptBit returns a pointer to that capability.
func promptBit(caps *acp.AgentCapabilities) **acp.SessionSystemPromptCapabilities {
	return &endpoint.Present(&caps.SessionCapabilities).SystemPrompt
}

// systemPromptOfVersion returns the system prompt in the params of methods that only this version
// has.
func systemPromptOfVersion(params any) *acp.SystemPrompt {
	if p, ok := params.(*acp.LoadSessionRequest); ok {
		return p.SystemPrompt
	}
	return nil
}

// archivePath is the capability to archive sessions.
const archivePath = "sessionCapabilities.archive"

// refusedByVersion returns the error for a value that must be refused in this version alone, or nil.
func refusedByVersion(any) *rpcerr.RequestError { return nil }

// amend changes generated rows of the table.
func (c *Conn) amend(t *endpoint.Table) { t.Entry(methodPrompt.Method).Ended = cancelledTurn }

func updateBit(u acp.SessionUpdate) string {
	switch u.(type) {
	case *acp.Notice:
		return "session.notices"
	case *acp.CompactionUpdate, *acp.CompactionSummaryChunk:
		return "session.compaction"
	case *acp.PlanUpdate, *acp.PlanRemoved:
		return "plan"
	case *acp.SubagentUpdate, *acp.SessionMessage, *acp.SessionMessageChunk:
		return "subagents"
	}
	return ""
}

// asking calls ask, which waits for the user. Version 1 has no session state for that.
func (s *Session) asking(_ context.Context, ask func() error) error { return ask() }

// reopens reports whether a request of the method opens a session again that the stream has
// lost.
func reopens(method string) bool {
	return method == acp.MethodSessionLoad || method == acp.MethodSessionResume
}

// versioned holds the fields of a Conn that only this version has.
type versioned struct{}

var _ = new(Conn).versioned // empty in this version

// prompt handles session/prompt.
func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	res, err := c.agent.Prompt(ctx, req)
	if err == nil && res == nil {
		return nil, errors.New("agent: Prompt returned neither a response nor an error")
	}
	if errors.Is(err, acp.ErrTurnCancelled) {
		// A client may answer a permission request with "cancelled" before it cancels the turn. The
		// stop reason is cancelled in this case too.
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	return res, err
}

// cancelledTurn returns the response to the prompt of a cancelled turn. It replaces any error of
// the agent, because clients would show the error to the user, who has only cancelled the turn.
func cancelledTurn() any {
	return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}
}

func optionID(o acp.SessionConfigOption) string { return string(o.ID) }

// named returns the session that must be open for a request, and the mode or option in its params.
func named(params any) (id acp.SessionID, mode, option string) {
	switch p := params.(type) {
	case *acp.PromptRequest:
		return p.SessionID, "", ""
	case *acp.SetSessionModeRequest:
		return p.SessionID, string(p.ModeID), ""
	case *acp.SetSessionConfigOptionRequest:
		return p.SessionID, "", string(p.ConfigID)
	}
	return "", "", ""
}

// opened returns the session that a response has opened or changed, and what it lists.
func opened(params, res any) (id acp.SessionID, modes []string, options []acp.SessionConfigOption) {
	var state *acp.SessionModeState
	switch res := res.(type) {
	case *acp.NewSessionResponse:
		id, state, options = res.SessionID, res.Modes, res.ConfigOptions
	case *acp.ForkSessionResponse:
		id, state, options = res.SessionID, res.Modes, res.ConfigOptions
	case *acp.LoadSessionResponse:
		id, state, options = params.(*acp.LoadSessionRequest).SessionID, res.Modes, res.ConfigOptions
	case *acp.ResumeSessionResponse:
		id, state, options = params.(*acp.ResumeSessionRequest).SessionID, res.Modes, res.ConfigOptions
	case *acp.SetSessionConfigOptionResponse:
		id, options = params.(*acp.SetSessionConfigOptionRequest).SessionID, res.ConfigOptions
	}
	if state != nil {
		for _, m := range state.AvailableModes {
			modes = append(modes, string(m.ID))
		}
	}
	return id, modes, options
}
