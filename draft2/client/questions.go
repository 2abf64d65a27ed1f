package client

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/talk"
)

// requestPermission asks the client, unless the session's work is cancelled.
func (c *Conn) requestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	var about talk.Matter
	switch s := req.Subject.(type) {
	case *acp.ToolCallPermissionSubject:
		about.ToolCall = string(s.ToolCall.ToolCallID)
	case *acp.CommandPermissionSubject:
		about = talk.Matter{ToolCall: string(s.ToolCallID), Terminal: string(s.TerminalID)}
	}
	return talk.Ask(ctx, &c.turns.asked, c.log, string(req.SessionID), about, acp.Cancelled(), func(ctx context.Context) (*acp.RequestPermissionResponse, error) {
		res, err := c.client.RequestPermission(ctx, req)
		if err != nil || c.remote || res == nil {
			return res, err
		}
		return res, c.checkChoice(req.Options, res.Outcome)
	})
}

// checkChoice returns an error if the client chose an option that the agent did not offer.
func (c *Conn) checkChoice(options []acp.PermissionOption, outcome acp.RequestPermissionOutcome) error {
	choice, ok := outcome.(*acp.SelectedPermissionOutcome)
	if !ok || choice == nil || slices.ContainsFunc(options, func(o acp.PermissionOption) bool { return o.OptionID == choice.OptionID }) {
		return nil
	}
	return talk.NotOffered(c.log, string(choice.OptionID))
}

// createElicitation returns the handler of elicitation/create, which calls h unless the
// session's work is cancelled.
func (c *Conn) createElicitation(h acp.Elicitor) func(context.Context, *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	return func(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
		var scope acp.ElicitationScope
		switch m := req.Mode.(type) {
		case *acp.ElicitationFormMode:
			scope = m.Scope
		case *acp.ElicitationURLMode:
			scope = m.Scope
		}
		of, ok := scope.(*acp.ElicitationSessionScope)
		if !ok {
			return h.CreateElicitation(ctx, req)
		}
		if !c.remote && !c.sessions.Has(string(of.SessionID)) {
			return nil, talk.ErrNotOpen
		}
		cancelled := &acp.CreateElicitationResponse{Action: &acp.ElicitationCancelAction{}}
		about := talk.Matter{ToolCall: string(of.ToolCallID)}
		return talk.Ask(ctx, &c.turns.asked, c.log, string(of.SessionID), about, cancelled, func(ctx context.Context) (*acp.CreateElicitationResponse, error) {
			return h.CreateElicitation(ctx, req)
		})
	}
}
