//go:build unix

package interop_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
)

// sh creates a terminal that runs a script, as a program with arguments.
func sh(label, script string, more ...map[string]any) step {
	s := step{Label: label, Method: acp.MethodTerminalCreate, Params: map[string]any{"command": "sh", "args": []string{"-c", script}}}
	for _, m := range more {
		maps.Copy(s.Params, m)
	}
	return s
}

// on is a request about the terminal that the step create has made, labelled "create what".
func on(create, what string) step {
	methods := map[string]string{"wait": acp.MethodTerminalWaitForExit, "output": acp.MethodTerminalOutput, "kill": acp.MethodTerminalKill, "release": acp.MethodTerminalRelease}
	method := methods[strings.Fields(what)[0]]
	return step{Label: create + " " + what, Method: method, Params: map[string]any{"terminalId": "$" + create + ".terminalId"}}
}

func flatten(groups ...[]step) []step {
	var all []step
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

// ran is a command from its start to its release.
func ran(create step) []step {
	l := create.Label
	return []step{create, on(l, "wait"), on(l, "output"), on(l, "release"), on(l, "output after release")}
}

// An agent on the TypeScript SDK runs commands through client/host.
func TestHostKitTerminals(t *testing.T) {
	t.Parallel()
	k := newHostKit(t, host.Options{Ask: yes, Terminals: &terminals.Options{}})
	k.put(k.at("file"), "")
	require.NoError(t, os.Mkdir(k.at("sub"), 0o755))
	k.link(k.base, k.at("up"))
	limit := func(n int) map[string]any { return map[string]any{"outputByteLimit": n} }
	cwd := func(dir string) map[string]any { return map[string]any{"cwd": dir} }
	line := step{Label: "line", Method: acp.MethodTerminalCreate, Params: map[string]any{"command": "echo a; echo $((1+1)) > made; exit 4"}}
	got := k.run(flatten(
		ran(sh("exit code", "echo out; echo err >&2; exit 3")),
		ran(sh("signal", "kill -KILL $$")),
		ran(line),
		ran(sh("rune", `printf '\342\202'; sleep 0.2; printf '\254'`)),
		ran(sh("limit", "printf 'a€€'", limit(4))),
		ran(sh("limit 0", "printf x", limit(0))),
		ran(sh("no limit", "head -c 100000 /dev/zero | tr '\\0' x")),
		ran(sh("above the ceiling", "head -c 1100000 /dev/zero | tr '\\0' x", limit(1<<30))),
		ran(sh("much", "head -c 64000000 /dev/zero | tr '\\0' x; echo end")),
		ran(sh("folder", "pwd", cwd(k.at("sub")))),
		ran(sh("secrets", "env")),
		ran(sh("no input", "cat; echo end")),
		ran(sh("variables", "echo $NO_COLOR", map[string]any{"env": []acp.EnvVariable{{Name: "NO_COLOR", Value: "1"}}})),
		[]step{
			sh("outside", "exit 0", cwd(k.base)), sh("by a link", "exit 0", cwd(k.at("up"))), sh("missing folder", "exit 0", cwd(k.at("none"))), sh("a file", "exit 0", cwd(k.at("file"))),
			{Label: "not found", Method: acp.MethodTerminalCreate, Params: map[string]any{"command": "no-such-command", "args": []string{"x"}}},
			sh("unknown session", "exit 0").of("session-99"),
		},
	)...)
	for label, want := range map[string]string{
		"exit code wait": `{"exitCode":3}`, "signal wait": `{"signal":"SIGKILL"}`, "line wait": `{"exitCode":4}`,
		"exit code release": `{}`, "exit code output after release": "-32002", "signal output after release": "-32002",
		"exit code output": `{"output":"out\nerr\n","truncated":false,"exitStatus":{"exitCode":3}}`,
		"line output":      `{"output":"a\n","truncated":false,"exitStatus":{"exitCode":4}}`,
		"rune output":      `{"output":"€","truncated":false,"exitStatus":{"exitCode":0}}`,
		"limit output":     `{"output":"€","truncated":true,"exitStatus":{"exitCode":0}}`,
		"limit 0 output":   `{"output":"","truncated":true,"exitStatus":{"exitCode":0}}`,
		"no input output":  `{"output":"end\n","truncated":false,"exitStatus":{"exitCode":0}}`,
		"variables output": `{"output":"1\n","truncated":false,"exitStatus":{"exitCode":0}}`,
		"folder output":    `{"output":"` + k.at("sub") + `\n","truncated":false,"exitStatus":{"exitCode":0}}`,
		"outside":          "-32602", "by a link": "-32602", "missing folder": "-32602", "a file": "-32602", "not found": "-32602", "unknown session": "-32602",
	} {
		if strings.HasPrefix(want, "{") {
			assert.JSONEq(t, want, got.get(label), label)
		} else {
			assert.Equal(t, want, got.get(label), label)
		}
	}
	for label, n := range map[string]int{"no limit output": 64 << 10, "above the ceiling output": 1 << 20, "much output": 64 << 10} {
		var res acp.TerminalOutputResponse
		got.decode(t, label, &res)
		assert.Len(t, res.Output, n, label)
		assert.True(t, res.Truncated, label)
	}
	var res acp.TerminalOutputResponse
	got.decode(t, "secrets output", &res)
	assert.NotContains(t, res.Output, "canary")
	assert.Contains(t, res.Output, "PATH=")
	assert.Equal(t, "2\n", k.text(k.at("made")))
}

// What lives longer than one request: waiting, killing, releasing, and the end.
func TestHostKitLivesOfCommands(t *testing.T) {
	t.Parallel()
	pids := &pids{}
	k := newHostKit(t, host.Options{Ask: yes, Terminals: &terminals.Options{OnOutput: pids.hear, Grace: 100 * time.Millisecond}})
	other, err := k.conn.NewSession(k.ctx, &acp.NewSessionRequest{Cwd: k.work})
	require.NoError(t, err)
	const forever = "echo $$; exec sleep 1000"
	const stubborn = `trap "" TERM; sh -c 'trap "" TERM; echo $$ stubborn; while :; do sleep 0.05; done' & echo $$ stubborn; while :; do sleep 0.05; done`
	got := k.run(
		sh("a", forever), on("a", "wait many").many(5).started(), on("a", "kill").many(2), wait("a wait many"), on("a", "wait after"), on("a", "kill after"),
		sh("b", forever), on("b", "wait").started(), on("b", "release"), wait("b wait"), on("b", "wait gone"), on("b", "kill gone"), on("b", "release gone"),
		sh("c", forever), on("c", "wait").started(), step{Take: "c wait"}, on("c", "output"),
		on("c", "output foreign").of(string(other.SessionID)), on("c", "kill foreign").of(string(other.SessionID)), on("c", "release foreign").of(string(other.SessionID)),
		on("c", "kill"), on("c", "wait at last"),
		sh("d", stubborn),
		sh("e", `sh -c 'trap "" TERM; echo $$; : > left; exec sleep 1000' & while [ ! -e left ]; do sleep 0.01; done; exit 5`), on("e", "wait"),
		sh("f", `setsid sh -c 'echo daemon$$; : > daemon; exec sleep 1000' & while [ ! -e daemon ]; do sleep 0.01; done; exit 6`), on("f", "wait"), on("f", "output"),
	)
	var daemon acp.TerminalOutputResponse
	got.decode(t, "f output", &daemon)
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(daemon.Output, "daemon")))
	require.NoError(t, err)
	assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it has left its group, holds the output, and lives")
	for _, each := range got.each("a wait many") {
		assert.JSONEq(t, `{"signal":"SIGTERM"}`, each)
	}
	assert.Len(t, got.each("a wait many"), 5)
	for label, want := range map[string]string{
		"a wait after": `{"signal":"SIGTERM"}`, "a kill after": "{}", "b release": "{}", "b wait gone": "-32002", "b kill gone": "-32002", "b release gone": "-32002",
		"c wait": "-32800", "c output foreign": "-32002", "c kill foreign": "-32002", "c release foreign": "-32002", "c wait at last": `{"signal":"SIGTERM"}`,
		"e wait": `{"exitCode":5}`, "f wait": `{"exitCode":6}`,
	} {
		if assert.NotEmpty(t, got.get(label), label); strings.HasPrefix(want, "{") {
			assert.JSONEq(t, want, got.get(label), label)
		} else {
			assert.Equal(t, want, got.get(label), label)
		}
	}
	assert.Equal(t, []string{"{}", "{}"}, got.each("a kill"))
	assert.Contains(t, []string{`{"signal":"SIGTERM"}`, "-32002"}, got.get("b wait"), "whichever was first")

	// A command that ignores SIGTERM, and what it has started, are killed.
	var d acp.CreateTerminalResponse
	got.decode(t, "d", &d)
	require.Eventually(t, func() bool { return pids.heard("stubborn") == 2 }, 20*time.Second, 10*time.Millisecond)
	kill, end := on("d", "kill"), on("d", "wait")
	kill.Params["terminalId"], end.Params["terminalId"] = d.TerminalID, d.TerminalID
	assert.JSONEq(t, `{"signal":"SIGKILL"}`, k.run(kill, end).get("d wait"))
	pids.gone(t)
}

// A thousand creates at once: as many run as may, and none after the end of the session.
func TestHostKitThousandCreates(t *testing.T) {
	t.Parallel()
	pids := &pids{}
	k := newHostKitLog(t, slog.New(slog.DiscardHandler), host.Options{Ask: yes, Terminals: &terminals.Options{OnOutput: pids.hear}})
	got := k.run(sh("crowd", "echo $$; exec sleep 1000").many(1000))
	ids := map[string]bool{}
	refused := 0
	for _, each := range got.each("crowd") {
		var made acp.CreateTerminalResponse
		if each == "-32603" {
			refused++
		} else if assert.NoError(t, json.Unmarshal([]byte(each), &made), each) {
			assert.Greater(t, len(made.TerminalID), 25)
			ids[string(made.TerminalID)] = true
		}
	}
	assert.Len(t, ids, 16)
	assert.Equal(t, 1000-16, refused)
	_, err := k.conn.CloseSession(k.ctx, &acp.CloseSessionRequest{SessionID: k.session.ID()})
	require.NoError(t, err)
	pids.gone(t)
}

// The user is asked about the arguments that will run and the names of variables.
func TestHostKitCommandsAreAsked(t *testing.T) {
	t.Parallel()
	var asked []permission.Operation
	k := newHostKit(t, host.Options{Terminals: &terminals.Options{}, Ask: func(_ context.Context, q *permission.Question) (string, error) {
		asked = append(asked, q.Operations...)
		return q.Pick(permission.RejectOnce), nil
	}})
	line := step{Label: "line", Method: acp.MethodTerminalCreate, Params: map[string]any{"command": "echo a > made"}}
	loaded := sh("preload", "exit 0", map[string]any{"env": []acp.EnvVariable{{Name: "LD_PRELOAD", Value: "/x"}}})
	got := k.run(line, loaded)
	assert.Equal(t, []string{"403", "403"}, []string{got.get("line"), got.get("preload")})
	require.Len(t, asked, 2)
	assert.True(t, asked[0].Shell)
	assert.Equal(t, []string{"echo a > made"}, asked[0].Argv)
	assert.Equal(t, []string{"LD_PRELOAD"}, asked[1].Env)
	assert.Equal(t, []string{"sh", "-c", "exit 0"}, asked[1].Argv)
	assert.NoFileExists(t, filepath.Join(k.work, "made"))
}

// pids are the processes that commands have named in their output.
type pids struct {
	mu    sync.Mutex // guards all below
	all   []int
	words []string // that are no numbers
}

func (p *pids) hear(o terminals.Output) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for word := range strings.FieldsSeq(string(o.Data)) {
		if pid, err := strconv.Atoi(word); err == nil {
			p.all = append(p.all, pid)
		} else {
			p.words = append(p.words, word)
		}
	}
}

// heard returns how often commands have said a word.
func (p *pids) heard(word string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, w := range p.words {
		if w == word {
			n++
		}
	}
	return n
}

// gone waits until no process is left.
func (p *pids) gone(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.NotEmpty(t, p.all)
	for _, pid := range p.all {
		assert.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, 20*time.Second, 10*time.Millisecond, "%d lives", pid)
	}
	p.all = nil
}
