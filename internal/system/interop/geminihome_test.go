package interop_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
)

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
	g := startGeminiFor(t, scratch(t), turns, func(*client.Conn) acp.Client { return h })
	g.handler = h
	return g
}

// startGeminiFor is startGemini in the folder dir, with any client.
func startGeminiFor(t *testing.T, dir string, turns []modelTurn, newClient func(*client.Conn) acp.Client) *gemini {
	t.Helper()
	program := filepath.Join(peers(t), "node_modules", "@google", "gemini-cli", "bundle", "gemini.js")
	home := scratch(t)
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
	return &gemini{conn: dialFor(t, cmd, newStrictLog(t), newClient), dir: dir}
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
