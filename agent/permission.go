package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp"
)

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
	if call == nil {
		call = &acp.ToolCallUpdate{}
	}
	if len(options) == 0 {
		options = []acp.PermissionOption{
			{OptionID: "allow_once", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: "reject_once", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
		}
	}
	res, err := s.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{
		SessionID: s.id, ToolCall: *call, Options: options,
	})
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

// Allows reports whether the kind of the option allows the call.
func Allows(o acp.PermissionOption) bool {
	return o.Kind == acp.PermissionOptionKindAllowOnce || o.Kind == acp.PermissionOptionKindAllowAlways
}
