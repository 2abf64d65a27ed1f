package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// playEnv makes the test binary an agent. Its value is a lockedAgent as JSON.
const playEnv = "CHAT_TEST_AGENT"

// mainEnv makes the test binary run chat itself.
const mainEnv = "CHAT_TEST_MAIN"

// programsEnv names a folder with the built examples, for systems without a go command.
const programsEnv = "EXAMPLES_TEST_PROGRAMS"

// built returns a folder with the example agent and the bridge, which are built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv(programsEnv); dir != "" {
		return dir, nil
	}
	dir, err := os.MkdirTemp("", "example-agent")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"agent", "bridge"} {
		path := filepath.Join(dir, name+".exe") // any name will do elsewhere than on Windows
		out, err := exec.Command("go", "build", "-ldflags=-w", "-o", path, "github.com/acpkit/go-sdk/examples/"+name).CombinedOutput()
		if err != nil {
			os.Stderr.Write(out)
			return dir, err
		}
	}
	return dir, nil
})

func example(t *testing.T, name string) string {
	t.Helper()
	dir, err := built()
	require.NoError(t, err)
	return filepath.Join(dir, name+".exe")
}

func exampleAgent(t *testing.T) string {
	t.Helper()
	return example(t, "agent")
}

// bridge is the agent at a URL, as a command.
func bridge(t *testing.T, url string) []string {
	t.Helper()
	return []string{example(t, "bridge"), "-url", url}
}

func TestMain(m *testing.M) {
	if os.Getenv(mainEnv) != "" {
		os.Unsetenv(mainEnv) // the agent may be the test binary too
		main()
		return
	}
	if slices.Contains(os.Args, "-agent") {
		main() // the process was started as the default agent
		return
	}
	if text := os.Getenv(playEnv); text != "" {
		play(text)
		return
	}
	if what := os.Getenv(floodEnv); what != "" {
		flood(what)
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "login" { // the agent named this program, so it gets no variable of the test
		fmt.Println("logging in")
		(&lockedAgent{Door: os.Args[2]}).unlock()
		return
	}
	code := m.Run()
	if dir, err := built(); err == nil && os.Getenv(programsEnv) == "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// lockedAgent needs its user to sign in.
type lockedAgent struct {
	Methods string // as JSON
	Refuses string // the method that it refuses
	Door    string // a file that exists once the user has signed in
	Reopens bool   // it looks at Door only when it starts
	Never   bool   // signing in does not help
	Hangs   bool   // signing in never ends
	Fails   bool   // signing in fails
	Applies bool   // it appends system prompts, and says them
	Slow    string // a pipe that it reads before it opens a session

	conn   *agent.Conn
	open   bool
	system string
}

func play(text string) {
	a := &lockedAgent{}
	if err := json.Unmarshal([]byte(text), a); err != nil {
		panic(err)
	}
	if slices.Contains(os.Args, "login") {
		fmt.Println("logging in")
		a.unlock()
		return
	}
	_, err := os.Stat(a.Door)
	a.open = err == nil || os.Getenv("CHAT_TEST_KEY") == "secret"
	err = agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent { a.conn = c; return a }, nil)
	if err != nil {
		panic(err)
	}
}

func (a *lockedAgent) unlock() {
	if err := os.WriteFile(a.Door, nil, 0o600); err != nil {
		panic(err)
	}
}

func (a *lockedAgent) check(method string) error {
	if !a.open && a.Refuses == method {
		return rpcerr.AuthRequired(map[string]any{"details": "no account"})
	}
	return nil
}

func (a *lockedAgent) Initialize(_ context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	var all struct{ AuthMethods []json.RawMessage }
	if err := json.Unmarshal([]byte(`{"authMethods":`+a.Methods+`}`), &all); err != nil {
		return nil, err
	}
	res := &acp.InitializeResponse{}
	for _, raw := range all.AuthMethods {
		var one acp.InitializeResponse
		if err := json.Unmarshal([]byte(`{"protocolVersion":1,"authMethods":[`+string(raw)+`]}`), &one); err != nil {
			return nil, err
		}
		if _, terminal := one.AuthMethods[0].(*acp.AuthMethodTerminal); terminal && !req.ClientCapabilities.Has("auth.terminal") {
			continue
		}
		res.AuthMethods = append(res.AuthMethods, one.AuthMethods[0])
	}
	return res, nil
}

func (a *lockedAgent) Authenticate(ctx context.Context, _ *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	if a.Hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if a.Fails {
		return nil, rpcerr.InvalidParams(nil).WithDetail("no such account")
	}
	if !a.Never {
		a.unlock()
		a.open = !a.Reopens
	}
	return &acp.AuthenticateResponse{}, nil
}

func (a *lockedAgent) AppliesSystemPrompt(mode acp.SystemPromptMode) bool {
	return a.Applies && mode == acp.SystemPromptModeAppend
}

func (a *lockedAgent) NewSession(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.system = req.SystemPrompt.Text()
	if a.Slow != "" {
		if _, err := os.ReadFile(a.Slow); err != nil {
			return nil, err
		}
	}
	return &acp.NewSessionResponse{SessionID: "s"}, a.check("session/new")
}

func (a *lockedAgent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if err := a.check("session/prompt"); err != nil {
		return nil, err
	}
	err := a.conn.Session(req.SessionID).Message(ctx, "welcome in"+a.system)
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

func (a *lockedAgent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// lock returns the settings for a conversation with a lockedAgent.
func lock(t *testing.T, a lockedAgent) settings {
	t.Helper()
	a.Door = filepath.Join(t.TempDir(), "door")
	a.Methods = strings.ReplaceAll(a.Methods, "DOOR", a.Door) // for a command that gets no variables
	text, err := json.Marshal(a)
	require.NoError(t, err)
	t.Setenv(playEnv, string(text))
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each agent ends a second late
	self, err := os.Executable()
	require.NoError(t, err)
	return settings{dir: t.TempDir(), agent: []string{self}}
}

// noConsole is a console without input.
func noConsole() *console {
	return &console{in: strings.NewReader(""), out: new(bytes.Buffer), err: new(bytes.Buffer)}
}
