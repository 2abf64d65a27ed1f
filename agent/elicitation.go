package agent

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/acpkit/go-sdk/acp"
)

// ErrNoInput is what [Session.AskForm] and [Session.OpenURL] return when the person at
// the client did not do what was asked: they said no, or closed the question.
var ErrNoInput = errors.New("agent: the user gave no input")

// AskForm asks the person at the client to fill in a form, and returns the values by
// the names of its fields. Secrets must not be asked for in this way. What the person
// left empty is not there, and values are as the client sent them: check them.
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
	accepted, err := s.elicit(ctx, message, &acp.ElicitationFormMode{RequestedSchema: form, Scope: s.scope()})
	if err != nil {
		return nil, err
	}
	return accepted.Content, nil
}

// OpenURL asks the person at the client to open a web page, an http or https one, such
// as one to sign in at. It returns when they have agreed to, not when they are done
// there. Only the agent can learn of that; it may tell the client, with the id that is
// returned, by [Conn.CompleteElicitation].
//
// Protocol: elicitation/create. Capability: elicitation.url.
func (s *Session) OpenURL(ctx context.Context, message, url string) (acp.ElicitationID, error) {
	id := acp.ElicitationID("elicitation_" + rand.Text())
	if _, err := s.elicit(ctx, message, &acp.ElicitationURLMode{ElicitationID: id, URL: url, Scope: s.scope()}); err != nil {
		return "", err
	}
	return id, nil
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
	if !ok { // actions that are not known mean the same as a cancel
		return nil, ErrNoInput
	}
	return accepted, nil
}
