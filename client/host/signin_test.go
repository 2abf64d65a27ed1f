package host_test

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// locked is an agent that opens sessions and refuses prompts until the user has signed in.
type locked struct {
	peertest.Agent
	conn    *agent.Conn
	methods []acp.AuthMethod
	stays   bool // locked, also after a call of authenticate
	speaks  bool // sends an update before it refuses the second prompt
	signed  bool
	prompts int
}

func (a *locked) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AuthMethods: a.methods}, nil
}

func (a *locked) Authenticate(_ context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	if req.MethodID == "refused" {
		return nil, rpcerr.InvalidParams(nil)
	}
	a.signed = !a.stays
	return &acp.AuthenticateResponse{}, nil
}

func (a *locked) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	a.prompts++
	if a.speaks && a.prompts == 2 {
		if err := a.conn.Session(req.SessionID).Message(ctx, "on it"); err != nil {
			return nil, err
		}
	}
	if !a.signed {
		return nil, rpcerr.AuthRequired(nil)
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func method(id acp.AuthMethodID) acp.AuthMethod { return &acp.AuthMethodAgent{ID: id, Name: "M"} }

func TestSignIn(t *testing.T) {
	terminal := &acp.AuthMethodTerminal{ID: "tty", Name: "T", Args: []string{"login"}}
	variable := &acp.UnknownAuthMethod{Type: "env_var", Raw: []byte(`{"id":"key","name":"K","type":"env_var","varName":"API_KEY"}`)}
	ran := false
	all := &signin.Options{
		Command: func() *exec.Cmd { return exec.Command("agent") },
		Choose:  func(_ context.Context, _ error, ways []signin.Way) (acp.AuthMethodID, error) { return ways[0].ID, nil },
		Show:    func(context.Context, *signin.Way, string) error { return nil },
		Run:     func(_ context.Context, cmd *exec.Cmd) error { ran = true; return nil },
		Variables: func(context.Context, *signin.Way) (map[string]string, error) {
			return map[string]string{"API_KEY": "k"}, nil
		},
	}
	for name, tt := range map[string]struct {
		opts    *signin.Options
		agent   *locked
		prompts int
		check   func(t *testing.T, err error, restart *host.RestartError)
	}{
		"a call": {&signin.Options{}, &locked{methods: []acp.AuthMethod{method("m")}}, 2, func(t *testing.T, err error, _ *host.RestartError) {
			assert.NoError(t, err)
		}},
		"not set up": {nil, &locked{methods: []acp.AuthMethod{method("m")}}, 1, func(t *testing.T, err error, restart *host.RestartError) {
			assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
			assert.Nil(t, restart)
		}},
		"a call that is refused": {&signin.Options{}, &locked{methods: []acp.AuthMethod{method("refused")}}, 1, func(t *testing.T, err error, restart *host.RestartError) {
			assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
			assert.Nil(t, restart)
		}},
		"a call that is not enough": {&signin.Options{}, &locked{stays: true, methods: []acp.AuthMethod{method("m")}}, 2, func(t *testing.T, err error, restart *host.RestartError) {
			require.NotNil(t, restart)
			assert.Equal(t, signin.KindAgent, restart.Way.Kind)
			assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
		}},
		"a call, then an effect": {&signin.Options{}, &locked{stays: true, speaks: true, methods: []acp.AuthMethod{method("m")}}, 2, func(t *testing.T, err error, restart *host.RestartError) {
			assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
			assert.Nil(t, restart, "the prompt must not be sent again")
		}},
		"a terminal": {all, &locked{methods: []acp.AuthMethod{terminal}}, 1, func(t *testing.T, err error, restart *host.RestartError) {
			require.NotNil(t, restart)
			assert.True(t, ran)
			assert.EqualValues(t, "tty", restart.Way.ID)
			assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
		}},
		"a variable": {all, &locked{methods: []acp.AuthMethod{variable}}, 1, func(t *testing.T, _ error, restart *host.RestartError) {
			require.NotNil(t, restart)
			assert.Equal(t, []string{"API_KEY=k"}, restart.Env)
			assert.NotContains(t, restart.Error(), "API_KEY=k")
		}},
		"no terminal": {&signin.Options{}, &locked{methods: []acp.AuthMethod{terminal}}, 1, func(t *testing.T, err error, restart *host.RestartError) {
			assert.ErrorIs(t, err, signin.ErrNoWay)
			assert.ErrorIs(t, err, rpcerr.ErrAuthRequired, "so that client.Explain lists the ways")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := host.Open(&host.Options{SignIn: tt.opts})
			require.NoError(t, err)
			defer h.Close()
			a, b := stream.Pipe()
			quiet := slog.New(slog.DiscardHandler)
			end := agent.New(a, func(c *agent.Conn) acp.Agent { tt.agent.conn = c; return tt.agent }, &agent.Options{Logger: quiet})
			require.NoError(t, end.Start(context.Background()))
			conn, err := client.Connect(context.Background(), b, h.Client, &client.Options{Logger: quiet})
			require.NoError(t, err)
			defer func() {
				conn.Close()
				assert.NoError(t, conn.Wait())
				assert.NoError(t, end.Wait())
			}()
			session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
			require.NoError(t, err)
			err = h.SignIn(t.Context(), conn, func(ctx context.Context) error {
				_, err := session.Prompt(ctx, acp.Text("hello")).Wait()
				return err
			})
			restart, _ := errors.AsType[*host.RestartError](err)
			tt.check(t, err, restart)
			assert.Equal(t, tt.prompts, tt.agent.prompts)
		})
	}
}
