package host

import (
	"context"
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/rpcerr"
)

// write lets the policy judge a write.
func (s *seat) write(ctx context.Context, o *files.Operation) error {
	if !o.Write {
		return nil
	}
	return s.authorize(ctx, o.Session, permission.Operation{
		Action: permission.ActionWrite, Path: o.Path, Digest: permission.DigestOf(o.Content),
	}, &o.Content)
}

// command lets the policy judge a command, with the arguments that will run.
func (s *seat) command(ctx context.Context, c *terminals.Command) error {
	o := permission.Operation{Action: permission.ActionCommand, Argv: slices.Clone(c.Argv), Shell: c.Shell, Cwd: c.Cwd}
	if !c.Shell {
		o.Program = c.Path
	}
	var values []string
	for _, v := range c.AgentEnv {
		o.Env = append(o.Env, v.Name)
		values = append(values, v.Name+"="+v.Value)
	}
	if len(values) > 0 {
		slices.Sort(values)
		o.EnvDigest = permission.DigestOf(values...)
	}
	if err := s.authorize(ctx, c.Session, o, nil); err != nil {
		return err
	}
	c.Consented = c.Unlisted // the policy has judged them: they are in o.Env
	return nil
}

// authorize judges what the agent does; text is what it writes, if anything. If the turn is cancelled while the user thinks, it is
// not done.
func (s *seat) authorize(ctx context.Context, id acp.SessionID, o permission.Operation, text *string) error {
	ctx, stop := s.conn.TurnContext(ctx, id)
	defer stop()
	a := permission.Act{Session: string(id), Agent: s.agent(), Operation: o, Text: text}
	a.Workspace, a.Turn, _ = s.session(id)
	err := s.scope.Authorize(ctx, a)
	if errors.Is(err, acp.ErrTurnCancelled) {
		return rpcerr.RequestCancelled(nil).WithCause(err)
	}
	return err
}

// elicitor shows forms and pages of sessions that are open, and of none.
type elicitor struct {
	acp.Elicitor
	conn *client.Conn
}

func (e elicitor) CreateElicitation(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	var scope acp.ElicitationScope
	switch m := req.Mode.(type) {
	case *acp.ElicitationFormMode:
		scope = m.Scope
	case *acp.ElicitationURLMode:
		scope = m.Scope
	}
	if s, ok := scope.(*acp.ElicitationSessionScope); ok && !e.conn.HasSession(s.SessionID) {
		return nil, permission.ErrUnknownSession
	}
	return e.Elicitor.CreateElicitation(ctx, req)
}
