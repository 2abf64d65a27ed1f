package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
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

// baseline returns the capabilities that every agent has. In version 1, that is none.
func baseline() *acp.AgentCapabilities { return &acp.AgentCapabilities{} }

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

// versionedListed is what only this version lists for a session.
type versionedListed struct{ modes *acp.SessionModeState }

func optionID(o acp.SessionConfigOption) acp.SessionConfigID { return o.ID }

func (k *known) checkVersioned(params any) error {
	p, ok := params.(*acp.SetSessionModeRequest)
	if !ok {
		return nil
	}
	if err := k.checkSession(p.SessionID); err != nil {
		return err
	}
	modes := k.of(p.SessionID).modes
	if modes == nil || !slices.ContainsFunc(modes.AvailableModes, func(m acp.SessionMode) bool { return m.ID == p.ModeID }) {
		return unknownID("mode", p.ModeID)
	}
	return nil
}

// responded records what a response tells the client.
func (k *known) responded(params, res any) {
	opened := func(id acp.SessionID, modes *acp.SessionModeState, options []acp.SessionConfigOption) {
		if l := k.opened(id, options); modes != nil {
			l.modes = modes
		}
	}
	switch res := res.(type) {
	case *acp.NewSessionResponse:
		opened(res.SessionID, res.Modes, res.ConfigOptions)
	case *acp.ForkSessionResponse:
		opened(res.SessionID, res.Modes, res.ConfigOptions)
	case *acp.LoadSessionResponse:
		opened(params.(*acp.LoadSessionRequest).SessionID, res.Modes, res.ConfigOptions)
	case *acp.ResumeSessionResponse:
		opened(params.(*acp.ResumeSessionRequest).SessionID, res.Modes, res.ConfigOptions)
	case *acp.SetSessionConfigOptionResponse:
		k.opened(params.(*acp.SetSessionConfigOptionRequest).SessionID, res.ConfigOptions)
	case *acp.CloseSessionResponse:
		delete(k.sessions, params.(*acp.CloseSessionRequest).SessionID)
	case *acp.DeleteSessionResponse:
		delete(k.sessions, params.(*acp.DeleteSessionRequest).SessionID)
	}
}
