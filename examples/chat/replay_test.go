package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// message is a recorded message.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// replay plays what a recording tells of its sessions, and returns the threads and what chat shows.
func replay(t *testing.T, file string) (threads map[string]*thread.Thread, shown string) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var out bytes.Buffer
	s := newScreen(&out, false)
	threads = map[string]*thread.Thread{}
	views, prompts := map[string]*view{}, map[string]string{}
	of := func(id string) *view {
		if views[id] == nil {
			threads[id] = thread.New()
			views[id] = newView(s, acp.SessionID(id), threads[id], "/home/u/ws")
		}
		return views[id]
	}
	for line := range bytes.Lines(b) {
		var l struct{ Raw string }
		var m message
		require.NoError(t, json.Unmarshal(line, &l))
		if json.Unmarshal([]byte(l.Raw), &m) != nil {
			continue
		}
		var named struct{ SessionID string }
		_ = json.Unmarshal(m.Params, &named)
		switch m.Method {
		case "session/update":
			var n acp.SessionNotification
			if json.Unmarshal(m.Params, &n) == nil {
				of(named.SessionID).thread.Apply(n.Update)
			}
		case "session/request_permission":
			var req acp.RequestPermissionRequest
			if json.Unmarshal(m.Params, &req) == nil {
				of(named.SessionID).thread.Answered(of(named.SessionID).thread.Permission(&req))
			}
		case "session/prompt":
			var req acp.PromptRequest
			if json.Unmarshal(m.Params, &req) == nil {
				of(named.SessionID).thread.Prompt(req.Prompt)
				prompts[string(m.ID)] = named.SessionID
			}
		case "session/load":
			delete(views, named.SessionID) // as chat does, and the thread begins anew
			of(named.SessionID).load(true)
		case "":
			if id, ok := prompts[string(m.ID)]; ok && (m.Result != nil || m.Error != nil) {
				delete(prompts, string(m.ID))
				named.SessionID = id
				var res acp.PromptResponse
				if m.Error != nil || json.Unmarshal(m.Result, &res) != nil {
					of(id).thread.EndTurn(nil, errors.New("it failed"))
				} else {
					of(id).thread.EndTurn(&res, nil)
				}
			}
		}
		if v := views[named.SessionID]; v != nil {
			v.draw()
		}
	}
	s.endTurn()
	return threads, out.String()
}

// bare returns a text without white space and without the marks of chat.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("│·>", r) {
			return -1
		}
		return r
	}, text)
}

// In the recordings of agents in use, a person sees each message, each tool call with how it ended, and what it
// reports.
func TestRecordingsAreShown(t *testing.T) {
	calls := 0
	for _, folder := range []string{"transcripts", "transcripts-november"} {
		files, err := filepath.Glob("../../internal/recordings/" + folder + "/*.jsonl")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			threads, out := replay(t, file)
			shown := bare(out)
			for _, th := range threads {
				s := th.Snapshot()
				for _, item := range s.Items.All() {
					switch item := item.(type) {
					case *thread.Message:
						if item.Role != thread.RoleUser {
							for line := range strings.SplitSeq(item.Text(), "\n\n") {
								assert.Contains(t, shown, bare(safetext.Lines(line, len(line))), file)
							}
						}
					case *thread.ToolCall:
						calls++
						assert.Contains(t, out, "▸ ", file)
						mark := map[string]string{thread.ToolCompleted: "✓ ", thread.ToolFailed: "✗ "}[item.Status]
						assert.Contains(t, out, mark+safetext.OneLine(item.Title, shownOfLine), file)
						text := unfenced(item.Text())
						for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
							if i < outputShown && mark != "" {
								assert.Contains(t, shown, bare(safetext.Lines(line, len(line))), "%s: %s", file, item.Title)
							}
						}
					}
				}
				for _, terminal := range s.Terminals.All() {
					assert.Contains(t, shown, bare(string(terminal.Output)), file)
				}
			}
		}
	}
	assert.Greater(t, calls, 30)
}

// The output of a command is shown once, between the line that begins the call and the one that ends it, whichever
// form the agent has chosen for it.
func TestOutputIsShownOnce(t *testing.T) {
	const begins, ends = "▸ echo shell-says-hi > shell.txt; cat shell.txt\n", "✓ echo shell-says-hi > shell.txt; cat shell.txt\n"
	for name, want := range map[string]string{
		"chat-claude.work":   "▸ Terminal\n  │ shell-says-hi\n" + ends,
		"chat-codex.work":    begins + "  │ shell-says-hi\n" + ends,
		"chat-copilot.work":  "▸ fake description\n  │ shell-says-hi\n  │ <shellId: 0 completed with exit code 0>\n✓ fake description\n",
		"chat-gemini.work":   begins + "  │ shell-says-hi\n" + ends,
		"chat-goose.load":    "▸ shell · echo shell-says-hi > shell.txt; cat shell.txt\n  │ exit code: 0\n  │ shell-says-hi\n✓ shell · echo shell-says-hi > shell.txt; cat shell.txt\n",
		"chat-opencode.work": "▸ bash\n  │ shell-says-hi\n" + ends,
		"zedcodex.perm-yes":  "  │ Abort\n  │ shell-says-hi\n" + ends, // behind what it has shown with its question
		"claude.perm-no":     "✗ echo shell-says-hi > shell.txt; cat shell.txt\n  User refused permission to run tool\n",
		"chat-copilot.deny":  "✗ Creating /home/u/ws/copilot-byok/out.txt\n  Path already exists\n",
		"chat-zedcodex.work": "✗ echo shell-says-hi > shell.txt; cat shell.txt\n  thread 'main'",
	} {
		_, out := replay(t, "../../internal/recordings/transcripts-november/"+name+".jsonl")
		assert.Contains(t, out, want, name)
		if strings.HasSuffix(want, ends) {
			assert.Equal(t, 1, strings.Count(out, "│ shell-says-hi\n"), name)
		}
	}
}
