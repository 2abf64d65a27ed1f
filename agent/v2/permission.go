package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/rpc"
)

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

// RequestPermission sends req for the session and returns the response of the client as it
// is. It replaces the session's id in a copy of req. While it waits, the session's state is
// requires_action as for [Session.AskPermission]. Use that method unless the response
// itself is needed.
//
// Protocol: session/request_permission.
func (s *Session) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	var own acp.RequestPermissionRequest
	if req != nil {
		own = *req
	}
	own.SessionID = s.id
	var res *acp.RequestPermissionResponse
	err := s.asking(ctx, func() (err error) {
		res, err = s.conn.RequestPermission(ctx, &own)
		return err
	})
	return res, err
}

// asking calls ask, which waits for the user. Meanwhile the session's state is
// requires_action if foreground work is in progress. What background work asks does not
// block the foreground.
func (s *Session) asking(ctx context.Context, ask func() error) (err error) {
	if rpc.InBackground(ctx) {
		return ask()
	}
	if err := s.wait(ctx, 1); err != nil {
		return err
	}
	defer func() { // also when a middleware ends the goroutine
		if stateErr := s.wait(ctx, -1); err == nil {
			err = stateErr
		}
	}()
	return ask()
}

// wait adds by to the number of requests to the user that are in flight, and sends the
// session's state if that changes it. If one that begins cannot be told, it does not count.
func (s *Session) wait(ctx context.Context, by int) error {
	return s.conn.states.with(s.id, func(st *state) error {
		before := st.waiting > 0
		st.waiting += by
		if !st.working || before == (st.waiting > 0) {
			return nil
		}
		err := errExited
		defer func() { // also if a middleware ends the goroutine
			if err != nil && by > 0 {
				st.waiting -= by
			}
		}()
		err = s.sendState(ctx, st.update())
		return err
	})
}

// Allows reports whether the kind of the option allows the action.
func Allows(o acp.PermissionOption) bool {
	return o.Kind == acp.PermissionOptionKindAllowOnce || o.Kind == acp.PermissionOptionKindAllowAlways
}
