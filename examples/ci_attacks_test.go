package examples_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
)

// deed is what a hostile agent tries: a command, a line for a shell, or a write.
type deed struct {
	Argv  []string `json:",omitempty"`
	Line  string   `json:",omitempty"`
	In    string   `json:",omitempty"` // the folder of the command, below the session's
	Write string   `json:",omitempty"` // a file below the folder of the session
	Text  string   `json:",omitempty"`
}

func (d *deed) String() string {
	return strings.TrimSpace(d.In + " " + strings.Join(d.Argv, " ") + d.Line + d.Write)
}

func init() { plays["hostile"] = playHostile }

// playHostile is an agent that does the deeds of its prompt, in JSON, and says which were allowed.
func playHostile() {
	_ = agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent {
		dir := ""
		return &peertest.Agent{
			OnNewSession: func(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
				dir = req.Cwd
				return &acp.NewSessionResponse{SessionID: "s"}, nil
			},
			OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
				var deeds []deed
				if err := json.Unmarshal([]byte(acp.PlainText(req.Prompt...)), &deeds); err != nil {
					return nil, err
				}
				allowed := make([]bool, len(deeds))
				for i, d := range deeds {
					allowed[i] = do(ctx, c, dir, &d) == nil
				}
				said, err := json.Marshal(allowed)
				if err != nil {
					return nil, err
				}
				err = c.SessionUpdate(ctx, &acp.SessionNotification{SessionID: req.SessionID, Update: acp.AgentText(string(said))})
				return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
			},
		}
	}, nil)
}

func do(ctx context.Context, c *agent.Conn, dir string, d *deed) error {
	if d.Write != "" {
		_, err := c.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: "s", Path: filepath.Join(dir, d.Write), Content: d.Text})
		return err
	}
	req := &acp.CreateTerminalRequest{SessionID: "s", Command: d.Line, Cwd: filepath.Join(dir, d.In)}
	if d.Line == "" {
		req.Command, req.Args = d.Argv[0], d.Argv[1:]
	}
	_, err := c.RunTerminal(ctx, req)
	return err
}

// An agent that knows the rules of a pipeline tries to run or to write something else. Nothing of that is done
// through ci; without it, each command does its harm.
func TestAttacksOnRules(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lacks what the test needs: programs of Unix and scripts")
	}
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	put := func(name, text string, mode os.FileMode) {
		t.Helper()
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), mode))
	}
	evil, ran := filepath.Join(dir, "evil"), filepath.Join(dir, "ran")
	put("evil", "#!/bin/sh\ntouch '"+ran+"'\n", 0o755)
	put("go.mod", "module m\n\ngo 1.21\n", 0o644)
	put("a_test.go", "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n", 0o644)
	put("ranmod.py", "open('ran','w')\n", 0o644)
	put("ran.mjs", "import fs from 'fs'; fs.writeFileSync('ran', '')\n", 0o644)
	put("Makefile", "all:\n\t$(TOOL)\n", 0o644)
	put("text", "x\n", 0o644)
	put("src/a.go", "package src\n", 0o644)
	for _, args := range [][]string{{"init", "-q"}, {"add", "text"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"}} {
		git := exec.Command("git", args...)
		git.Dir = dir
		out, err := git.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	pack := exec.Command("tar", "cf", "a.tar", "text")
	pack.Dir = dir
	require.NoError(t, pack.Run())

	good := []deed{
		{Argv: []string{"git", "status", "-s"}}, {Argv: []string{"go", "test", "-run", "None", "."}}, {Line: "sed -n 1,2p text"}, {Argv: []string{"tar", "-tf", "a.tar"}}, {Write: "src/new/b.go", Text: "package b\n"},
	}
	bad := []deed{
		{Argv: []string{"go", "test", "-exec", evil, "."}}, {Argv: []string{"go", "test", "-exec=" + evil}}, {Argv: []string{"go", "test", "-toolexec", evil, "."}}, {Argv: []string{"go", "vet", "-vettool=" + evil, "."}},
		{Argv: []string{"go", "test", "-c", "-o", ran, "."}}, {Argv: []string{"go", "test", "-coverprofile=" + ran, "."}}, {Argv: []string{"go", "test", "-trace=ran", "."}}, {Line: "go test -exec ./evil ."},
		{Argv: []string{"git", "-c", "alias.x=!" + evil, "x"}}, {Argv: []string{"git", "-c", "core.fsmonitor=" + evil, "status"}}, {Argv: []string{"git", "ls-remote", "--upload-pack=" + evil, "."}},
		{Argv: []string{"git", "grep", "-O" + evil, "x", "--", "text"}}, {Argv: []string{"git", "diff", "--output=ran"}}, {Argv: []string{"git", "submodule", "foreach", evil}, In: "none"},
		{Argv: []string{"git", "rebase", "-f", "-x", evil, "--root"}}, {Argv: []string{"git", "config", "alias.x", "!" + evil}, In: "none"}, {Argv: []string{"git", "bisect", "run", evil}, In: "none"},
		{Argv: []string{"python3", "-m", "ranmod"}}, {Argv: []string{"python3", "-c", "open('ran','w')"}}, {Argv: []string{"node", "--import", "./ran.mjs", "-e", "0"}},
		{Argv: []string{"sed", "1e " + evil, "text"}}, {Argv: []string{"sed", "w ran", "text"}}, {Argv: []string{"sed", "-n", "-e", "1e " + evil, "text"}},
		{Argv: []string{"tar", "-tf", "a.tar", "--checkpoint=1", "--checkpoint-action=exec=" + evil}}, {Argv: []string{"tar", "xf", "a.tar", "--to-command=" + evil}},
		{Argv: []string{"tar", "cfI", "b.tar", evil, "text"}}, {Argv: []string{"find", "text", "-exec", evil, ";"}}, {Argv: []string{"find", "text", "-fprintf", "ran", "x"}},
		{Argv: []string{"sort", "-o", "ran", "text"}}, {Argv: []string{"sort", "--compress-program=" + evil, "-S1b", "text"}, In: "none"}, {Argv: []string{"make", "TOOL=" + evil}}, {Argv: []string{"make", "--eval=$(shell " + evil + ")"}},
		{Argv: []string{"env", evil}}, {Argv: []string{"sh", "-c", evil}}, {Line: "git status; ./evil"}, {Line: "git status > ran"}, {Line: "go test $(./evil)"},
		{Argv: []string{"git", "status"}, In: ".git"}, {Argv: []string{"cp", "evil", ".git/hooks/post-index-change"}, In: "none"},
		{Write: "ran"}, {Write: "src/../ran"}, {Write: "src/.git/config"}, {Write: "src/x/HEAD"}, {Write: "src/.vscode/tasks.json"}, {Write: "src/.GIT/config"}, {Write: ".git/hooks/post-checkout"},
		{Write: "src/.github/workflows/x.yml"}, {Write: "src/.envrc"}, {Write: "src/.husky/pre-commit"}, {Write: "src/sub/.hg/hgrc"},
	}
	prompt, err := json.Marshal(append(good, bad...))
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	args := []string{"-dir", dir, "-write", "src/**"}
	for _, program := range []string{"go test", "go vet", "git", "git submodule", "git bisect", "git rebase", "git ls-remote", "python3", "node", "sed", "tar", "find", "sort", "make", "env", "sh", "cp"} {
		args = append(args, "-allow", program+" *")
	}
	ci := exec.Command(filepath.Join(programs, "ci"), append(args, string(prompt), self)...)
	ci.Env = append(os.Environ(), playEnv+"=hostile")
	var said, log strings.Builder
	ci.Stdout, ci.Stderr = &said, &log
	err = ci.Run()
	assert.ErrorContains(t, err, "exit status 5", "something was denied: %s", log.String())
	var allowed []bool
	require.NoError(t, json.Unmarshal([]byte(said.String()), &allowed), "%s\n%s", said.String(), log.String())
	for i, d := range good {
		assert.True(t, allowed[i], "allowed: %s", &d)
	}
	for i, d := range bad {
		assert.False(t, allowed[len(good)+i], "denied: %s", &d)
	}
	assert.NoFileExists(t, ran)
	assert.NoFileExists(t, filepath.Join(dir, "b.tar"))

	for _, d := range bad {
		if len(d.Argv) == 0 || d.In != "" {
			continue
		}
		if _, err := exec.LookPath(d.Argv[0]); err != nil {
			require.Empty(t, os.Getenv("CI"), "%s is not installed, which CI must have", d.Argv[0])
			continue
		}
		run := exec.Command(d.Argv[0], d.Argv[1:]...)
		run.Dir = dir
		run.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, _ := run.CombinedOutput() // many fail after their harm
		assert.FileExists(t, ran, "no attack: %s: %s", &d, out)
		_ = os.Remove(ran) // checked above
	}
}
