package interop_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// readAndWrite is a model that reads a file, writes another, and ends: the parts of each answer.
var readAndWrite = [][]string{
	{
		`{"text":"**Plan** think","thought":true}`, `{"text":"Reading. "}`,
		`{"functionCall":{"id":"fc1","name":"read_file","args":{"file_path":"@in.txt"}}}`,
	},
	{
		`{"text":"Writing. "}`,
		`{"functionCall":{"id":"fc2","name":"write_file","args":{"file_path":"@out.txt","content":"new\n"}}}`,
	},
	{`{"text":"Done."}`},
}

// Gemini CLI as agent, with canned answers of its model: a turn reads a file, asks for
// permission, writes a file that exists, and ends.
func TestGemini(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		allow   acp.PermissionOptionKind
		written string
		final   acp.ToolCallStatus
	}{
		{"allowed", acp.PermissionOptionKindAllowOnce, "new\n", acp.ToolCallStatusCompleted},
		{"rejected", acp.PermissionOptionKindRejectOnce, "old\n", acp.ToolCallStatusFailed},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
			defer cancel()
			h := newGoClient(t)
			h.reset(test.allow)
			conn, res, session := startGemini(ctx, t, h.dir, h.of)
			assert.True(t, res.AgentCapabilities.LoadSession)
			assert.NotEmpty(t, res.AuthMethods)
			assert.Equal(t, "gemini-cli", res.AgentInfo.Name)
			require.NotNil(t, session.Modes())
			assert.Equal(t, acp.SessionModeID("default"), session.Modes().CurrentModeID)

			turn := session.Prompt(ctx, acp.Text("change the file"))
			var text, thought string
			calls := map[acp.ToolCallID]acp.ToolCallStatus{}
			for u, err := range turn.Updates() {
				require.NoError(t, err)
				switch u := u.(type) {
				case *acp.AgentMessageChunk:
					text += acp.PlainText(u.Content)
				case *acp.AgentThoughtChunk:
					thought += acp.PlainText(u.Content)
				case *acp.ToolCall:
					calls[u.ToolCallID] = u.Status
				case *acp.ToolCallUpdate:
					calls[u.ToolCallID] = u.Status
				}
			}
			end, err := turn.Wait()
			require.NoError(t, err)
			assert.Contains(t, thought, "think")
			assert.Contains(t, text, "Reading. Writing. ")
			assert.Equal(t, acp.ToolCallStatusCompleted, calls["read_file__fc1"], "%v", calls)
			written, err := os.ReadFile(filepath.Join(h.dir, "out.txt"))
			require.NoError(t, err)
			assert.Equal(t, test.written, string(written))
			_, asked := h.recorded()
			var perm acp.RequestPermissionRequest
			require.NoError(t, json.Unmarshal(last(t, asked, "session/request_permission"), &perm))
			diff, ok := perm.ToolCall.Content[0].(*acp.Diff)
			require.True(t, ok, "%T", perm.ToolCall.Content[0])
			assert.Equal(t, "new\n", diff.NewText)
			assert.Equal(t, "old\n", *diff.OldText)
			assert.Contains(t, string(last(t, asked, "fs/read_text_file")), "out.txt")
			if test.allow == acp.PermissionOptionKindAllowOnce {
				assert.Contains(t, text, "Done.")
				assert.Equal(t, acp.StopReasonEndTurn, end.StopReason)
				assert.Equal(t, test.final, calls["write_file__fc2"], "%v", calls)
				assert.Contains(t, end.Meta, "quota")
			}
			hasCode(t, rpcerr.CodeMethodNotFound, conn.Call(ctx, "_interop/nothing", struct{}{}, nil))
		})
	}
}

// Gemini CLI with client/host: the user is asked once for the write, by the agent's
// question or, if that was allowed, not again; a denial holds.
func TestGeminiWithHostKit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ choice, written string }{
		{permission.AllowOnce, "new\n"}, {permission.RejectOnce, "old\n"},
	} {
		t.Run(test.choice, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
			defer cancel()
			dir := pairtest.TempDir(t)
			var asked []permission.Question
			h, err := host.Open(&host.Options{Roots: []string{dir}, Ask: func(_ context.Context, q *permission.Question) (string, error) {
				asked = append(asked, *q)
				return q.Pick(test.choice), nil
			}})
			require.NoError(t, err)
			defer h.Close()
			_, _, session := startGemini(ctx, t, dir, h.Client)
			_, err = session.Prompt(ctx, acp.Text("change the file")).Wait()
			require.NoError(t, err)
			written, err := os.ReadFile(filepath.Join(dir, "out.txt"))
			require.NoError(t, err)
			assert.Equal(t, test.written, string(written))
			require.Len(t, asked, 1)
			assert.Equal(t, "edit", asked[0].Tool.Kind)
			assert.Equal(t, "new\n", *asked[0].Tool.Diffs[0].NewText)
		})
	}
}

// startGemini starts Gemini CLI with a home of its own and the model readAndWrite, and opens a session in
// dir, which holds in.txt and out.txt.
func startGemini(ctx context.Context, t *testing.T, dir string, newClient func(*client.Conn) acp.Client) (*client.Conn, *acp.InitializeResponse, *client.Session) {
	t.Helper()
	home := pairtest.TempDir(t)
	responses := filepath.Join(home, "responses.jsonl")
	require.NoError(t, os.Mkdir(filepath.Join(home, ".gemini"), 0o700))
	for path, text := range map[string]string{
		filepath.Join(home, ".gemini", "settings.json"): `{"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false},"telemetry":{"enabled":false}}`,
		filepath.Join(dir, "in.txt"):                    "hello in\n",
		filepath.Join(dir, "out.txt"):                   "old\n",
		responses:                                       modelAnswers(dir),
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	command := node(t, "node_modules/@google/gemini-cli/bundle/gemini.js", "--acp", "--model", "gemini-3-flash-preview", "--fake-responses-non-strict", responses)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "GEMINI_API_KEY=fake"}
	conn := connected(t, spawn(t, cmd), newClient)
	res, err := conn.Initialize(ctx, &acp.InitializeRequest{})
	require.NoError(t, err)
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: dir})
	require.NoError(t, err)
	return conn, res, session
}

// modelAnswers are the canned answers of readAndWrite, one line a call of the model, one chunk a part. A
// path that begins with @ lies in dir.
func modelAnswers(dir string) string {
	var lines strings.Builder
	for _, parts := range readAndWrite {
		var chunks []string
		for _, part := range parts {
			chunks = append(chunks, `{"candidates":[{"index":0,"content":{"role":"model","parts":[`+part+`]}}],`+
				`"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":7,"totalTokenCount":18}}`)
		}
		last := &chunks[len(chunks)-1]
		*last = strings.Replace(*last, `"index":0`, `"index":0,"finishReason":"STOP"`, 1)
		lines.WriteString(`{"method":"generateContentStream","response":[` + strings.Join(chunks, ",") + "]}\n")
	}
	return strings.ReplaceAll(lines.String(), `"@`, `"`+filepath.ToSlash(dir)+`/`)
}
