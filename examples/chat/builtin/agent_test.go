package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/examples/chat/builtin"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// person is who answers the questions of a test.
type person struct {
	allows bool
	asked  []string
	plan   []string // the plan as it was last shown
	calls  []string // titles of the calls
}

func (p *person) ask(_ context.Context, q *permission.Question) (string, error) {
	p.asked = append(p.asked, q.Title)
	if p.allows {
		return q.Pick(permission.AllowOnce), nil
	}
	return q.Pick(permission.RejectOnce), nil
}

func (p *person) update(_ context.Context, n *acp.SessionNotification) error {
	switch u := n.Update.(type) {
	case *acp.ToolCall:
		p.calls = append(p.calls, u.Title)
	case *acp.Plan:
		p.plan = nil
		for _, e := range u.Entries {
			p.plan = append(p.plan, e.Content+" "+string(e.Status))
		}
	}
	return nil
}

// open returns a session with the agent in a folder, and its connection.
func open(t *testing.T, p *person, dir string) (*client.Conn, *client.Session) {
	t.Helper()
	h, err := host.Open(&host.Options{Roots: []string{dir}, Terminals: &terminals.Options{}, Ask: p.ask, Update: p.update})
	require.NoError(t, err)
	near, far := stream.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- agent.Serve(context.WithoutCancel(t.Context()), far, builtin.New, &agent.Options{CheckIDs: true})
	}() // ends with near
	conn, err := client.Connect(t.Context(), near, h.Client, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		<-served // with an error if it was writing just then
		assert.NoError(t, h.Close())
	})
	s, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: dir})
	require.NoError(t, err)
	return conn, s
}

func TestRequests(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	for name, c := range map[string]struct {
		prompt, says string
		asks         int
		rejects      bool
		file         string // what stands in it afterwards
	}{
		"read":           {prompt: "read file", says: "file has 2 lines.\n```\none\ntwo\n```\n"},
		"lines":          {prompt: "read file from line 2 for 1 line", says: "1 line of file, from line 2:\n```\ntwo\n```\n"},
		"no such lines":  {prompt: "read file from line 9", says: "file has no such lines.\n"},
		"no file":        {prompt: "read none", says: "Read none did not work: Resource not found: "},
		"search":         {prompt: `search "wo"`, says: "\"wo\" occurs on 1 line:\n```\nfile:2:two\n```\n"},
		"found nothing":  {prompt: `search "zzz"`, says: "\"zzz\" does not occur in the project.\n"},
		"outside":        {prompt: `search x in ..`, says: "Search \"x\" in .. did not work: "},
		"edit":           {prompt: `edit file: replace "two" with "three"`, says: "Wrote file.\n", asks: 1, file: "one\nthree\n"},
		"edits nothing":  {prompt: `edit file: replace "zzz" with "three"`, says: "it occurs 0 times", file: "one\ntwo\n"},
		"write":          {prompt: "write file: new", says: "Wrote file.\n", asks: 1, file: "new\n"},
		"append":         {prompt: "append to file: three", says: "Wrote file.\n", asks: 1, file: "one\ntwo\nthree\n"},
		"rejected":       {prompt: "write file: new", says: "Write file did not work: you did not allow it.\n", asks: 1, rejects: true, file: "one\ntwo\n"},
		"run":            {prompt: "run `echo hello; cat file`", says: "`echo hello; cat file` printed:\n```\nhello\none\ntwo\n```\n", asks: 1},
		"prints nothing": {prompt: "run true", says: "`true` printed nothing.\n", asks: 1},
		"exit code":      {prompt: "run `echo no; exit 3`", says: "```\nno\n```\nRun echo no; exit 3 did not work: it ended with exit code 3.\n", asks: 1},
		"signal":         {prompt: "run `kill -9 $$`", says: "did not work: it was ended by SIGKILL.\n", asks: 1},
		"not run":        {prompt: "run `touch file2`", says: "Run touch file2 did not work: you did not allow it.\n", asks: 1, rejects: true},
		"a plan":         {prompt: "read file, then run true", says: "Everything is done.\n", asks: 1},
		"part of a plan": {prompt: "read none, then read file", says: "Not everything worked; see above.\n"},
		"help":           {prompt: "/help", says: "I carry out plain requests"},
		"other words":    {prompt: "make me a sandwich", says: `That was not understood: "make me a sandwich".`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "file")
			require.NoError(t, os.WriteFile(file, []byte("one\ntwo\n"), 0o600))
			p := &person{allows: !c.rejects}
			_, s := open(t, p, dir)
			said, err := s.Prompt(t.Context(), acp.Text(c.prompt)).Text()
			require.NoError(t, err)
			assert.Contains(t, strings.ReplaceAll(said, `"zzz" occurs`, "it occurs"), c.says)
			assert.Len(t, p.asked, c.asks, "%q", p.asked)
			if c.file != "" {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				assert.Equal(t, c.file, string(text))
			}
			assert.NoFileExists(t, filepath.Join(dir, "file2"))
		})
	}
}

// The plan shows how far the work has come, and each step is a call of its own.
func TestPlan(t *testing.T) {
	p := &person{allows: true}
	_, s := open(t, p, t.TempDir())
	_, err := s.Prompt(t.Context(), acp.Text("/plan write new: text; read new")).Text()
	require.NoError(t, err)
	assert.Equal(t, []string{"Write new completed", "Read new completed"}, p.plan)
	assert.Equal(t, []string{"Write new", "Read new"}, p.calls)
}

// In the mode auto the agent does not ask; the client still does. With the option detail it repeats all that it read.
func TestModeAndDetail(t *testing.T) {
	p := &person{allows: true}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "long"), []byte(strings.Repeat("x\n", 20)), 0o600))
	conn, s := open(t, p, dir)
	said, err := s.Prompt(t.Context(), acp.Text("read long")).Text()
	require.NoError(t, err)
	assert.Contains(t, said, "... and 10 lines more")

	_, err = conn.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: s.ID(), ModeID: "auto"})
	require.NoError(t, err)
	_, err = conn.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{SessionID: s.ID(), ConfigID: "detail", Value: &acp.SessionConfigValue{Value: "full"}})
	require.NoError(t, err)
	said, err = s.Prompt(t.Context(), acp.Text("read long")).Text()
	require.NoError(t, err)
	assert.NotContains(t, said, "more")
	_, err = s.Prompt(t.Context(), acp.Text("write new: text")).Text()
	require.NoError(t, err)
	assert.Equal(t, []string{""}, p.asked, "the client asks about the write that the agent did not ask about")

	_, err = conn.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: s.ID(), ModeID: "other"})
	require.ErrorIs(t, err, rpcerr.ErrInvalidParams)
	_, err = conn.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{SessionID: s.ID(), ConfigID: "detail", Value: &acp.SessionConfigValue{Value: "other"}})
	require.ErrorIs(t, err, rpcerr.ErrInvalidParams)
	_, err = conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: "none", Prompt: []acp.ContentBlock{acp.Text("read long")}})
	require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
}
