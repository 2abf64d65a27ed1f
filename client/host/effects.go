package host

import (
	"context"
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/rpcerr"
)

func (s *seat) file(ctx context.Context, o *files.Operation) error {
	a := permission.Act{Operation: permission.Operation{Action: permission.ActionRead, Path: o.Path}}
	if o.Write {
		a.Operation.Action, a.Operation.Digest = permission.ActionWrite, permission.DigestOf(o.Content)
		a.Text = &o.Content
	}
	return s.authorize(ctx, o.Session, a)
}

func (s *seat) command(ctx context.Context, c *terminals.Command) error {
	a := permission.Act{Operation: permission.Operation{Action: permission.ActionCommand, Argv: slices.Clone(c.Argv), Shell: c.Shell, Cwd: c.Cwd}}
	if !c.Shell {
		a.Operation.Program = c.Path
	}
	for _, v := range c.AgentEnv {
		a.Variables = append(a.Variables, permission.Variable{Name: v.Name, Value: v.Value})
	}
	if err := s.authorize(ctx, c.Session, a); err != nil {
		return err
	}
	c.Consented = c.Unlisted // the policy has judged them: they are in Operation.Env
	return nil
}

// authorize applies the policy. It fails if the turn is cancelled while the user decides.
func (s *seat) authorize(ctx context.Context, id acp.SessionID, a permission.Act) error {
	ctx, stop := s.conn.TurnContext(ctx, id)
	defer stop()
	a.Session, a.Agent = string(id), s.agent()
	a.Workspace, a.Turn, _ = s.session(id)
	err := s.scope.Authorize(ctx, a)
	if errors.Is(err, acp.ErrTurnCancelled) {
		return rpcerr.RequestCancelled(nil).WithCause(err)
	}
	return err
}
