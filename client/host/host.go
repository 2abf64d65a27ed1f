package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/reserve"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Host serves agents. One Host may serve any number of connections. It is safe for
// concurrent use.
type Host struct {
	opts    Options
	policy  *permission.Policy
	folders *files.Folders  // nil without roots
	pool    *terminals.Pool // nil if terminals are off
	results reserve.Budget
}

// Open opens the folders and returns a Host. It is an error if a folder cannot be opened, or
// if the options contradict each other.
func Open(opts *Options) (*Host, error) {
	h := &Host{}
	if opts != nil {
		h.opts = *opts
	}
	if err := h.opts.check(); err != nil {
		return nil, err
	}
	var rules permission.Options
	if h.opts.Permission != nil {
		rules = *h.opts.Permission
	}
	rules.Ask = h.opts.Ask
	h.policy = permission.New(&rules)
	if err := h.policy.SetRules(h.opts.Rules...); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	if len(h.opts.Roots) == 0 {
		return h, nil
	}
	var below files.Options
	if h.opts.Files != nil {
		below = *h.opts.Files
	}
	below.Roots = h.opts.Roots
	var err error
	if h.folders, err = files.Open(&below); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	if h.opts.Terminals != nil {
		h.pool = terminals.New(h.folders, h.opts.Terminals)
	}
	return h, nil
}

// Close ends all commands and closes the folders. It returns nil when nothing is left of the
// commands and the writes in progress are done; see [terminals.Pool.Close] for the error.
// Connections are not closed, and their requests for files and terminals fail; close them first.
func (h *Host) Close() error {
	var errs []error
	if h.pool != nil {
		errs = append(errs, h.pool.Close())
	}
	if h.folders != nil {
		errs = append(errs, h.folders.Close())
	}
	return errors.Join(errs...)
}

// Policy returns the policy for all connections. With it a program can change the rules, and list
// and revoke what the user has always allowed.
func (h *Host) Policy() *permission.Policy { return h.policy }

// Client returns the client of one connection. It serves the methods of the enabled parts,
// and no others; see [acp.Selective]. Pass this method to client.New or client.Connect.
func (h *Host) Client(conn *client.Conn) acp.Client {
	var off acp.ClientWrapper // its optional methods fail with -32601
	s := &seat{
		TextFileReader: off, TextFileWriter: off, TerminalHost: off, Elicitor: off, ElicitationCompleter: off,
		host: h, conn: conn, scope: h.policy.Scope(),
	}
	h.results.Admit(conn)
	s.Requests = permission.Requests{Scope: s.scope, Session: session, Agent: s.agent}
	conn.OnSessionEnd(func(id acp.SessionID) { s.scope.EndSession(string(id)) })
	conn.OnEnd(s.scope.Close)
	switch {
	case h.folders == nil:
	case h.opts.ReadOnly:
		s.TextFileReader = h.folders.Reader(conn, s.file)
	default:
		both := h.folders.ReadWriter(conn, s.file)
		s.TextFileReader, s.TextFileWriter = both, both
	}
	if h.pool != nil {
		s.TerminalHost = h.pool.Terminals(conn, s.command)
	}
	switch {
	case h.opts.Page != nil:
		both := &elicitation.FormsAndPages{Ask: h.opts.Form, Open: h.opts.Page, Completed: h.opts.PageDone}
		s.Elicitor, s.ElicitationCompleter = both, both
	case h.opts.Form != nil:
		s.Elicitor = &elicitation.Forms{Ask: h.opts.Form}
	}
	return s
}

// Capabilities returns the capabilities of c, which is or wraps a result of Client, or nil for such a result:
// those of client.Capabilities and those that have no interface. Add the capabilities of the program, such
// as notices, and pass the result to client.Conn.Initialize.
func (h *Host) Capabilities(c acp.Client) *acp.ClientCapabilities {
	if c == nil {
		c = &seat{host: h}
	}
	caps := client.Capabilities(c)
	if h.opts.SignIn != nil && h.opts.SignIn.RunsCommands() {
		caps.Auth = &acp.AuthCapabilities{Terminal: true}
		caps.Meta = acp.Meta{signin.OlderTerminal: true}
	}
	return caps
}

// seat is the client of one connection.
type seat struct {
	permission.Requests
	acp.TextFileReader
	acp.TextFileWriter
	acp.TerminalHost
	acp.Elicitor
	acp.ElicitationCompleter

	host  *Host
	conn  *client.Conn
	scope *permission.Scope
}

func (s *seat) Handles(method string) bool {
	switch method {
	case acp.MethodFSReadTextFile:
		return s.host.folders != nil
	case acp.MethodFSWriteTextFile:
		return s.host.folders != nil && !s.host.opts.ReadOnly
	case acp.MethodElicitationCreate:
		return s.host.opts.Form != nil || s.host.opts.Page != nil
	case acp.MethodElicitationComplete:
		return s.host.opts.Page != nil
	}
	return s.host.pool != nil // terminals
}

// SessionUpdate records what the update reports about tool calls, for the questions about them.
func (s *seat) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	if roots, _, _ := client.Asked(ctx, n.SessionID); roots != nil {
		s.scope.Apply(n.SessionID, n.Update)
	}
	if s.host.opts.Update == nil {
		return nil
	}
	return s.host.opts.Update(ctx, n)
}

// session returns the folder and the turn of a session, and reports whether it is open.
func session(ctx context.Context, id acp.SessionID) (workspace string, turn uint64, known bool) {
	roots, turn, known := client.Asked(ctx, id)
	if len(roots) > 0 {
		workspace = roots[0]
	}
	return workspace, turn, known
}

func (s *seat) agent() string {
	if info := s.conn.PeerInfo(); info != nil {
		return info.Name
	}
	return ""
}

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
	ctx, stop := client.TurnContext(ctx, id)
	defer stop()
	a.Session, a.Agent = string(id), s.agent()
	a.Workspace, a.Turn, _ = session(ctx, id)
	err := s.scope.Authorize(ctx, a)
	if errors.Is(err, acp.ErrTurnCancelled) {
		return rpcerr.RequestCancelled(nil).WithCause(err)
	}
	return err
}
