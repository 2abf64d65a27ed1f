package signin_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/rpcerr"
)

var errRequired = rpcerr.AuthRequired(nil)

var _ signin.Conn = (*client.Conn)(nil)

// agent offers methods and records which was called.
type agent struct {
	methods []acp.AuthMethod
	called  acp.AuthMethodID
	err     error
}

func (a *agent) AuthMethods() []acp.AuthMethod { return a.methods }

func (a *agent) Authenticate(_ context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	a.called = req.MethodID
	return nil, a.err
}

// choose takes a way, and show shows any command.
func choose(id acp.AuthMethodID) func(context.Context, error, []signin.Way) (acp.AuthMethodID, error) {
	return func(context.Context, error, []signin.Way) (acp.AuthMethodID, error) { return id, nil }
}

func show(context.Context, *signin.Way, string) error { return nil }

func offer(t *testing.T, methods ...string) *agent {
	a := &agent{}
	for _, m := range methods {
		var res acp.InitializeResponse
		require.NoError(t, json.Unmarshal([]byte(`{"protocolVersion":1,"authMethods":[`+m+`]}`), &res))
		require.Len(t, res.AuthMethods, 1, m)
		a.methods = append(a.methods, res.AuthMethods[0])
	}
	return a
}

const (
	call      = `{"id":"login","name":"Log in"}`
	terminal  = `{"id":"tty","name":"On the terminal","type":"terminal","args":["--login"],"env":{"B":"2","A":"1"}}`
	olderTerm = `{"id":"old","name":"Old","_meta":{"terminal-auth":{"command":"/bin/agent","args":["login"],"env":{"X":"1"},"label":"L"}}}`
	variables = `{"id":"key","name":"Key","type":"env_var","vars":[{"name":"API_KEY"},{"name":"ORG","optional":true,"secret":false},"PLAIN","A=B"],"link":"https://k"}`
	oneVar    = `{"id":"key","name":"Key","type":"env_var","varName":"API_KEY"}`
	other     = `{"id":"x","name":"X","type":"hologram"}`
)

func TestWays(t *testing.T) {
	ways := signin.Ways(offer(t, call, terminal, olderTerm, variables, oneVar).methods)
	assert.Equal(t, []signin.Way{
		{ID: "login", Name: "Log in", Kind: signin.KindAgent},
		{ID: "tty", Name: "On the terminal", Kind: signin.KindTerminal, Args: []string{"--login"}, Env: map[string]string{"A": "1", "B": "2"}},
		{ID: "old", Name: "Old", Kind: signin.KindTerminal, Command: "/bin/agent", Args: []string{"login"}, Env: map[string]string{"X": "1"}},
		{ID: "key", Name: "Key", Kind: signin.KindVariables, Link: "https://k",
			Variables: []signin.Variable{{Name: "API_KEY", Secret: true}, {Name: "ORG", Optional: true}, {Name: "PLAIN", Secret: true}}},
		{ID: "key", Name: "Key", Kind: signin.KindVariables, Variables: []signin.Variable{{Name: "API_KEY", Secret: true}}},
	}, ways)
}

func TestCall(t *testing.T) {
	a := offer(t, call, terminal)
	r, err := signin.Do(t.Context(), a, errRequired, nil)
	require.NoError(t, err, "without a command it is the only one")
	assert.False(t, r.Reconnect)
	assert.EqualValues(t, "login", a.called)
	a.err = errors.New("refused")
	_, err = signin.Do(t.Context(), a, errRequired, nil)
	assert.ErrorIs(t, err, a.err)
}

func TestTerminal(t *testing.T) {
	var ran *exec.Cmd
	shown := ""
	opts := &signin.Options{
		Choose: choose("tty"),
		Show:   func(_ context.Context, _ *signin.Way, line string) error { shown = line; return nil },
		Command: func() *exec.Cmd {
			cmd := exec.Command("agent", "--acp")
			cmd.Env = []string{"HOME=/h"}
			return cmd
		},
		Run: func(_ context.Context, cmd *exec.Cmd) error { ran = cmd; return nil },
	}
	a := offer(t, terminal)
	r, err := signin.Do(t.Context(), a, errRequired, opts)
	require.NoError(t, err)
	assert.True(t, r.Reconnect)
	assert.Empty(t, a.called, "never passed to authenticate")
	assert.Equal(t, []string{"agent", "--acp", "--login"}, ran.Args)
	assert.Equal(t, []string{"HOME=/h", "A=1", "B=2"}, ran.Env)
	assert.Equal(t, "A=1 B=2 agent --acp --login", shown)

	t.Setenv("ACPKIT_TEST_SECRET", "s")
	opts.Choose = choose("old")
	_, err = signin.Do(t.Context(), offer(t, olderTerm), errRequired, opts)
	require.NoError(t, err)
	assert.Equal(t, []string{"/bin/agent", "login"}, ran.Args)
	assert.Contains(t, ran.Env, "X=1")
	assert.Contains(t, ran.Env, "PATH="+os.Getenv("PATH"))
	for _, secret := range []string{"HOME=/h", "ACPKIT_TEST_SECRET=s"} {
		assert.NotContains(t, ran.Env, secret, "it gets the listed variables, as a command in a terminal does")
	}
	assert.Equal(t, "X=1 /bin/agent login", shown)
	opts.Choose = choose("tty")
	opts.Command = func() *exec.Cmd { return exec.Command("agent") }
	_, err = signin.Do(t.Context(), a, errRequired, opts)
	require.NoError(t, err)
	assert.Greater(t, len(ran.Env), 2, "the environment of this program")

	opts.Run = func(context.Context, *exec.Cmd) error { return errors.New("status 1") }
	_, err = signin.Do(t.Context(), a, errRequired, opts)
	assert.ErrorContains(t, err, "status 1")
	opts.Show = func(context.Context, *signin.Way, string) error { return errors.New("not this one") }
	opts.Run = func(context.Context, *exec.Cmd) error { t.Error("it was run"); return nil }
	_, err = signin.Do(t.Context(), a, errRequired, opts)
	assert.ErrorContains(t, err, "not this one")
}

// A command that the agent chooses runs only if the user has chosen it, and sees it.
func TestNoCommandWithoutTheUser(t *testing.T) {
	command := func() *exec.Cmd { return exec.Command("agent") }
	ran := func(context.Context, *exec.Cmd) error { t.Error("it was run"); return nil }
	for name, way := range map[string]string{"the agent's": terminal, "another": olderTerm} {
		for missing, opts := range map[string]*signin.Options{
			"Choose": {Command: command, Run: ran, Show: show},
			"Show":   {Command: command, Run: ran, Choose: choose("old")},
			"both":   {Command: command, Run: ran},
		} {
			_, err := signin.Do(t.Context(), offer(t, way), errRequired, opts)
			assert.ErrorIs(t, err, signin.ErrNoWay, "%s without %s", name, missing)
		}
	}
}

func TestRunOnThisTerminal(t *testing.T) {
	if os.Getenv("ACPKIT_TEST_SIGNIN") != "" {
		if slices.Contains(os.Args, "--login") {
			thinking := make(chan os.Signal, 1)
			signal.Notify(thinking, os.Interrupt)
			<-thinking // the user decides
		}
		os.Exit(4)
	}
	again := func(args ...string) func() *exec.Cmd {
		return func() *exec.Cmd {
			cmd := exec.Command(os.Args[0], append([]string{"-test.run=TestRunOnThisTerminal", "--"}, args...)...)
			cmd.Env = append(os.Environ(), "ACPKIT_TEST_SIGNIN=1")
			return cmd
		}
	}
	var exit *exec.ExitError
	_, err := signin.Do(t.Context(), offer(t, `{"id":"t","name":"T","type":"terminal"}`), errRequired, &signin.Options{Command: again(), Choose: choose("t"), Show: show})
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 4, exit.ExitCode())

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = signin.Do(ctx, offer(t, terminal), errRequired, &signin.Options{Command: again(), Choose: choose("tty"), Show: show})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = signin.Do(t.Context(), offer(t, terminal), errRequired, &signin.Options{Command: func() *exec.Cmd { return exec.Command("/no/such/agent") }, Choose: choose("tty"), Show: show})
	missing := os.ErrNotExist
	if runtime.GOOS == "windows" { // os/exec tries each extension of PATHEXT there
		missing = exec.ErrNotFound
	}
	assert.ErrorIs(t, err, missing)
}

func TestVariables(t *testing.T) {
	values := map[string]string{"API_KEY": "k", "PLAIN": "p", "UNASKED": "x"}
	opts := &signin.Options{Variables: func(_ context.Context, w *signin.Way) (map[string]string, error) { return values, nil }}
	r, err := signin.Do(t.Context(), offer(t, variables), errRequired, opts)
	require.NoError(t, err)
	assert.True(t, r.Reconnect)
	assert.Equal(t, []string{"API_KEY=k", "PLAIN=p"}, r.Env)
	delete(values, "API_KEY")
	_, err = signin.Do(t.Context(), offer(t, variables), errRequired, opts)
	assert.ErrorContains(t, err, "API_KEY has no value")
	opts.Variables = func(context.Context, *signin.Way) (map[string]string, error) { return nil, errors.New("no") }
	_, err = signin.Do(t.Context(), offer(t, variables), errRequired, opts)
	assert.ErrorContains(t, err, "no")
}

func TestChoosing(t *testing.T) {
	_, err := signin.Do(t.Context(), offer(t, variables, terminal), errRequired, nil)
	assert.ErrorIs(t, err, signin.ErrNoWay)
	_, err = signin.Do(t.Context(), offer(t), errRequired, nil)
	assert.ErrorIs(t, err, signin.ErrNoWay)
	_, err = signin.Do(t.Context(), offer(t, olderTerm), errRequired, nil)
	assert.ErrorIs(t, err, signin.ErrNoWay, "there is no terminal for the command that it names either")
	both := offer(t, call, `{"id":"b","name":"B"}`, other)
	_, err = signin.Do(t.Context(), both, errRequired, nil)
	assert.ErrorContains(t, err, "ways to sign in")
	for id, ok := range map[acp.AuthMethodID]bool{"b": true, "c": false} {
		_, err = signin.Do(t.Context(), both, errRequired, &signin.Options{Choose: func(context.Context, error, []signin.Way) (acp.AuthMethodID, error) { return id, nil }})
		assert.Equal(t, ok, err == nil)
	}
	assert.EqualValues(t, "b", both.called)
	no := errors.New("no")
	_, err = signin.Do(t.Context(), both, errRequired, &signin.Options{Choose: func(_ context.Context, required error, _ []signin.Way) (acp.AuthMethodID, error) {
		assert.Equal(t, errRequired, required, "its reason is for the user")
		return "", no
	}})
	assert.ErrorIs(t, err, no)
}

// The agent gives two ways the same id, and the user has chosen one of them.
func TestWaysWithTheSameID(t *testing.T) {
	opts := &signin.Options{
		Command: func() *exec.Cmd { return exec.Command("agent") },
		Show:    show,
		Run:     func(context.Context, *exec.Cmd) error { return errors.New("it was run") },
		Choose: func(_ context.Context, _ error, ways []signin.Way) (acp.AuthMethodID, error) {
			return ways[len(ways)-1].ID, nil
		},
	}
	a := offer(t, `{"id":"login","name":"Terminal","type":"terminal","args":["x"]}`, call)
	_, err := signin.Do(t.Context(), a, errRequired, opts)
	assert.ErrorContains(t, err, "same id")
	assert.Empty(t, a.called)
	a = offer(t, `{"id":"login","name":"Another name"}`, call)
	_, err = signin.Do(t.Context(), a, errRequired, opts)
	assert.NoError(t, err, "both do the same")
	assert.EqualValues(t, "login", a.called)
}

func TestInstruction(t *testing.T) {
	for raw, want := range map[string]string{
		terminal:  "run A=1 B=2 my agent --login",
		olderTerm: "run X=1 /bin/agent login",
		call:      "",
		`{"id":"t","name":"T","type":"terminal","args":["a b","it's","","$HOME"],"env":{"K":"x y"}}`:                `run K='x y' my agent 'a b' 'it'\''s' '' '$HOME'`,
		`{"id":"o","name":"O","_meta":{"terminal-auth":{"command":"/Applications/My Agent/run"}}}`:                  `run '/Applications/My Agent/run'`,
		`{"id":"k","name":"K","type":"env_var","vars":["A",{"name":"B","optional":true},"C"],"link":"https://l"}`:   "set A, C in the agent's environment, with a value from https://l",
		`{"id":"k","name":"K","type":"env_var","vars":[{"name":"A","optional":true},{"name":"B","optional":true}]}`: "set any of A, B in the agent's environment",
	} {
		ways := signin.Ways(offer(t, raw).methods)
		require.Len(t, ways, 1)
		assert.Equal(t, want, ways[0].Instruction("my agent"))
	}
}

// No command is run if ctx has ended before the user decides.
func TestChoiceThatComesLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := signin.Do(ctx, offer(t, terminal), errRequired, &signin.Options{
		Command: func() *exec.Cmd { return exec.Command("agent") },
		Show:    show,
		Run:     func(context.Context, *exec.Cmd) error { t.Error("it was run"); return nil },
		Choose:  func(context.Context, error, []signin.Way) (acp.AuthMethodID, error) { cancel(); return "tty", nil },
	})
	assert.ErrorIs(t, err, context.Canceled)
}

// A command that nobody can read is none that a person could choose.
func TestCommandsThatNobodyCanRead(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, way := range []string{
		`{"id":"t","name":"T","type":"terminal","args":["` + long + `"]}`, `{"id":"t","name":"T","type":"terminal","env":{"A":"` + long + `"}}`,
		`{"id":"t","name":"T","_meta":{"terminal-auth":{"command":"` + long + `"}}}`,
	} {
		ways := signin.Ways(offer(t, way).methods)
		assert.Equal(t, []signin.Way{{ID: "t", Name: "T", Kind: signin.KindUnknown}}, ways)
	}
}
