package examples_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/acptest"
)

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
