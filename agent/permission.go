// Copied to agent/v2 by go generate.

package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp"
)

// askPermission sends req for the session, with options if it has none, and returns the option
// that the user chose.
func (s *Session) askPermission(ctx context.Context, req acp.RequestPermissionRequest) (acp.PermissionOption, error) {
	if len(req.Options) == 0 {
		req.Options = []acp.PermissionOption{
			{OptionID: "allow_once", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: "reject_once", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
		}
	}
	res, err := s.requestPermission(ctx, req)
	if err != nil {
		return acp.PermissionOption{}, err
	}
	switch outcome := res.Outcome.(type) {
	case *acp.SelectedPermissionOutcome:
		i := slices.IndexFunc(req.Options, func(o acp.PermissionOption) bool { return o.OptionID == outcome.OptionID })
		if i < 0 {
			return acp.PermissionOption{}, fmt.Errorf("agent: the client chose the permission option %q, which was not offered", outcome.OptionID)
		}
		return req.Options[i], nil
	case *acp.CancelledPermissionOutcome:
		return acp.PermissionOption{}, fmt.Errorf("asking for permission: %w", acp.ErrTurnCancelled)
	}
	return acp.PermissionOption{}, fmt.Errorf("agent: the response to the permission request has an outcome of an unknown kind (%T)", res.Outcome)
}

func (s *Session) requestPermission(ctx context.Context, req acp.RequestPermissionRequest) (res *acp.RequestPermissionResponse, err error) {
	req.SessionID = s.id
	err = s.asking(ctx, func() (err error) {
		res, err = s.conn.RequestPermission(ctx, &req)
		return err
	})
	return res, err
}

// Allows reports whether the kind of the option allows the action.
func Allows(o acp.PermissionOption) bool {
	return o.Kind == acp.PermissionOptionKindAllowOnce || o.Kind == acp.PermissionOptionKindAllowAlways
}
