package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp"
)

// ui is the client: it shows what the agent does, asks the user, and lends the
// agent files and terminals.
type ui struct {
	*files
	*terminals
	screen  *screen
	lines   <-chan string
	yes, no bool
}

var (
	_ acp.Client         = (*ui)(nil)
	_ acp.TextFileReader = (*ui)(nil)
	_ acp.TextFileWriter = (*ui)(nil)
	_ acp.TerminalHost   = (*ui)(nil)
)

// SessionUpdate shows one update. It is called for one at a time, in order.
func (u *ui) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	u.screen.update(n.Update)
	return nil
}

// RequestPermission asks on the terminal, or answers as the flags say. It chooses by
// the kind of the options, never by their place, and rejects when nothing allows.
func (u *ui) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	u.screen.question(req, !u.yes && !u.no)
	if u.yes {
		return acp.SelectKind(req.Options, acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways), nil
	}
	reject := acp.SelectKind(req.Options, acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways)
	if u.no {
		return reject, nil
	}
	for {
		u.screen.prompt("choose a number: ")
		select {
		case line, ok := <-u.lines:
			if !ok { // nobody is there to say yes
				return reject, nil
			}
			n, err := strconv.Atoi(strings.TrimSpace(line))
			if err == nil && n >= 1 && n <= len(req.Options) {
				return acp.Selected(req.Options[n-1].OptionID), nil
			}
		case <-ctx.Done():
			return acp.Cancelled(), nil
		}
	}
}
