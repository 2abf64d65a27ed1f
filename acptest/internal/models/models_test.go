package models

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A model of each protocol answers with text, or calls the tool that fits with an input that its
// schema allows, and ends its turn when it has the result.
func TestTurns(t *testing.T) {
	const object = `{"type":"object","properties":{"file_path":{"type":"string"},"content":{"type":"string"},"mode":{"enum":["a","b"]},"more":{"type":"string"}},"required":["file_path","content","mode"]}`
	input := `{"content":"acptest\n","file_path":"/work/acptest.txt","mode":"a"}`
	quoted, err := json.Marshal(input)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		path, ask, done string // the requests, with the prompt as %s
		text, call      string // parts of the answers
		end             string // the type of the last event
	}{
		"anthropic": {"/v1/messages",
			`{"stream":true,"system":[{"type":"text","text":"Working directory: /work"}],"messages":[{"role":"user","content":[{"type":"text","text":"%s"}]}],"tools":[{"name":"Write","input_schema":` + object + `}]}`,
			`{"stream":true,"messages":[{"role":"user","content":"%s"},{"role":"user","content":[{"type":"tool_result","content":"ok"}]}]}`,
			`"text":"Done.","type":"text_delta"`, `"partial_json":` + string(quoted), `"type":"message_stop"`},
		"chat": {"/v1/chat/completions",
			`{"stream":true,"messages":[{"role":"system","content":"cwd: /work"},{"role":"user","content":"%s"}],"tools":[{"function":{"name":"write_file","parameters":` + object + `}}]}`,
			`{"stream":true,"messages":[{"role":"user","content":"%s"},{"role":"tool","content":"ok"}]}`,
			`"content":"Done."`, `"arguments":` + string(quoted), "[DONE]"},
		"responses": {"/v1/responses",
			`{"instructions":"current directory is /work","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}],"tools":[{"type":"function","name":"write","parameters":` + object + `}]}`,
			`{"input":[{"role":"user","content":[{"text":"%s"}]},{"type":"function_call_output"}]}`,
			`"delta":"Done."`, `"arguments":` + string(quoted), `"type":"response.completed"`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Start("openai")
			require.NoError(t, err)
			defer func() { assert.NoError(t, s.Close()) }()
			post := func(body, prompt string) string {
				r, err := http.Post(s.url+c.path, "application/json", strings.NewReader(strings.Replace(body, "%s", prompt, 1)))
				require.NoError(t, err)
				defer r.Body.Close()
				b, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				return string(b)
			}
			for _, answer := range []string{post(c.ask, "say #text"), post(c.done, "#write")} {
				assert.Contains(t, answer, c.text)
				assert.Contains(t, answer, c.end)
			}
			assert.Contains(t, post(c.ask, "#write"), c.call)
			assert.Equal(t, streamed, len(regexp.MustCompile(`\\n"`).FindAllString(post(c.ask, "#stream"), -1))-doubled(name))
		})
	}
}

// doubled is how often the whole of a long text is repeated at its end.
func doubled(protocol string) int {
	if protocol == "responses" {
		return 4
	}
	return 0
}

// Nothing of the user's home folder is used, and nothing is left.
func TestHome(t *testing.T) {
	for _, kind := range Kinds {
		s, err := Start(kind)
		require.NoError(t, err)
		assert.Contains(t, s.Env, "HOME="+s.home)
		require.NoError(t, s.Close())
		assert.NoDirExists(t, s.home)
	}
	_, err := Start("mine")
	assert.ErrorContains(t, err, "anthropic, openai and responses")
}

// Codex asks for permission only if the model wants to leave its sandbox.
func TestCommandOutsideOfTheSandbox(t *testing.T) {
	text := schema{Type: "string"}
	input := fill("write", &tool{name: "exec_command", schema: schema{Required: []string{"cmd"},
		Properties: map[string]schema{"cmd": text, "sandbox_permissions": text, "justification": text, "workdir": text}}}, "/work")
	assert.JSONEq(t, `{"cmd":"echo acptest > acptest.txt","sandbox_permissions":"require_escalated","justification":"a check"}`, input)
}
