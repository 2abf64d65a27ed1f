package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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

// readAndWrite is a model that reads a file, writes another, and ends.
var readAndWrite = []modelTurn{
	{parts: []any{
		map[string]any{"text": "**Plan** think", "thought": true},
		map[string]any{"text": "Reading. "},
		call("fc1", "read_file", map[string]any{"file_path": "@in.txt"}),
	}},
	{parts: []any{
		map[string]any{"text": "Writing. "},
		call("fc2", "write_file", map[string]any{"file_path": "@out.txt", "content": "new\n"}),
	}},
	{parts: []any{map[string]any{"text": "Done."}}},
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
			g := startGemini(t, readAndWrite)
			g.handler.reset(test.allow)
			res, err := g.conn.Initialize(ctx, &acp.InitializeRequest{})
			require.NoError(t, err)
			assert.True(t, res.AgentCapabilities.LoadSession)
			assert.NotEmpty(t, res.AuthMethods)
			assert.Equal(t, "gemini-cli", res.AgentInfo.Name)
			session, err := g.conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: g.dir})
			require.NoError(t, err)
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
			written, err := os.ReadFile(filepath.Join(g.dir, "out.txt"))
			require.NoError(t, err)
			assert.Equal(t, test.written, string(written))
			_, asked := g.handler.recorded()
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
			hasCode(t, rpcerr.CodeMethodNotFound, g.conn.Call(ctx, "_interop/nothing", struct{}{}, nil))
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
			h, err := host.New(&host.Options{Roots: []string{dir}, Ask: func(_ context.Context, q *permission.Question) (string, error) {
				asked = append(asked, *q)
				return q.Pick(test.choice), nil
			}})
			require.NoError(t, err)
			defer h.Close()
			g := startGeminiFor(t, dir, readAndWrite, h.Client)
			_, err = g.conn.Initialize(ctx, nil)
			require.NoError(t, err)
			session, err := g.conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: dir})
			require.NoError(t, err)
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

// gemini is a running Gemini CLI, in a home of its own, with a folder that holds
// in.txt and out.txt.
type gemini struct {
	conn    *client.Conn
	handler *goClient
	dir     string
}

// modelTurn is what its model answers to one call.
type modelTurn struct{ parts []any }

func startGemini(t *testing.T, turns []modelTurn) *gemini {
	t.Helper()
	h := newGoClient()
	g := startGeminiFor(t, pairtest.TempDir(t), turns, func(*client.Conn) acp.Client { return h })
	g.handler = h
	return g
}

// startGeminiFor is startGemini in the folder dir, with any client.
func startGeminiFor(t *testing.T, dir string, turns []modelTurn, newClient func(*client.Conn) acp.Client) *gemini {
	t.Helper()
	program := filepath.Join(peers(t), "node_modules", "@google", "gemini-cli", "bundle", "gemini.js")
	home := pairtest.TempDir(t)
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(filepath.Join(home, ".gemini", "settings.json"),
		`{"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false},"telemetry":{"enabled":false}}`)
	write(filepath.Join(dir, "in.txt"), "hello in\n")
	write(filepath.Join(dir, "out.txt"), "old\n")
	responses := filepath.Join(home, "responses.jsonl")
	write(responses, modelAnswers(t, dir, turns))

	cmd := exec.Command(need(t, "node"), program, "--acp", "--model", "gemini-3-flash-preview", "--fake-responses-non-strict", responses)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "GEMINI_API_KEY=fake"}
	return &gemini{conn: dialFor(t, cmd, pairtest.StrictLogger(t), newClient), dir: dir}
}

// modelAnswers are the canned answers, one line a call of the model, one chunk a part.
// A path that begins with @ lies in dir.
func modelAnswers(t *testing.T, dir string, turns []modelTurn) string {
	t.Helper()
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, turn := range turns {
		var chunks []any
		for i, part := range turn.parts {
			candidate := map[string]any{"content": map[string]any{"role": "model", "parts": []any{part}}, "index": 0}
			if i == len(turn.parts)-1 {
				candidate["finishReason"] = "STOP"
			}
			chunks = append(chunks, map[string]any{
				"candidates":    []any{candidate},
				"usageMetadata": map[string]any{"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18},
			})
		}
		require.NoError(t, lines.Encode(map[string]any{"method": "generateContentStream", "response": chunks}))
	}
	return string(bytes.ReplaceAll(b.Bytes(), []byte(`"@`), []byte(`"`+filepath.ToSlash(dir)+`/`)))
}

// call is a part in which the model calls a tool.
func call(id, name string, args map[string]any) any {
	return map[string]any{"functionCall": map[string]any{"id": id, "name": name, "args": args}}
}
