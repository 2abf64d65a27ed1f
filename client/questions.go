package client

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// errNoAnswer is the answer of a handler, or of a sending middleware, that ended its
// goroutine.
var errNoAnswer = errors.New("client: goroutine ended without an answer")

// requestPermission stands between the agent's question and the client's answer.
func (c *Conn) requestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return askUser(ctx, c, req.SessionID, acp.Cancelled(), c.client.RequestPermission, req)
}

// createElicitation stands between the agent's question and the client's answer. A
// mode that was not advertised is refused, as the protocol asks, and so is a URL that is
// not a web page.
func (c *Conn) createElicitation(ctx context.Context, h acp.Elicitor, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	mode, scope := "", acp.ElicitationScope(nil)
	switch m := req.Mode.(type) {
	case *acp.ElicitationFormMode:
		mode, scope = "form", m.Scope
	case *acp.ElicitationURLMode:
		mode, scope = "url", m.Scope
		if err := endpoint.CheckWebURL(m.URL); err != nil && !c.remote {
			return nil, rpcerr.InvalidParams(nil).WithDetail("url " + err.Error())
		}
	}
	if p := c.peer.Load(); p != nil && mode != "" && !c.remote && !p.own.Has("elicitation."+mode) {
		return nil, rpcerr.InvalidParams(nil).WithDetail("elicitation mode " + mode + " was not advertised")
	}
	session, ok := scope.(*acp.ElicitationSessionScope)
	if !ok {
		return h.CreateElicitation(ctx, req)
	}
	cancelled := &acp.CreateElicitationResponse{Action: &acp.ElicitationCancelAction{}}
	return askUser(ctx, c, session.SessionID, cancelled, h.CreateElicitation, req)
}
