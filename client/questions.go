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
	if !c.remote && !c.HasSession(session.SessionID) {
		return nil, talk.ErrNotOpen
	}
	cancelled := &acp.CreateElicitationResponse{Action: &acp.ElicitationCancelAction{}}
	return talk.Ask(ctx, &c.turns, c.log, string(session.SessionID), talk.Matter{}, cancelled, func(ctx context.Context) (*acp.CreateElicitationResponse, error) {
		return h.CreateElicitation(ctx, req)
	})
}

// TurnContext returns a copy of ctx that is also done, with the cause
// [acp.ErrTurnCancelled], when the session's turn is cancelled or, in version 1, when it has
// ended. Use it in a handler other than those of permissions and elicitations that asks the
// user, for example before a write, so that the user is not asked about a turn that is over.
// If the turn is already cancelled, the returned ctx is done. The caller must call stop when
// the user has decided.
func (c *Conn) TurnContext(ctx context.Context, id acp.SessionID) (turn context.Context, stop context.CancelFunc) {
	var over <-chan struct{}
	if p := c.turns.Newest(string(id)); p != nil {
		over = p.Over
	}
	return c.turns.Context(ctx, string(id), over)
}

// CurrentTurn returns the number of the turn in flight in a session, or 0 if there is none.
// If there are several, it returns the number of the newest. Each turn of a connection has
// its own number.
//
// With it a client can determine to which turn a request of the agent belongs, so that a
// permission for one turn does not apply to the next.
func (c *Conn) CurrentTurn(id acp.SessionID) uint64 {
	if p := c.turns.Newest(string(id)); p != nil {
		return p.Number
	}
	return 0
}
