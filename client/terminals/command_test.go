//go:build unix

package terminals_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestShellOrNot(t *testing.T) {
	for name, tt := range map[string]struct {
		command string
		args    []string
		want    string // output
		shell   bool
		err     error
	}{
		"a word":                  {"pwd", nil, "WORK\n", false, nil},
		"arguments":               {"echo", []string{"a b", "$HOME", ";"}, "a b $HOME ;\n", false, nil},
		"a line":                  {"echo a && echo $((1+1))", nil, "a\n2\n", true, nil},
		"a word with a character": {"pwd;", nil, "WORK\n", true, nil},
		"not found":               {"no-such-command", nil, "", false, terminals.ErrNotFound},
		"no such path":            {"./nothing", nil, "", false, terminals.ErrNotFound},
		"no such absolute path":   {"/nothing", nil, "", false, terminals.ErrNotFound},
		"a path":                  {"./script", nil, "script in WORK\n", false, nil},
		"empty":                   {"", nil, "", false, terminals.ErrCommand},
		"NUL":                     {"a\x00b", nil, "", false, terminals.ErrCommand},
		"NUL in an argument":      {"echo", []string{"\x00"}, "", false, terminals.ErrCommand},
	} {
		t.Run(name, func(t *testing.T) {
			var seen *terminals.Command
			h := newRunner(t, nil, func(_ context.Context, c *terminals.Command) error { seen = c; return nil })
			require.NoError(t, os.WriteFile(filepath.Join(h.work, "script"), []byte("#!/bin/sh\necho script in $(pwd)\n"), 0o755))
			req := acp.CreateTerminalRequest{Command: tt.command, Args: tt.args}
			if tt.err != nil {
				_, err := h.tryCreate(req)
				assert.ErrorIs(t, err, tt.err)
				assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
				assert.Nil(t, seen)
				return
			}
			got := h.run(req)
			assert.Equal(t, strings.ReplaceAll(tt.want, "WORK", h.work), got)
			assert.Equal(t, tt.shell, seen.Shell)
			assert.Equal(t, append([]string{tt.command}, tt.args...), seen.Argv)
			assert.Equal(t, h.work, seen.Cwd)
			assert.True(t, filepath.IsAbs(seen.Path) || seen.Path == tt.command, seen.Path)
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	no := errors.New("no")
	h := newRunner(t, nil, func(context.Context, *terminals.Command) error { return no })
	_, err := h.tryCreate(acp.CreateTerminalRequest{Command: "touch", Args: []string{filepath.Join(h.work, "made")}})
	assert.Equal(t, no, err)
	assert.NoFileExists(t, filepath.Join(h.work, "made"))
}

func TestFolder(t *testing.T) {
	h := newRunner(t, nil, nil)
	sub, file := filepath.Join(h.work, "sub"), filepath.Join(h.work, "file")
	require.NoError(t, os.Mkdir(sub, 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(h.base, filepath.Join(h.work, "out")))
	require.NoError(t, os.Symlink(sub, filepath.Join(h.work, "in")))
	h.conn.Open("two", sub, h.work)
	for _, tt := range []struct {
		session acp.SessionID
		cwd     string
		want    string
		err     error
	}{
		{"s", "", h.work, nil},
		{"s", sub, sub, nil},
		{"s", filepath.Join(h.work, "in"), sub, nil},
		{"two", "", sub, nil},
		{"two", h.work, h.work, nil},
		{"s", h.base, "", files.ErrOutside},
		{"s", h.work + "/..", "", files.ErrOutside},
		{"s", filepath.Join(h.work, "out"), "", files.ErrOutside},
		{"s", filepath.Join(h.work, "missing"), "", terminals.ErrCwd},
		{"s", file, "", files.ErrNotFolder},
		{"s", "sub", "", files.ErrName},
		{"never", "", "", files.ErrUnknownSession},
	} {
		h.session = tt.session
		req := acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "pwd -P; echo $PWD"}, Cwd: tt.cwd}
		if tt.err != nil {
			_, err := h.tryCreate(req)
			assert.ErrorIs(t, err, tt.err, tt.cwd)
			assert.ErrorIs(t, err, rpcerr.ErrInvalidParams, tt.cwd)
			continue
		}
		assert.Equal(t, tt.want+"\n"+tt.want+"\n", h.run(req), tt.cwd)
	}
}

// After the check, the folder is repeatedly exchanged for a symlink that leads outside.
func TestFolderIsExchanged(t *testing.T) {
	if !isLinux {
		t.Skip("this system cannot start a command in an open folder: only Linux has /proc/self/fd")
	}
	var h *runner
	exchange := func() {
		os.Rename(filepath.Join(h.work, "sub"), filepath.Join(h.work, "moved"))
		os.Symlink(h.base, filepath.Join(h.work, "sub"))
	}
	h = newRunner(t, nil, func(_ context.Context, c *terminals.Command) error {
		if c.Argv[0] == "pwd" {
			exchange()
		}
		return nil
	})
	require.NoError(t, os.Mkdir(filepath.Join(h.work, "sub"), 0o755))
	assert.Equal(t, filepath.Join(h.work, "moved")+"\n", h.run(acp.CreateTerminalRequest{Command: "pwd", Args: []string{"-P"}, Cwd: filepath.Join(h.work, "sub")}))

	var stop atomic.Bool
	var swapper sync.WaitGroup
	sub := filepath.Join(h.work, "swapped")
	require.NoError(t, os.Mkdir(sub+".real", 0o755))
	swapper.Go(func() { // ends with stop
		for !stop.Load() {
			os.Rename(sub+".real", sub)
			os.Rename(sub, sub+".real")
			os.Symlink(h.base, sub)
			os.Remove(sub)
		}
	})
	ran := 0
	for i := 0; ran < 50 && i < 100_000; i++ {
		id, err := h.tryCreate(acp.CreateTerminalRequest{Command: "/bin/pwd", Args: []string{"-P"}, Cwd: sub})
		if err != nil {
			continue
		}
		h.wait(id)
		out := h.output(id).Output
		h.release(id)
		ran++
		assert.True(t, strings.HasPrefix(out, h.work), "ran in %q", out)
	}
	stop.Store(true)
	swapper.Wait()
	assert.Positive(t, ran)
}

func TestEnvironment(t *testing.T) {
	t.Setenv("MY_API_KEY", "s3cr3t")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t")
	t.Setenv("SSH_AUTH_SOCK", "/s3cr3t")
	t.Setenv("LC_PAPER", "a4")
	t.Setenv("FOO_BAR", "inherited")
	t.Setenv("https_proxy", "http://proxy")
	t.Setenv("NO_PROXY", "localhost")
	env := func(h *runner, vars ...acp.EnvVariable) map[string]string {
		out := map[string]string{}
		for line := range strings.Lines(h.run(acp.CreateTerminalRequest{Command: "env", Args: []string{"-u", "_"}, Env: vars})) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			out[name] = value
		}
		return out
	}
	t.Run("own secrets stay", func(t *testing.T) {
		got := env(newRunner(t, nil, nil))
		for name, value := range got {
			assert.NotContains(t, value, "s3cr3t", name)
		}
		assert.Equal(t, os.Getenv("PATH"), got["PATH"])
		assert.Equal(t, "a4", got["LC_PAPER"])
		assert.Equal(t, "cat", got["GIT_PAGER"])
		assert.NotContains(t, got, "FOO_BAR")
	})
	t.Run("lists", func(t *testing.T) {
		got := env(newRunner(t, &terminals.Options{Inherit: []string{"!*", "PATH", "FOO_*"}, Env: []string{"OWN=1", "PAGER=more"}, AgentEnv: []string{"A", "OWN"}}, nil),
			acp.EnvVariable{Name: "A", Value: "a=b"}, acp.EnvVariable{Name: "OWN", Value: "2"}, acp.EnvVariable{Name: "A", Value: "last"})
		assert.Equal(t, "inherited", got["FOO_BAR"])
		assert.Equal(t, "2", got["OWN"])
		assert.Equal(t, "more", got["PAGER"])
		assert.Equal(t, "last", got["A"])
		assert.NotContains(t, got, "HOME")
	})
	t.Run("more than the default", func(t *testing.T) {
		opts := &terminals.Options{Inherit: []string{"FOO_*", "!LC_*", "*_[pP][rR][oO][xX][yY]", "SSH_AUTH_SOCK"}, AgentEnv: []string{"A", "!TZ"}}
		got := env(newRunner(t, opts, nil), acp.EnvVariable{Name: "A", Value: "1"}, acp.EnvVariable{Name: "CI", Value: "1"})
		assert.Equal(t, "inherited", got["FOO_BAR"])
		assert.Equal(t, os.Getenv("HOME"), got["HOME"], "the default list stays")
		assert.NotContains(t, got, "LC_PAPER", "but for what is excluded")
		assert.Equal(t, "http://proxy", got["https_proxy"])
		assert.Equal(t, "localhost", got["NO_PROXY"])
		assert.Equal(t, "/s3cr3t", got["SSH_AUTH_SOCK"])
		assert.Equal(t, "1", got["A"])
		assert.Equal(t, "1", got["CI"])
		_, err := newRunner(t, opts, nil).tryCreate(acp.CreateTerminalRequest{Command: "true", Env: []acp.EnvVariable{{Name: "TZ", Value: "x"}}})
		assert.ErrorIs(t, err, terminals.ErrEnv)
		got = env(newRunner(t, nil, nil))
		assert.NotContains(t, got, "https_proxy")
		assert.NotContains(t, got, "SSH_AUTH_SOCK")
	})
	t.Run("of the agent", func(t *testing.T) {
		for _, name := range []string{"LD_PRELOAD", "PATH", "BASH_ENV", "ENV", "NODE_OPTIONS", "GIT_SSH_COMMAND", "PAGER", "EDITOR", "HOME", "IFS"} {
			_, err := newRunner(t, nil, nil).tryCreate(acp.CreateTerminalRequest{Command: "true", Env: []acp.EnvVariable{{Name: name, Value: "x"}}})
			assert.ErrorIs(t, err, terminals.ErrEnv, name)
			assert.ErrorContains(t, err, name)
		}
		assert.Equal(t, "1", env(newRunner(t, nil, nil), acp.EnvVariable{Name: "CI", Value: "1"})["CI"])
	})
	t.Run("named twice", func(t *testing.T) {
		var seen []acp.EnvVariable
		h := newRunner(t, &terminals.Options{AgentEnv: []string{"A", "B"}}, func(_ context.Context, c *terminals.Command) error {
			seen = c.AgentEnv
			return nil
		})
		got := env(h, acp.EnvVariable{Name: "A", Value: "1"}, acp.EnvVariable{Name: "B", Value: "2"}, acp.EnvVariable{Name: "A", Value: "3"})
		assert.Equal(t, "3", got["A"])
		assert.Equal(t, []acp.EnvVariable{{Name: "B", Value: "2"}, {Name: "A", Value: "3"}}, seen, "what the command gets")
	})
	t.Run("too many", func(t *testing.T) {
		vars := make([]acp.EnvVariable, 100_000)
		for i := range vars {
			vars[i].Name = fmt.Sprint("LC_", i)
		}
		h := newRunner(t, nil, nil)
		_, err := h.tryCreate(acp.CreateTerminalRequest{Command: "true", Env: vars})
		assert.ErrorIs(t, err, terminals.ErrEnv)
		assert.Equal(t, "x", env(h, append(vars[:999:999], acp.EnvVariable{Name: "LC_X", Value: "x"})...)["LC_X"])
	})
	t.Run("with consent", func(t *testing.T) {
		var seen *terminals.Command
		h := newRunner(t, nil, func(_ context.Context, c *terminals.Command) error {
			seen, c.Consented = c, c.Unlisted
			return nil
		})
		got := env(h, acp.EnvVariable{Name: "CI", Value: "1"}, acp.EnvVariable{Name: "NODE_OPTIONS", Value: "--x"})
		assert.Equal(t, "--x", got["NODE_OPTIONS"])
		assert.Equal(t, []string{"NODE_OPTIONS"}, seen.Unlisted)
		assert.Len(t, seen.AgentEnv, 2)
	})
	t.Run("a nil error is no consent", func(t *testing.T) {
		for name, consented := range map[string][]string{"to nothing": nil, "to another": {"LD_PRELOAD", "CI"}} {
			h := newRunner(t, nil, func(_ context.Context, c *terminals.Command) error { c.Consented = consented; return nil })
			_, err := h.tryCreate(acp.CreateTerminalRequest{Command: "true", Env: []acp.EnvVariable{
				{Name: "CI", Value: "1"}, {Name: "LD_PRELOAD", Value: "x"}, {Name: "NODE_OPTIONS", Value: "x"},
			}})
			assert.ErrorIs(t, err, terminals.ErrEnv, name)
			h.run(acp.CreateTerminalRequest{Command: "true"})
		}
	})
	t.Run("PATH decides what runs", func(t *testing.T) {
		var seen *terminals.Command
		h := newRunner(t, nil, func(_ context.Context, c *terminals.Command) error {
			seen, c.Consented = c, c.Unlisted
			return nil
		})
		own := filepath.Join(h.work, "true")
		require.NoError(t, os.WriteFile(own, []byte("#!/bin/sh\necho mine\n"), 0o755))
		assert.Equal(t, "mine\n", h.run(acp.CreateTerminalRequest{Command: "true", Env: []acp.EnvVariable{{Name: "PATH", Value: ".:" + h.work + ":/bin"}}}))
		assert.Equal(t, own, seen.Path)
	})
	t.Run("bad names", func(t *testing.T) {
		h := newRunner(t, nil, func(context.Context, *terminals.Command) error { return nil })
		for _, v := range []acp.EnvVariable{{Name: ""}, {Name: "A=B"}, {Name: "A\x00"}, {Name: "A", Value: "\x00"}} {
			_, err := h.tryCreate(acp.CreateTerminalRequest{Command: "true", Env: []acp.EnvVariable{v}})
			assert.ErrorIs(t, err, terminals.ErrEnv)
		}
	})
}

func TestNoInput(t *testing.T) {
	h := newRunner(t, nil, nil)
	assert.Empty(t, h.run(acp.CreateTerminalRequest{Command: "cat"}))
}
