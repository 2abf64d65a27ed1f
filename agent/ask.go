package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// ErrNoInput is the error of [Session.AskForm] and [Session.OpenURL] if the user declined
// or dismissed the request.
var ErrNoInput = errors.New("agent: the user gave no input")

// AskForm asks the user to fill in a form, and returns the values by the names of their
// fields. A field that the user left empty has no entry. The values are not checked
// against the form: the caller must check them. A form must not ask for secrets. To name the
// tool call that needs the values, use [Session.CreateElicitation].
//
//	values, err := s.AskForm(ctx, "Which branch?", acp.ElicitationSchema{
//		Properties: map[string]acp.ElicitationPropertySchema{
//			"branch": &acp.StringPropertySchema{Enum: []string{"main", "next"}},
//		},
//	})
//	branch, ok := values["branch"].(acp.ElicitationString)
//
// Protocol: elicitation/create. Capability: elicitation.form.
func (s *Session) AskForm(ctx context.Context, message string, form acp.ElicitationSchema) (map[string]acp.ElicitationContentValue, error) {
	if form.Type == "" {
		form.Type = acp.ElicitationSchemaTypeObject
	}
	accepted, err := s.elicit(ctx, message, &acp.ElicitationFormMode{RequestedSchema: form, Scope: s.scope()})
	if err != nil {
		return nil, err
	}
	return accepted.Content, nil
}

// OpenURL asks the user to open a web page, for example to sign in. The URL must be an
// http or https URL. OpenURL returns when the user has agreed to open the page, not when
// the user has finished there. If the agent learns that the user has finished, it may
// report that to the client with [Conn.CompleteElicitation] and the id that OpenURL
// returned.
//
// Protocol: elicitation/create. Capability: elicitation.url.
func (s *Session) OpenURL(ctx context.Context, message, url string) (acp.ElicitationID, error) {
	id := acp.ElicitationID("elicitation_" + rand.Text())
	if _, err := s.elicit(ctx, message, &acp.ElicitationURLMode{ElicitationID: id, URL: url, Scope: s.scope()}); err != nil {
		return "", err
	}
	return id, nil
}

// CreateElicitation sends req and returns the response of the client as it is. If the scope
// of req is a session, it replaces the session's id in a copy of req; that scope can name the
// tool call that needs the input. Use [Session.AskForm] or [Session.OpenURL] unless the
// response itself or such a scope is needed.
//
// Protocol: elicitation/create. Capability: elicitation.form or elicitation.url.
func (s *Session) CreateElicitation(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
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
	return s.conn.CreateElicitation(ctx, &own)
}

// scoped returns the scope with the id of the session, if it is a scope of sessions.
func (s *Session) scoped(scope acp.ElicitationScope) acp.ElicitationScope {
	if of, ok := scope.(*acp.ElicitationSessionScope); ok {
		return &acp.ElicitationSessionScope{SessionID: s.id, ToolCallID: of.ToolCallID}
	}
	return scope
}

func (s *Session) scope() acp.ElicitationScope {
	return &acp.ElicitationSessionScope{SessionID: s.id}
}

func (s *Session) elicit(ctx context.Context, message string, mode acp.ElicitationMode) (*acp.ElicitationAcceptAction, error) {
	res, err := s.conn.CreateElicitation(ctx, &acp.CreateElicitationRequest{Message: message, Mode: mode})
	if err != nil {
		return nil, err
	}
	accepted, ok := res.Action.(*acp.ElicitationAcceptAction)
	if !ok { // an unknown action counts as cancel
		return nil, ErrNoInput
	}
	return accepted, nil
}

// AskPermission asks the user whether a tool call may proceed, and returns the option
// that the user chose. The call describes the tool call, which need not have been
// announced before. If there are no options, the user can choose to allow or to reject
// the call once.
//
// If the turn is cancelled, the error wraps [acp.ErrTurnCancelled] or is the error of
// ctx. It is also an error if the client returns an outcome of an unknown kind or an
// option that was not offered, so a nil error always comes with one of the options. Use
// [Allows] to determine whether the option allows the call:
//
//	choice, err := s.AskPermission(ctx, call)
//	if err != nil {
//		return err
//	}
//	if !agent.Allows(choice) { ... }
func (s *Session) AskPermission(ctx context.Context, call *acp.ToolCallUpdate, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	if len(options) == 0 {
		options = []acp.PermissionOption{
			{OptionID: "allow_once", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: "reject_once", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
		}
	}
	res, err := s.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{SessionID: s.id, ToolCall: endpoint.ValueOf(call), Options: options})
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
func (t *ToolCall) AskPermission(ctx context.Context, options ...acp.PermissionOption) (acp.PermissionOption, error) {
	return t.session.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: t.id}, options...)
}

// Allows reports whether the kind of the option allows the action.
func Allows(o acp.PermissionOption) bool {
	return o.Kind == acp.PermissionOptionKindAllowOnce || o.Kind == acp.PermissionOptionKindAllowAlways
}
