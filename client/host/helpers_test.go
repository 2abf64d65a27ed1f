package host_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// script is an agent whose turns are set by the test.
type script struct {
	*agent.Conn
	cwd  string // of the last session
	turn func(ctx context.Context, id acp.SessionID) error
	open func(ctx context.Context, id acp.SessionID) // before the response that names the session; may be nil
}

// agent is the agent of a connection.
func (s *script) agent(c *agent.Conn) acp.Agent {
	s.Conn = c
	return &peertest.Agent{
		OnInitialize: func(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
			return &acp.InitializeResponse{AgentInfo: &acp.Implementation{Name: "scripted", Version: "1"}}, nil
		},
		OnNewSession: func(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
			s.cwd = req.Cwd
			if s.open != nil {
				s.open(ctx, "s")
			}
			return &acp.NewSessionResponse{SessionID: "s"}, nil
		},
		OnPrompt: peertest.Prompts(c, func(ctx context.Context, _ *agent.Session, req *acp.PromptRequest) error {
			return s.turn(ctx, req.SessionID)
		}),
	}
}

// fixture is a host with an agent, connected and with a session.
type fixture struct {
	t       *testing.T
	dir     string
	host    *host.Host
	agent   *script
	conn    *client.Conn
	session *client.Session
	around  func(acp.Client) acp.Client // of the host; nil for none

	mu      sync.Mutex // guards both
	records []permission.Record
	asked   []permission.Question
}

func newFixture(t *testing.T, opts host.Options) *fixture {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	if len(opts.Roots) > 0 {
		dir = opts.Roots[0]
	}
	x := &fixture{t: t, dir: dir}
	opts.Roots = []string{dir}
	var rules permission.Options
	if opts.Permission != nil {
		rules = *opts.Permission
	}
	rules.Audit = func(r permission.Record) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.records = append(x.records, r)
	}
	opts.Permission = &rules
	if ask := opts.Ask; ask != nil {
		opts.Ask = func(ctx context.Context, q *permission.Question) (string, error) {
			x.mu.Lock()
			x.asked = append(x.asked, *q)
			x.mu.Unlock()
			return ask(ctx, q)
		}
	}
	x.host, err = host.Open(&opts)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, x.host.Close()) })
	x.connect(&client.Options{})
	return x
}

// connect connects another agent, and opens a session.
func (x *fixture) connect(opts *client.Options) {
	a, b := stream.Pipe()
	s := &script{}
	opts.Logger = slog.New(slog.DiscardHandler)
	end := agent.New(a, s.agent, &agent.Options{Logger: opts.Logger, IgnoreCapabilities: true})
	require.NoError(x.t, end.Start(context.Background()))
	conn, err := client.Connect(context.Background(), b, func(c *client.Conn) acp.Client {
		if x.around != nil {
			return x.around(x.host.Client(c))
		}
		return x.host.Client(c)
	}, opts)
	require.NoError(x.t, err)
	x.t.Cleanup(func() {
		conn.Close()
		assert.NoError(x.t, conn.Wait())
		assert.NoError(x.t, end.Wait())
	})
	x.session, err = conn.StartSession(x.t.Context(), &acp.NewSessionRequest{Cwd: x.dir})
	require.NoError(x.t, err)
	x.agent, x.conn = s, conn
}

func (x *fixture) run(turn func(ctx context.Context, id acp.SessionID) error) error {
	x.agent.turn = turn
	_, err := x.session.Prompt(x.t.Context(), acp.Text("go")).Wait()
	return err
}

func (x *fixture) path(name string) string { return filepath.Join(x.dir, name) }

func (x *fixture) write(ctx context.Context, name, text string) error {
	_, err := x.agent.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: "s", Path: x.path(name), Content: text})
	return err
}

func (x *fixture) command(ctx context.Context, req acp.CreateTerminalRequest) error {
	req.SessionID = "s"
	_, err := x.agent.CreateTerminal(ctx, &req)
	return err
}

// ask asks for permission to edit a file, as agents do, and returns the id of the chosen option.
func (x *fixture) ask(ctx context.Context, name, text string) (string, error) {
	res, err := x.agent.RequestPermission(ctx, &acp.RequestPermissionRequest{
		SessionID: "s",
		ToolCall: acp.ToolCallUpdate{ToolCallID: "1", Title: "Edit " + name, Kind: acp.ToolKindEdit, Content: []acp.ToolCallContent{
			&acp.Diff{Path: x.path(name), NewText: text},
		}},
		Options: []acp.PermissionOption{{OptionID: "A", Name: "Always", Kind: acp.PermissionOptionKindAllowAlways},
			{OptionID: "y", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}, {OptionID: "n", Name: "No", Kind: acp.PermissionOptionKindRejectOnce}},
	})
	if err != nil {
		return "", err
	}
	if o, ok := res.Outcome.(*acp.SelectedPermissionOutcome); ok {
		return string(o.OptionID), nil
	}
	return "cancelled", nil
}

func (x *fixture) questions() []permission.Question {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked
}

func pick(kind string) func(context.Context, *permission.Question) (string, error) {
	return func(_ context.Context, q *permission.Question) (string, error) { return q.Pick(kind), nil }
}

func denied(t *testing.T, err error) {
	t.Helper()
	code, ok := rpcerr.CodeOf(err)
	assert.True(t, ok, "%v", err)
	assert.Equal(t, rpcerr.Code(-31005), code)
}

func (x *fixture) gone(name string) {
	x.t.Helper()
	assert.NoFileExists(x.t, x.path(name))
}

func echo(text string) acp.CreateTerminalRequest {
	if runtime.GOOS == "windows" {
		return acp.CreateTerminalRequest{Command: "cmd", Args: []string{"/c", "echo", text}}
	}
	return acp.CreateTerminalRequest{Command: "echo", Args: []string{text}}
}
