package agent

import (
	"context"

	"github.com/acpkit/go-sdk/acp/v2"
)

// CreateElicitation sends req and returns the response of the client as it is. If the scope
// of req is a session, it replaces the session's id in a copy of req. While it waits, the
// session's state is requires_action as for [Session.AskPermission]. Use [Session.AskForm]
// or [Session.OpenURL] unless the response itself is needed.
//
// Protocol: elicitation/create. Capability: elicitation.form or elicitation.url.
func (s *Session) CreateElicitation(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	var own acp.CreateElicitationRequest
	if req != nil {
		own = *req
	}
	switch mode := own.Mode.(type) {
	case *acp.ElicitationFormMode:
		form := *mode
		form.Scope = s.scoped(mode.Scope)
		own.Mode = &form
	case *acp.ElicitationURLMode:
		page := *mode
		page.Scope = s.scoped(mode.Scope)
		own.Mode = &page
	}
	var res *acp.CreateElicitationResponse
	err := s.asking(ctx, func() (err error) {
		res, err = s.conn.CreateElicitation(ctx, &own)
		return err
	})
	return res, err
}

// scoped returns the scope with the id of the session, if it is that of a session.
func (s *Session) scoped(scope acp.ElicitationScope) acp.ElicitationScope {
	if of, ok := scope.(*acp.ElicitationSessionScope); ok {
		return &acp.ElicitationSessionScope{SessionID: s.id, ToolCallID: of.ToolCallID}
	}
	return scope
}
