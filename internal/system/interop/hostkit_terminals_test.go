//go:build unix

package interop_test

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/host"
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

// An agent on the TypeScript SDK reads and writes through client/host.
func TestHostKitFiles(t *testing.T) {
	t.Parallel()
	k := newHostKit(t, host.Options{Ask: yes})
	secret := filepath.Join(k.base, "secret.txt")
	for path, text := range map[string]string{
		secret: "secret", k.base + "/work-twin/a": "secret", k.at("a"): "one\ntwo\nthree", k.at("crlf"): "\ufeffone\r\ntwo\r\n", k.at("sub/b"): "b", k.at("b"): "wrong",
		k.at("latin"): "\xe9", k.at("nul"): "a\x00b", k.at("empty"): "",
	} {
		k.put(path, text)
	}
	k.link(filepath.Join(k.base, "nothing"), k.at("dangling out"))
	k.link("made", k.at("dangling in"))
	k.link(k.base, k.at("up"))
	require.NoError(t, os.MkdirAll(k.at("sub/deep"), 0o755))
	k.link("sub/deep", k.at("alias"))
	require.NoError(t, os.Link(secret, k.at("hard")))
	require.NoError(t, syscall.Mkfifo(k.at("fifo"), 0o600))
	socket, err := net.Listen("unix", k.at("socket"))
	require.NoError(t, err)
	defer socket.Close()
	k.put(k.at("large"), strings.Repeat("x", 16<<20+1))
	require.NoError(t, os.Chmod(k.at("sub/b"), 0o4750))

	const refused, missing = "-32602", "-32002"
	text := func(s string) string { return `{"content":"` + s + `"}` }
	lines := func(label string, line, limit any) step {
		s := readStep(label, k.at("a"))
		s.Params["line"], s.Params["limit"] = line, limit
		return s
	}
	foreign := readStep("unknown session", k.at("a"))
	foreign.Params["sessionId"] = "session-99"
	var steps []step
	want := map[string]string{}
	expect := func(s step, answer string) {
		steps = append(steps, s)
		want[s.Label] = answer
	}
	for path, answer := range map[string]string{
		secret: refused, k.base + "/nothing": refused, k.base + "/work-twin/a": refused, k.at("../secret.txt"): refused, k.at("up/secret.txt"): refused,
		k.at("up/nothing"): refused, k.at("dangling out"): refused, "/": refused, "/etc/passwd": refused, "/dev/null": refused, "/proc/self/environ": refused,
		k.at("fifo"): refused, k.at("socket"): refused, k.at("sub"): refused, k.at("latin"): refused, k.at("nul"): refused, k.at("large"): refused,
		k.at(strings.Repeat("n", 300)): refused, k.at("n\x00ul"): refused, "a": refused,
		k.at("missing"): missing, k.at("dangling in"): missing, k.at("no/such/folder"): missing,
		k.at("a"): text(`one\ntwo\nthree`), k.at("crlf"): text("\ufeff" + `one\r\ntwo\r\n`), k.at("alias/../b"): text("b"), k.at("empty"): text(""), k.at("hard"): text("secret"),
	} {
		expect(readStep("read "+path, path), answer)
	}
	expect(lines("line 0", 0, nil), text(`one\ntwo\nthree`))
	expect(lines("line 1", 1, 1), text(`one\n`))
	expect(lines("line 3", 3, 5), text(`three`))
	expect(lines("limit 0", 2, 0), text(``))
	expect(lines("line past the end", 9, nil), text(``))
	expect(foreign, refused)
	for path, answer := range map[string]string{
		secret: refused, k.at("up/secret.txt"): refused, k.at("up/new/file"): refused, k.at("dangling out"): refused, k.base + "/work-twin/b": refused,
		k.at("fifo"): refused, k.at("sub"): refused, "/dev/null": refused,
		k.at("dangling in"): "{}", k.at("new/deep/file"): "{}", k.at("hard"): "{}", k.at("sub/b"): "{}",
	} {
		expect(writeStep("write "+path, path, "new"), answer)
	}
	expect(writeStep("too large", k.at("big"), map[string]any{"$fill": 16<<20 + 1}), refused)
	expect(writeStep("a NUL", k.at("big"), "a\x00b"), refused)

	got := k.run(steps...)
	for label, answer := range want {
		assert.Equal(t, answer, got.get(label), label)
	}
	assert.Equal(t, "secret", k.text(secret), "neither outside nor by another hard link")
	assert.NoDirExists(t, filepath.Join(k.base, "new"))
	assert.NoFileExists(t, filepath.Join(k.base, "nothing"))
	assert.NoFileExists(t, k.at("big"))
	for _, path := range []string{"made", "new/deep/file", "hard", "sub/b"} {
		assert.Equal(t, "new", k.text(k.at(path)), path)
	}
	info, err := os.Stat(k.at("sub/b"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o750), info.Mode(), "the mode without setuid")

	// What the folder of the session is called later does not matter.
	require.NoError(t, os.Rename(k.work, k.work+".moved"))
	k.link(k.base, k.work)
	got = k.run(readStep("read", k.at("secret.txt")), writeStep("write", k.at("secret.txt"), "mine"), readStep("again", k.at("secret.txt")))
	assert.Equal(t, []string{missing, "{}", text("mine")}, []string{got.get("read"), got.get("write"), got.get("again")})
	assert.Equal(t, "secret", k.text(secret))
	assert.Equal(t, "mine", k.text(k.work+".moved/secret.txt"))
}

// Everything may be read with the root /, except what is no file.
func TestHostKitRootOfTheSystem(t *testing.T) {
	t.Parallel()
	k := newHostKit(t, host.Options{Roots: []string{"/"}, ReadOnly: true})
	k.put(k.at("a"), "a")
	got := k.run(readStep("file", k.at("a")), readStep("environ", "/proc/self/environ"), readStep("through proc", "/proc/self/root"+k.at("a")),
		readStep("fd", "/dev/fd/0"), readStep("stdin", "/dev/stdin"), readStep("sys", "/sys/kernel/uevent_seqnum"), writeStep("write", k.at("a"), "b"))
	assert.Equal(t, `{"content":"a"}`, got.get("file"))
	for _, label := range []string{"environ", "through proc", "fd", "stdin", "sys"} {
		assert.Equal(t, "-32602", got.get(label), label)
	}
	assert.Equal(t, "-32601", got.get("write"), "read only")
	assert.Equal(t, "a", k.text(k.at("a")))
}
