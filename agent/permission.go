package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp"
)

// AskPermission asks the person at the client whether a tool call may go on, and
// returns the option that was chosen. Call says what it is about; it may be the
// first mention of the tool call. Without options the choice is between allowing and
// rejecting once.
//
// When the turn was cancelled instead, the error wraps [acp.ErrTurnCancelled] or is
// that of ctx. An outcome the SDK does not know, or an option that was not offered,
// is an error too, so that nothing but a clear yes counts as one:
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
			return acp.PermissionOption{}, fmt.Errorf("agent: client chose the permission option %q, which was not offered", outcome.OptionID)
		}
		return options[i], nil
	case *acp.CancelledPermissionOutcome:
		return acp.PermissionOption{}, fmt.Errorf("asking for permission: %w", acp.ErrTurnCancelled)
	}
	return acp.PermissionOption{}, fmt.Errorf("agent: client answered the permission request with an outcome of unknown kind (%T)", res.Outcome)
}

// Allows tells whether choosing the option means yes, by its kind.
func Allows(o acp.PermissionOption) bool {
	return o.Kind == acp.PermissionOptionKindAllowOnce || o.Kind == acp.PermissionOptionKindAllowAlways
}
