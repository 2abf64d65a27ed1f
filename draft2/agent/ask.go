package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// While a request to the user waits, the session's state is requires_action if foreground work is in
// progress and ctx is not that of background work.

// ErrNoInput is the error of [Session.AskForm] and [Session.OpenURL] if the user declined
// or dismissed the request.
var ErrNoInput = errors.New("agent: the user gave no input")

// AskForm asks the user to fill in a form, and returns the values by the names of their
// fields. A field that the user left empty has no entry. The caller must check the values
// against the form, which must not ask for secrets.
//
// Protocol: elicitation/create. Capability: elicitation.form.
func (s *Session) AskForm(ctx context.Context, message string, form acp.ElicitationSchema) (map[string]acp.ElicitationContentValue, error) {
	if form.Type == "" {
		form.Type = acp.ElicitationSchemaTypeObject
	}
	return s.elicit(ctx, message, &acp.ElicitationFormMode{RequestedSchema: form, Scope: &acp.ElicitationSessionScope{}})
}

// OpenURL asks the user to open a web page, for example to sign in, and returns when the user
// has agreed to open it. If the agent learns that the user has finished there, it may report
// that with [Conn.CompleteElicitation] and the id that OpenURL returned.
//
// Protocol: elicitation/create. Capability: elicitation.url.
func (s *Session) OpenURL(ctx context.Context, message, url string) (acp.ElicitationID, error) {
	id := acp.ElicitationID("elicitation_" + rand.Text())
	if _, err := s.elicit(ctx, message, &acp.ElicitationURLMode{ElicitationID: id, URL: url, Scope: &acp.ElicitationSessionScope{}}); err != nil {
		return "", err
	}
	return id, nil
}

// elicit returns the values of a form.
func (s *Session) elicit(ctx context.Context, message string, mode acp.ElicitationMode) (map[string]acp.ElicitationContentValue, error) {
	res, err := s.CreateElicitation(ctx, &acp.CreateElicitationRequest{Message: message, Mode: mode})
	if err != nil {
		return nil, err
	}
	accepted, ok := res.Action.(*acp.ElicitationAcceptAction)
	if !ok { // an unknown action counts as cancel
		return nil, ErrNoInput
	}
	return accepted.Content, nil
}

// CreateElicitation sends req and returns the response of the client as it is. If the scope
// of req is a session, it replaces the session's id in a copy of req; that scope can name the
// tool call that needs the input.
//
// Protocol: elicitation/create. Capability: elicitation.form or elicitation.url.
func (s *Session) CreateElicitation(ctx context.Context, req *acp.CreateElicitationRequest) (res *acp.CreateElicitationResponse, err error) {
	own := endpoint.ValueOf(req)
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
	err = s.asking(ctx, func() (err error) {
		res, err = s.conn.CreateElicitation(ctx, &own)
		return err
	})
	return res, err
}

// scoped returns the scope with the id of the session, if it is a scope of sessions.
func (s *Session) scoped(scope acp.ElicitationScope) acp.ElicitationScope {
	if of, ok := scope.(*acp.ElicitationSessionScope); ok {
		return &acp.ElicitationSessionScope{SessionID: s.id, ToolCallID: of.ToolCallID}
	}
	return scope
}

// AskPermission asks the user whether an action may proceed, and returns the option that
// the user chose. While it waits, the session's state is requires_action if foreground
// work is in progress and ctx is not that of background work. If subject names a tool
// call, the call need not have been announced before. If there are no options, the user
// can choose to allow or to reject the action once.
//
// If the work is cancelled, the error wraps [acp.ErrTurnCancelled] or is the error of ctx.
// It is also an error if the client returns an outcome of an unknown kind or an option
// that was not offered, so a nil error always comes with one of the options. Use [Allows]
// to determine whether the option allows the action.
//
// Protocol: session/request_permission.
func (s *Session) AskPermission(ctx context.Context, title string, subject acp.RequestPermissionSubject, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	if len(options) == 0 {
		options = []acp.PermissionOption{
			{OptionID: "allow_once", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: "reject_once", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
		}
	}
	res, err := s.RequestPermission(ctx, &acp.RequestPermissionRequest{Title: title, Subject: subject, Options: options})
	if err != nil {
		return acp.PermissionOption{}, err
	}
	switch outcome := res.Outcome.(type) {
	case *acp.SelectedPermissionOutcome:
		i := slices.IndexFunc(options, func(o acp.PermissionOption) bool { return o.OptionID == outcome.OptionID })
		if i < 0 {
			return acp.PermissionOption{}, fmt.Errorf("agent: the client chose the permission option %q, which was not offered", outcome.OptionID)
		}
		return options[i], nil
	case *acp.CancelledPermissionOutcome:
		return acp.PermissionOption{}, fmt.Errorf("asking for permission: %w", acp.ErrTurnCancelled)
	}
	return acp.PermissionOption{}, fmt.Errorf("agent: the response to the permission request has an outcome of an unknown kind (%T)", res.Outcome)
}

// AskPermission asks the user whether this tool call may proceed; see
// [Session.AskPermission].
func (t *ToolCall) AskPermission(ctx context.Context, title string, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	return t.session.AskPermission(ctx, title, &acp.ToolCallPermissionSubject{ToolCall: acp.ToolCallUpdate{ToolCallID: t.id}}, options...)
}

// RequestPermission sends req for the session and returns the response of the client as it
// is. It replaces the session's id in a copy of req. While it waits, the session's state is
// requires_action as for [Session.AskPermission]. Use that method unless the response
// itself is needed.
//
// Protocol: session/request_permission.
func (s *Session) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (res *acp.RequestPermissionResponse, err error) {
	own := endpoint.ValueOf(req)
	own.SessionID = s.id
	err = s.asking(ctx, func() (err error) {
		res, err = s.conn.RequestPermission(ctx, &own)
		return err
	})
	return res, err
}

// Allows reports whether the kind of the option allows the action.
func Allows(o acp.PermissionOption) bool {
	return o.Kind == acp.PermissionOptionKindAllowOnce || o.Kind == acp.PermissionOptionKindAllowAlways
}
