package adapter

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// RequestPermission asks the client for permission. If the turn is cancelled, the adapter's client
// connection answers the agent and cancels ctx, which cancels the request to the client.
func (l *lower) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if len(req.Options) == 0 {
		return nil, rpcerr.InvalidParams(nil).WithDetail("options: version 2 of the protocol requires one at least")
	}
	s := l.a.session(req.SessionID)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return acp.Cancelled(), nil
	}
	s.mentionTool(req.ToolCall.ToolCallID, req.ToolCall.Title)
	title := cmp.Or(s.titles[req.ToolCall.ToolCallID], string(req.ToolCall.ToolCallID))
	answered := make(chan struct{})
	s.asked[answered] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.asked, answered)
		close(answered)
	}()
	call, err := toolCall(req.ToolCall, req.ToolCall.Content)
	if err != nil {
		return nil, err
	}
	own := &acp2.RequestPermissionRequest{Title: title, Subject: &acp2.ToolCallPermissionSubject{ToolCall: *call}, Meta: req.Meta}
	for _, o := range req.Options {
		own.Options = append(own.Options, acp2.PermissionOption{
			OptionID: acp2.PermissionOptionID(o.OptionID), Name: o.Name, Kind: acp2.PermissionOptionKind(o.Kind), Meta: o.Meta,
		})
	}
	res, err := l.a.above.Session(acp2.SessionID(req.SessionID)).RequestPermission(ctx, own)
	if err != nil {
		return nil, err
	}
	return convert[acp.RequestPermissionResponse](res)
}

// questionsEnd waits until all permission requests in flight have ended. It is called after they
// were cancelled.
func (s *session) questionsEnd() {
	s.mu.Lock()
	asked := slices.Collect(maps.Keys(s.asked))
	s.mu.Unlock()
	for _, answered := range asked {
		<-answered // the ctx of the request is done
	}
}

// CreateElicitation asks the client for input of the user. Meanwhile, the state of the session, if
// there is one, is that it requires an action of the user.
func (l *lower) CreateElicitation(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	o, err := objectOf(req)
	if err != nil {
		return nil, err
	}
	if _, ok := o["requestId"]; ok {
		id, err := l.a.onlyOutside()
		if err != nil {
			return nil, err
		}
		if o["requestId"], err = json.Marshal(id); err != nil {
			return nil, err
		}
	}
	if raw, ok := o["requestedSchema"]; ok {
		schema, err := decode[object](raw)
		if err != nil {
			return nil, err
		}
		schema.setDefault("type", `"object"`) // version 2 requires both
		schema.setDefault("properties", `{}`)
		if o["requestedSchema"], err = json.Marshal(schema); err != nil {
			return nil, err
		}
	}
	own, err := convert[acp2.CreateElicitationRequest](o)
	if err != nil {
		return nil, err
	}
	ask := l.a.above.CreateElicitation
	if raw, ok := o["sessionId"]; ok {
		id, err := decode[acp2.SessionID](raw)
		if err != nil {
			return nil, err
		}
		ask = l.a.above.Session(*id).CreateElicitation
	}
	res, err := ask(ctx, own)
	if err != nil {
		return nil, err
	}
	if _, unknown := res.Action.(*acp2.UnknownElicitationAction); unknown {
		return &acp.CreateElicitationResponse{Action: &acp.ElicitationCancelAction{}, Meta: res.Meta}, nil
	}
	return convert[acp.CreateElicitationResponse](res)
}

// CompleteElicitation reports to the client that the user has finished on a web page.
func (l *lower) CompleteElicitation(ctx context.Context, n *acp.CompleteElicitationNotification) error {
	return l.a.above.CompleteElicitation(ctx, &acp2.CompleteElicitationNotification{
		ElicitationID: acp2.ElicitationID(n.ElicitationID), Meta: n.Meta,
	})
}

// outsideSession records a request of the client that belongs to no session, until done is called.
func (a *adapter) outsideSession(ctx context.Context) (done func()) {
	id, ok := agent2.RequestID(ctx)
	if !ok {
		return func() {}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outside[id] = struct{}{}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.outside, id)
	}
}

// onlyOutside returns the id of the only request that belongs to no session. The agent knows the
// request by another id, so it can only be identified if there is exactly one.
func (a *adapter) onlyOutside() (acp2.RequestID, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.outside) != 1 {
		return acp2.RequestID{}, rpcerr.InvalidParams(nil).WithDetail("requestId: the client must have exactly one request in flight that belongs to no session")
	}
	for id := range a.outside {
		return id, nil
	}
	panic("unreachable")
}
