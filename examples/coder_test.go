package examples_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// converse runs chat with one prompt against coder, and returns what it prints.
func converse(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	client := exec.Command(filepath.Join(programs, program), args...)
	client.Dir = dir
	config := t.TempDir()
	client.Env = append(os.Environ(), "XDG_CONFIG_HOME="+config, "APPDATA="+config, "HOME="+config, "TMPDIR="+config)
	client.Env = append(client.Env, env...)
	out, err := client.CombinedOutput()
	t.Logf("%v: %s", err, out)
	return string(out)
}

// The scripted model repairs the test with the tools of a real model, and can do only what it is
// allowed to do.
func TestCoderDemo(t *testing.T) {
	t.Parallel()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "the go command is not installed, which CI must have")
		t.Skip("the go command is not installed: the demo runs it")
	}
	env := []string{"GOCACHE=" + strings.TrimSpace(string(cache))}
	coder := filepath.Join(programs, "coder")
	dir := t.TempDir()
	out := converse(t, dir, env, "chat", "-yes", "-prompt", "fix the failing test", "--", coder, "-demo")
	assert.Contains(t, out, "Go names each package that it has to compile before.")
	assert.Contains(t, out, "run go build -v testing . && go test ./...", "with -v go is not silent while it compiles")
	assert.Contains(t, out, "+ \treturn a + b")
	assert.Contains(t, out, "The test passes.")
	assert.NotContains(t, out, filepath.Join(dir, "sum.go"), "the person is asked about the file that is written")
	_, folder, _ := strings.Cut(out, "I work in ")
	folder, _, _ = strings.Cut(folder, ",")
	require.NotEmpty(t, folder)
	assert.NoDirExists(t, folder)

	out = converse(t, dir, env, "chat", "-no", "-prompt", "fix the failing test", "--", coder, "-demo")
	assert.Contains(t, out, "That did not work, so the test still fails: The person rejected this call.")
}

// Without the URL of a model, the error says how to set it.
func TestCoderWithoutAModel(t *testing.T) {
	t.Parallel()
	out := converse(t, t.TempDir(), []string{"BASE_URL="}, "chat", "-prompt", "hello", "--", filepath.Join(programs, "coder"))
	assert.Contains(t, out, "Set BASE_URL to the address of a server of chat completions")
}

// With a model, coder reads and edits the files of the client, and runs a command. Chat answers its
// questions; without a person, the rules of ci do.
func TestCoderWithAModel(t *testing.T) {
	t.Parallel()
	answers := [][]string{
		{`{"delta":{"content":"I look. "}}`, `{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read_file","arguments":"{\"path\":\"a.txt\"}"}}]},"finish_reason":"tool_calls"}`},
		{`{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"edit_file","arguments":"{\"path\":\"a.txt\",\"edits\":[{\"old\":\"one\",\"new\":\"two\"}]}"}}]},"finish_reason":"tool_calls"}`},
		{`{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"run_command","arguments":"{\"command\":\"grep two a.txt\"}"}}]},"finish_reason":"tool_calls"}`},
		{`{"delta":{"content":"It says two now."},"finish_reason":"stop"}`},
	}
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			io.WriteString(w, `{"data":[{"id":"scripted"}]}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		requests = append(requests, string(body))
		for _, choice := range answers[len(requests)-1] {
			fmt.Fprintf(w, "data: {\"choices\":[%s]}\n\n", choice)
		}
	}))
	defer server.Close()
	env, coder := []string{"BASE_URL=" + server.URL + "/v1", "MODEL="}, filepath.Join(programs, "coder")
	for _, args := range [][]string{
		{"chat", "-yes", "-prompt", "make it two", "--", coder},
		{"ci", "-write", "*.txt", "-allow", "grep *", "make it two", coder},
	} {
		requests = nil
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\r\n"), 0o600))
		out := converse(t, dir, env, args[0], args[1:]...)
		assert.Contains(t, out, "It says two now.")
		text, err := os.ReadFile(filepath.Join(dir, "a.txt"))
		require.NoError(t, err)
		assert.Equal(t, "two\r\n", string(text))
		require.Len(t, requests, 4)
		assert.Contains(t, requests[1], `"content":"one\r\n"`)
		assert.Contains(t, requests[2], `"content":"Wrote a.txt."`)
		assert.Contains(t, requests[3], `"content":"two\r\n`)
	}
}

// coder starts without HOME, and main.go compiles alone, as the README shows it.
func TestCoderAlone(t *testing.T) {
	t.Parallel()
	coder := exec.Command(filepath.Join(programs, "coder"))
	coder.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "BASE_URL=http://127.0.0.1:1/v1", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	coder.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n")
	out, err := coder.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), `"agentInfo"`)
	if _, err := exec.LookPath("go"); err == nil {
		out, err := exec.Command("go", "vet", "coder/main.go").CombinedOutput()
		assert.NoError(t, err, string(out))
	}
}

// The key can be in a file, and no command needs to find it in an environment.
func TestCoderKeyFile(t *testing.T) {
	t.Parallel()
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		io.WriteString(w, `data: {"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("sk-from-a-file\n"), 0o600))
	out := converse(t, t.TempDir(), []string{"BASE_URL=" + server.URL + "/v1", "MODEL=m", "API_KEY=", "API_KEY_FILE=" + file}, "chat", "-prompt", "hello", "--", filepath.Join(programs, "coder"))
	assert.Contains(t, out, "Hi.")
	assert.Equal(t, "Bearer sk-from-a-file", got)
}
