package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

// agent returns the command line of an agent that the test binary plays.
func agent(name string, args ...string) []string {
	return append([]string{os.Args[0], "play", name}, args...)
}

// acp returns the command acp, whose recordings are in the folder state.
func acp(state string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), acpEnv+"=1", "XDG_STATE_HOME="+state)
	return cmd
}

// tapped returns acp tap before an agent.
func tapped(state string, agent []string) *exec.Cmd {
	return acp(state, append([]string{"tap", "--"}, agent...)...)
}

// ran is how a program ended, and what it wrote.
type ran struct {
	state, out, err string
}

func run(t *testing.T, cmd *exec.Cmd, in io.Reader) (r ran) {
	t.Helper()
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &said
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return ran{cmd.ProcessState.String(), out.String(), said.String()}
}

// theRecording returns the path of the one recording in a folder and its records.
func theRecording(t *testing.T, state string) (path string, list []recording.Record) {
	t.Helper()
	files, err := recording.List(filepath.Join(state, "acpkit", "recordings"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.False(t, files[0].Live)
	r, err := recording.Open(files[0].Path)
	require.NoError(t, err)
	defer r.Close()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files[0].Path, list
		}
		require.NoError(t, err)
		list = append(list, rec)
	}
}

// A client and an agent get every byte of each other, whatever it is, also at the end.
func TestBytesPassUnchanged(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{1})
	var sent bytes.Buffer
	for i := range 200 {
		junk := make([]byte, i*50)
		_, _ = random.Read(junk)
		sent.Write(junk)
		sent.WriteString("\r\n\n\x00\xff{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n{\"to\nrn")
	}
	sent.WriteString(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("a ", 5<<20) + "\"}\n")
	sent.WriteString(`{"jsonrpc":"2.0","id":2,"resu`)
	want := fmt.Sprintf("%d bytes, %x", sent.Len(), sha256.Sum256(sent.Bytes()))

	state := t.TempDir()
	got := run(t, acp(state, append([]string{"tap", "-raw", "--"}, agent("mirror")...)...), &sent)
	assert.Equal(t, want, fmt.Sprintf("%d bytes, %x", len(got.out), sha256.Sum256([]byte(got.out))))
	assert.Equal(t, "exit status 0", got.state)
	path, list := theRecording(t, state)
	assert.True(t, strings.HasPrefix(got.err, "acp: recording to "+path+" (see it with: acp view)"), got.err)
	assert.Equal(t, 1, strings.Count(got.err, "\n"))
	byDir := map[recording.Dir]int{}
	for _, rec := range list {
		byDir[rec.Dir]++
		assert.NotEqual(t, recording.Gap, rec.Kind)
	}
	assert.Equal(t, byDir[recording.Client]+1, byDir[recording.Agent], "and the exit of the agent")
	assert.Greater(t, byDir[recording.Agent], 800)
	last := list[len(list)-1]
	assert.Equal(t, []any{recording.Exit, recording.Agent, "exit status 0"}, []any{last.Kind, last.Dir, last.Line})
}

// Whatever the agent does, the client sees the same with and without tap.
func TestEndsAsWithoutTap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		agent []string
		in    string
	}{
		"succeeds":            {agent("say", "hello\n", "", "0"), ""},
		"fails":               {agent("say", "", "no model\nat all", "3"), ""},
		"writes junk":         {agent("say", "\x1b[1mWelcome\x01\xff {\"jsonrpc\":", "\x01\xff", "1"), "x"},
		"ends with its input": {agent("mirror"), "a\nb"},
		"closes its output":   {agent("deaf"), "a\n"},
		"floods":              {agent("flood", "5"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			without := run(t, exec.Command(test.agent[0], test.agent[1:]...), strings.NewReader(test.in))
			state := t.TempDir()
			with := run(t, tapped(state, test.agent), strings.NewReader(test.in))
			first, rest, _ := strings.Cut(with.err, "\n")
			assert.Contains(t, first, "acp: recording to ")
			with.err = rest
			assert.True(t, without == with, "%.300v\n%.300v", without, with)
			_, list := theRecording(t, state)
			assert.Equal(t, with.state, list[len(list)-1].Line)
			said := ""
			for _, rec := range list {
				if rec.Kind == recording.Stderr {
					said += rec.Line + "\n"
				}
			}
			assert.Equal(t, strings.TrimSpace(strings.ToValidUTF8(rest, "\ufffd")), strings.TrimSpace(said))
		})
	}
}

// An agent whose client does not read any more cannot write any more.
func TestClientThatLeaves(t *testing.T) {
	t.Parallel()
	cmd := tapped(t.TempDir(), agent("flood", "100000"))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, out.Close())
	require.Error(t, cmd.Wait())
	assert.Contains(t, []string{"exit status 9", "signal: broken pipe", "exit status 141"}, cmd.ProcessState.String())
}

// A process that the agent leaves behind does not keep the client waiting.
func TestAgentThatLeavesAProcess(t *testing.T) {
	t.Parallel()
	cmd := tapped(t.TempDir(), agent("parent"))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	assert.Equal(t, 6, cmd.ProcessState.ExitCode())
	var pid int
	_, err = fmt.Sscan(string(said), &pid)
	require.NoError(t, err)
	child, err := os.FindProcess(pid)
	require.NoError(t, err)
	_ = child.Kill()
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	noProgram := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(noProgram, []byte("hello"), 0o600))
	for name, test := range map[string]struct {
		args []string
		code int
		says string
	}{
		"nothing":            {nil, 2, "usage: acp COMMAND"},
		"unknown command":    {[]string{"tape"}, 2, `there is no command "tape"`},
		"no agent":           {[]string{"tap"}, 2, "tap needs the command of the agent: acp tap -- AGENT [ARG ...]"},
		"unknown flag":       {[]string{"tap", "-x", "--", "a"}, 2, "usage: acp tap [-raw] -- AGENT"},
		"agent not found":    {[]string{"tap", "--", "no-such-agent"}, 127, `the agent "no-such-agent" was not found: install it, or give its path`},
		"no such path":       {[]string{"tap", "--", "/no/such/agent"}, 127, "install it, or give its path"},
		"no program":         {[]string{"tap", "--", noProgram}, 126, "is it a program, and may you run it?"},
		"both ways":          {[]string{"tap", "-listen", "127.0.0.1:0", "--", "a"}, 2, "not both"},
		"no URL":             {[]string{"tap", "-listen", "127.0.0.1:0"}, 2, "needs both -listen ADDRESS and -to URL"},
		"bad URL":            {[]string{"tap", "-listen", "127.0.0.1:0", "-to", "agent"}, 2, "-to must be the URL of an agent"},
		"bad scheme":         {[]string{"tap", "-listen", "127.0.0.1:0", "-to", "ftp://agent"}, 2, "with ws, wss, http or https"},
		"bad address":        {[]string{"tap", "-listen", "nowhere", "-to", "ws://agent"}, 1, "an address such as 127.0.0.1:7000 is needed"},
		"open to others":     {[]string{"tap", "-listen", "127.0.0.1:0", "-to", "ws://agent"}, 1, "set ACP_TOKEN"},
		"open to the world":  {[]string{"tap", "-listen", ":0", "-to", "ws://agent"}, 1, "set ACP_TOKEN"},
		"recordings of what": {[]string{"recordings", "all"}, 2, "recordings takes no arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			cmd := acp(state, test.args...)
			got := run(t, cmd, nil)
			assert.Equal(t, test.code, cmd.ProcessState.ExitCode())
			assert.Contains(t, got.err, test.says)
			assert.Empty(t, got.out)
			files, err := recording.List(filepath.Join(state, "acpkit", "recordings"))
			assert.NoError(t, err)
			assert.Empty(t, files, "nothing was recorded")
		})
	}
}

// Without a place for the recording the traffic passes all the same.
func TestNoPlaceForTheRecording(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(state, nil, 0o600))
	got := run(t, tapped(state, agent("mirror")), strings.NewReader("hello\n"))
	assert.Equal(t, "hello\n", got.out)
	assert.Equal(t, "exit status 0", got.state)
	assert.Contains(t, got.err, "acp: there is no recording, and the traffic passes without: ")
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	assert.Contains(t, run(t, acp(state, "recordings"), nil).err, "there are no recordings")
	run(t, tapped(state, agent("say", "", "", "0")), nil)
	live := tapped(state, agent("mirror"))
	in, err := live.StdinPipe()
	require.NoError(t, err)
	out, err := live.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, live.Start())
	_, err = io.WriteString(in, "x\n")
	require.NoError(t, err)
	_, err = io.ReadFull(out, make([]byte, 2)) // the recording has begun
	require.NoError(t, err)

	got := run(t, acp(state, "recordings"), nil)
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], "  recording")
	assert.Contains(t, lines[1], `"play" "say" "" "" "0"]`)
	assert.Contains(t, run(t, acp(state, "recordings", "-rm"), nil).err, "removed 1 of 2 recordings")
	require.NoError(t, in.Close())
	require.NoError(t, live.Wait())
	theRecording(t, state)
	assert.Contains(t, run(t, acp(state, "version"), nil).out, "acp ")
}
