package client

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/talk"
)

// requestPermission handles session/request_permission. It calls the client, unless the turn is
// cancelled.
func (c *Conn) requestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return talk.Ask(ctx, &c.turns, c.log, string(req.SessionID), talk.Matter{}, acp.Cancelled(), func(ctx context.Context) (*acp.RequestPermissionResponse, error) {
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

// createElicitation returns the handler of elicitation/create, which calls h unless the turn is
// cancelled. It refuses a session that is not open.
func (c *Conn) createElicitation(h acp.Elicitor) func(context.Context, *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	return func(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
		return c.elicit(ctx, h, req)
	}
}

func (c *Conn) elicit(ctx context.Context, h acp.Elicitor, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	var scope acp.ElicitationScope
	switch m := req.Mode.(type) {
	case *acp.ElicitationFormMode:
		scope = m.Scope
	case *acp.ElicitationURLMode:
		scope = m.Scope
	}
	session, ok := scope.(*acp.ElicitationSessionScope)
	if !ok {
		return h.CreateElicitation(ctx, req)
	}
	if !c.remote && !c.sessions.Has(string(session.SessionID)) {
		return nil, talk.ErrNotOpen
	}
	cancelled := &acp.CreateElicitationResponse{Action: &acp.ElicitationCancelAction{}}
	return talk.Ask(ctx, &c.turns, c.log, string(session.SessionID), talk.Matter{}, cancelled, func(ctx context.Context) (*acp.CreateElicitationResponse, error) {
		return h.CreateElicitation(ctx, req)
	})
}
