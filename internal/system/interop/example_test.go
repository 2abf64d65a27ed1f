package interop_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/system/chatserver"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// place is where an example agent works: a folder, a home for its sessions and for the recordings of
// acp tap, and the model of examples/coder.
type place struct {
	dir, home string
	agent     []string // the command
	env       []string
	model     *chatserver.Server
}

// newPlace is a place with a file notes.txt for the program agent, draft2/agent or coder, with acp tap in between or
// not.
func newPlace(t *testing.T, program string, tapped bool) *place {
	t.Helper()
	needShell(t)
	p := &place{dir: pairtest.TempDir(t), home: pairtest.TempDir(t), agent: []string{example(t, program)}, model: chatserver.Start(t)}
	if program != "coder" {
		p.agent = append(p.agent, "-state", p.home)
	}
	if tapped {
		p.agent = append([]string{example(t, "acp"), "tap", "--"}, p.agent...)
	}
	p.env = append(os.Environ(), "BASE_URL="+p.model.URL, "API_KEY=", "MODEL=",
		"HOME="+p.home, "XDG_CONFIG_HOME="+p.home, "APPDATA="+p.home, "XDG_STATE_HOME="+p.home)
	p.put(t, "notes.txt", "first line\n")
	return p
}

func (p *place) put(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

func (p *place) text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	require.NoError(t, err)
	return string(b)
}

// sound asserts that no message that acp tap has recorded breaks a rule, and that the model has seen no
// invalid history. It returns how many messages of each kind were recorded.
func (p *place) sound(t *testing.T) map[string]int {
	t.Helper()
	kinds, wrong := tapRecords(t, p.home)
	wrong = slices.DeleteFunc(wrong, func(fault string) bool { // clients ask for it to get the error
		return strings.Contains(fault, `client: unknown-session: The session "none" is unknown`)
	})
	assert.Empty(t, wrong)
	assert.Zero(t, kinds["invalid"]+kinds["gap"])
	faults, _ := p.model.Faults()
	assert.Empty(t, faults)
	return kinds
}

// acpx runs the examples: they read, edit and run, or do not when they are not allowed to. With acp tap
// in between they say and do the same.
func TestExamplesUnderAcpx(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, program, flag, prompt string
		code                        int
		says                        string
		notes                       string // what notes.txt holds afterwards
	}{
		{"reads", "agent", "--approve-all", "read notes.txt", 0, "first line", "first line\n"},
		{"edits", "agent", "--approve-all", `edit notes.txt: replace "first" with "second"`, 0, "", "second line\n"},
		{"runs", "agent", "--approve-all", "run wc -l notes.txt", 0, "1 notes.txt", "first line\n"},
		{"plans", "agent", "--approve-all", `plan: read notes.txt, then append to notes.txt: more, then run cat notes.txt`, 0, "more", "first line\nmore\n"},
		{"may not read", "agent", "--deny-all", `edit notes.txt: replace "first" with "second"`, 0, "did not work", "first line\n"},
		{"may not edit", "agent", "--approve-reads", `edit notes.txt: replace "first" with "second"`, 5, "", "first line\n"},
		{"may not run", "agent", "--deny-all", "run touch made.txt", 5, "", "first line\n"},
		{"calls of a model", "coder", "--approve-all", `read notes.txt, then edit notes.txt: replace "first" with "second", then run cat notes.txt`, 0, "I have read: second line", "second line\n"},
		{"may not run what a model calls", "coder", "--deny-all", "run touch made.txt", 5, "I have read: The person rejected this call.", "first line\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var said []string
			for _, tapped := range []bool{false, true} {
				p := newPlace(t, test.program, tapped)
				got := run(t, p.dir, p.env, "", acpx(t, p.dir, p.agent, test.flag, "--format", "quiet", "exec", test.prompt)...)
				assert.Equal(t, test.code, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
				assert.NotContains(t, got.stderr, "level=", "the agent has nothing to warn of")
				assert.Contains(t, got.stdout, test.says)
				assert.Equal(t, test.notes, p.text(t, "notes.txt"))
				assert.NoFileExists(t, filepath.Join(p.dir, "made.txt"))
				said = append(said, strings.ReplaceAll(got.stdout, p.dir, "DIR"))
				if tapped {
					kinds := p.sound(t)
					assert.Equal(t, kinds["request"], kinds["response"])
					assert.Positive(t, kinds["notification"])
				}
			}
			assert.Equal(t, said[0], said[1])
		})
	}
}

// acpx holds a conversation in one session, whose agent it ends after each turn: it cancels one turn
// in a command and one while the model speaks, and loads the session for the next ones.
func TestExampleSessionsUnderAcpx(t *testing.T) {
	t.Parallel()
	for program, test := range map[string]struct{ appended, sleep, read string }{
		"agent": {"Wrote notes.txt.", "run `touch running; exec sleep 60`", "notes.txt has 2 lines."},
		"coder": {"I have read: [exit code 0]", "run touch running; exec sleep 60", "first line\nmore"},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, program, true)
			command := func(args ...string) []string {
				return acpx(t, p.dir, p.agent, append([]string{"--approve-all", "--ttl", "1"}, args...)...)
			}
			done := func(args ...string) string {
				t.Helper()
				got := run(t, p.dir, p.env, "", command(args...)...)
				require.Zero(t, got.code, "%v\nstdout: %s\nstderr: %s", args, got.stdout, got.stderr)
				assert.NotContains(t, got.stderr, "level=", "the agent has nothing to warn of")
				return got.stdout
			}
			// ended waits until the process that acpx keeps for a session, and that has its agent, has ended by its ttl.
			ended := func() {
				t.Helper()
				require.Eventually(t, func() bool {
					locks, err := filepath.Glob(filepath.Join(p.home, ".acpx", "queues", "*.lock"))
					return err == nil && locks == nil
				}, conversationTimeout, 10*time.Millisecond)
			}
			cancelled := func(prompt string, reached func() bool) {
				t.Helper()
				waits := command("prompt", prompt)
				turn := exec.CommandContext(t.Context(), waits[0], waits[1:]...)
				turn.Env = p.env
				var said bytes.Buffer
				turn.Stdout = &said
				require.NoError(t, turn.Start())
				require.Eventually(t, reached, conversationTimeout, 50*time.Millisecond)
				done("cancel")
				require.NoError(t, turn.Wait())
				assert.Contains(t, said.String(), "[done] cancelled")
				ended()
			}
			done("sessions", "new")
			assert.Contains(t, done("prompt", "append to notes.txt: more"), test.appended)
			ended()
			cancelled(test.sleep, func() bool { _, err := os.Stat(filepath.Join(p.dir, "running")); return err == nil })
			if program == "coder" {
				_, before := p.model.Faults()
				cancelled("wait", func() bool { _, n := p.model.Faults(); return n > before })
				require.Eventually(t, func() bool { return p.model.Aborted() == 1 }, conversationTimeout, 10*time.Millisecond)
			}
			last := done("prompt", "read notes.txt")
			assert.Contains(t, last, "session/load")
			assert.Contains(t, last, test.read)
			p.sound(t)
		})
	}
}

// driveExample runs an example, with acp tap in between, under a client of the TypeScript SDK, and
// decodes what the client reports.
func driveExample(t *testing.T, program, client string, report any) *place {
	t.Helper()
	p := newPlace(t, program, true)
	p.put(t, "notes", "one\ntwo\nthree\n")
	got := run(t, p.dir, p.env, "", append(node(t, client, p.dir), p.agent...)...)
	require.Zero(t, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
	for line := range strings.Lines(got.stderr) {
		assert.Contains(t, line, "acp: recording to ", "nothing of this is worth a warning")
	}
	p.sound(t)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), report), "%s", got.stdout)
	return p
}

// The TypeScript SDK's client of version 1, with files and terminals, holds turns with the examples,
// cancels some, and finds all of it again in another process.
func TestTypeScriptClientOfVersion1WithExamples(t *testing.T) {
	t.Parallel()
	const first = `read notes, then edit notes: replace "two" with "2"`
	for program, want := range map[string]struct {
		live, loaded []string
		made         string
	}{
		"agent": {[]string{"plan in_progress,pending", "tool_call Read notes pending", "plan completed,completed", "config_option_update"}, []string{
			"user_message_chunk " + first, "agent_thought_chunk That is more than one thing to do, so I make a plan.", "plan completed,completed",
			"tool_call Read notes completed", "agent_message_chunk notes has 3 lines.\n```\none\ntwo\nthree\n```\n",
			"tool_call Edit notes completed", "agent_message_chunk Wrote notes.\n", "agent_message_chunk Everything is done.\n",
			"user_message_chunk run cat notes", "tool_call cat notes completed", "agent_message_chunk `cat notes` printed:\n```\none\n2\nthree\n```\n",
			"user_message_chunk write made: x", "tool_call Write made failed", "agent_message_chunk Write made did not work: you did not allow it.\n",
			"user_message_chunk run exec sleep 60", "tool_call exec sleep 60 failed",
			"user_message_chunk run echo never > made", "tool_call echo never > made failed",
			"session_info_update " + first,
		}, "x\n"},
		"coder": {nil, []string{
			"user_message_chunk " + first,
			"agent_message_chunk I do step 1. ", "tool_call Read notes completed", "agent_message_chunk I do step 2. ", "tool_call Edit notes completed",
			"agent_message_chunk I have read: Wrote notes.",
			"user_message_chunk run cat notes", "agent_message_chunk I do step 1. ", "tool_call cat notes completed", "agent_message_chunk I have read: one\n2\nthree\n\n[exit code 0]",
			"user_message_chunk write made: x", "agent_message_chunk I do step 1. ", "tool_call Write made failed",
			"agent_message_chunk I have read: The person rejected this call. Do not try it again in another way; go on without it, or ask what to do.",
			"user_message_chunk run exec sleep 60", "agent_message_chunk I do step 1. ", "tool_call exec sleep 60 failed",
			"user_message_chunk run echo never > made", "agent_message_chunk I do step 1. ", "tool_call echo never > made failed",
			"session_info_update " + first,
		}, "x"},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			var report struct {
				Stops, Modes, Asked, AskedLater, Listed, Live, Loaded, Resumed []string
				Mode                                                           string
				Terminals, Left                                                int
				Errors                                                         map[string]int
			}
			p := driveExample(t, program, "client1.mjs", &report)
			assert.Equal(t, []string{"end_turn", "end_turn", "end_turn", "cancelled", "cancelled", "end_turn"}, report.Stops)
			assert.Equal(t, []string{"ask", "auto"}, report.Modes)
			assert.Equal(t, []string{"Edit notes", "cat notes", "Write made", "exec sleep 60", "echo never > made"}, report.Asked)
			assert.Zero(t, report.Terminals, "all are released")
			assert.Subset(t, report.Live, want.live)
			assert.Equal(t, []string{first}, report.Listed)
			assert.Equal(t, "auto", report.Mode)
			assert.Equal(t, want.loaded, report.Loaded)
			assert.NotContains(t, report.Resumed, report.Loaded[0], "resume shows nothing again")
			assert.Empty(t, report.AskedLater, "the mode is the one that was set")
			assert.Zero(t, report.Left)
			assert.Equal(t, map[string]int{"session/load": -32002, "session/resume": -32002}, report.Errors)
			assert.Equal(t, want.made, p.text(t, "made"))
		})
	}
}

// The TypeScript SDK's client of version 2 drives draft2/examples/agent, whose agent speaks version 1, through
// draft2/serve and its adapter. It checks every message that it gets against the schema.
func TestTypeScriptClientOfVersion2WithExample(t *testing.T) {
	t.Parallel()
	var report struct {
		Stops                  [][2]string
		Seen, Replayed, Listed []string
		Mode                   string
		Errors                 map[string]int
	}
	p := driveExample(t, "draft2/agent", "client2.mjs", &report)
	assert.Equal(t, [][2]string{{"end_turn", "string"}, {"end_turn", "string"}, {"end_turn", "string"}, {"cancelled", "string"}}, report.Stops)
	assert.Equal(t, []string{
		"user_message", "state_update running", "session_info_update", "tool_call_update pending", "tool_call_update in_progress",
		"tool_call_update completed", "agent_message_chunk", "state_update idle",
		"user_message", "state_update running", "tool_call_update pending", "state_update requires_action", "ask Edit notes",
		"state_update running", "tool_call_update in_progress", "tool_call_update completed", "agent_message_chunk", "state_update idle",
		"user_message", "state_update running", "tool_call_update pending", "state_update requires_action", "ask cat notes",
		"state_update running", "tool_call_update in_progress", "tool_call_update completed", "agent_message_chunk", "state_update idle",
		"user_message", "state_update running", "tool_call_update pending", "state_update requires_action", "ask exec sleep 60",
		"state_update running", "tool_call_update in_progress", "tool_call_update failed", "state_update idle",
	}, story(report.Seen))
	assert.Equal(t, []string{
		"user_message", "tool_call_update completed", "agent_message", "user_message", "tool_call_update completed", "agent_message",
		"user_message", "tool_call_update completed", "agent_message", "user_message", "tool_call_update failed",
		"session_info_update", "replay_complete", "state_update idle",
	}, story(report.Replayed))
	assert.Equal(t, []string{"read notes"}, report.Listed)
	assert.Equal(t, "auto", report.Mode)
	assert.Equal(t, map[string]int{"session/prompt": -32002, "tool_call/cancel": -32602, "terminal/cancel": -32602, "session/resume": -32002}, report.Errors)
	assert.Equal(t, "one\n2\nthree\n", p.text(t, "notes"))
}

// story leaves out repetitions, and the commands, which the agent sends when it has
// responded.
func story(updates []string) []string {
	var out []string
	for _, u := range updates {
		if u != "available_commands_update" && (len(out) == 0 || out[len(out)-1] != u) {
			out = append(out, u)
		}
	}
	return out
}

// The example client holds a turn with an agent on the TypeScript SDK, and records it.
func TestExampleClient(t *testing.T) {
	t.Parallel()
	dir := pairtest.TempDir(t)
	record := filepath.Join(t.TempDir(), "record.jsonl")
	command := append([]string{example(t, "chat"), "-prompt", "Hello, you", "-yes", "-dir", dir, "-record", record, "--"}, node(t, "agent.mjs")...)
	got := run(t, dir, os.Environ(), "", command...)
	require.Zero(t, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
	assert.Contains(t, got.stdout, "selected id-allow_once")
	b, err := os.ReadFile(filepath.Join(dir, "file.txt"))
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\nthree\nfour\n", string(b))
	recorded, err := os.ReadFile(record)
	require.NoError(t, err)
	assert.Contains(t, string(recorded), "session/prompt")
}
