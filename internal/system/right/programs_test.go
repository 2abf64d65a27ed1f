// Package right_test holds the checks of package acptest against the agents and clients of the main
// module: what the examples show is right.
package right_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest"
)

// programs is the folder with the built examples.
var programs string

func TestMain(m *testing.M) {
	if launched, err := acptest.Launched(); launched { // by chat, as its agent
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if kind := os.Getenv(libraryVar); kind != "" {
		serveLibrary(kind)
		return
	}
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (code int, err error) {
	if programs, err = os.MkdirTemp("", "right"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(programs)
	build := exec.Command("go", "build", "-ldflags=-w", "-o", programs+string(filepath.Separator))
	for _, name := range []string{"chat", "coder", "echo"} {
		build.Args = append(build.Args, "github.com/acpkit/go-sdk/examples/"+name)
	}
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	return m.Run(), nil
}

func TestEchoIsRight(t *testing.T) {
	t.Parallel()
	never := map[string]string{"slow": "", "tool": "", "ask": "", "read": "", "write": "", "run": ""}
	acptest.Agent(t, acptest.Command([]string{filepath.Join(programs, "echo")}), &acptest.Options{Prompts: never})
}

// With a model that calls its tools, coder is right.
func TestCoderIsRight(t *testing.T) {
	t.Parallel()
	model, err := acptest.StartModel("openai")
	require.NoError(t, err)
	defer model.Close()
	acptest.Agent(t, acptest.Command([]string{filepath.Join(programs, "coder")}, model.Env...), &acptest.Options{Prompts: model.Prompts})
}

// Chat starts a copy of this test as its agent, and so gets what the checks send.
func TestChatIsRight(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	chat := []string{filepath.Join(programs, "chat"), "-auth", "acptest-login", "-yes", "-prompt", "hello", "--", "{agent}"}
	acptest.Client(t, acptest.ClientCommand(chat, self), &acptest.Options{Version: 1})
}
