package thread_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/client/v2/thread"
)

// A recorded session goes through a thread: each text, id, path and number of each update,
// prompt and question must be found in the thread right after it was told, and reading
// the thread from JSON must give the same thread.
func TestTranscriptsAreAppliedWithoutLoss(t *testing.T) {
	files, err := filepath.Glob("../../../internal/recordings/transcripts-v2/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	updates := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			threads := map[string]*model.Thread{}
			second := true
			lines := bufio.NewScanner(bytes.NewReader(b))
			lines.Buffer(nil, len(b)+1)
			for lines.Scan() {
				var recorded struct{ Dir, Raw string }
				require.NoError(t, json.Unmarshal(lines.Bytes(), &recorded))
				if v := chosen(recorded.Raw); v > 0 {
					second = v == acp.ProtocolVersion // the router's recordings have both versions
				}
				if second {
					updates += tell(t, threads, recorded.Raw)
				}
			}
			for _, th := range threads {
				text := toJSON(t, th.Snapshot())
				var read model.Snapshot
				require.NoError(t, json.Unmarshal([]byte(text), &read))
				assert.Equal(t, text, toJSON(t, &read))
			}
		})
	}
	assert.Greater(t, updates, 250)
}

// chosen returns the version of the protocol in a response to initialize, or 0.
func chosen(raw string) int {
	var m struct {
		Result struct{ ProtocolVersion int }
	}
	if json.Unmarshal([]byte(raw), &m) != nil {
		return 0
	}
	return m.Result.ProtocolVersion
}

// tell tells one recorded message to the thread of its session and counts it.
func tell(t *testing.T, threads map[string]*model.Thread, raw string) int {
	var m struct {
		Method string
		Params json.RawMessage
	}
	var of struct{ SessionID string }
	if json.Unmarshal([]byte(raw), &m) != nil || m.Params == nil || json.Unmarshal(m.Params, &of) != nil {
		return 0
	}
	th := threads[of.SessionID]
	if th == nil {
		th = model.New()
		threads[of.SessionID] = th
	}
	var lost struct{ Update, Prompt, Title, Description, Subject, Options any }
	switch m.Method {
	case "session/update":
		var n acp.UpdateSessionNotification
		require.NoError(t, json.Unmarshal(m.Params, &n), raw)
		thread.Apply(th, n.Update)
	case "session/prompt":
		var p acp.PromptRequest
		if json.Unmarshal(m.Params, &p) != nil {
			return 0 // a bad one of a probe
		}
		thread.Prompt(th, p.Prompt)
	case "session/request_permission":
		var p acp.RequestPermissionRequest
		require.NoError(t, json.Unmarshal(m.Params, &p), raw)
		thread.Permission(th, &p)
	default:
		return 0
	}
	require.NoError(t, json.Unmarshal(m.Params, &lost))
	found := shown(t, th)
	for _, v := range []any{lost.Update, lost.Prompt, lost.Title, lost.Description, lost.Subject, lost.Options} {
		eachLeaf("", v, func(name string, leaf any) {
			switch leaf := leaf.(type) {
			case string:
				// The tags of updates, subjects and the like are the types of the items.
				if slices.Contains([]string{"sessionUpdate", "type", "operation", "state"}, name) {
					return
				}
				quoted := strings.Trim(toJSON(t, leaf), `"`)
				decoded, err := base64.StdEncoding.DecodeString(leaf)
				assert.True(t, strings.Contains(found, leaf) || strings.Contains(found, quoted) ||
					name == "data" && err == nil && strings.Contains(found, string(decoded)), "%s: %s %s is lost in %s", m.Method, name, leaf, found)
			case float64:
				assert.Contains(t, found, toJSON(t, leaf), "%s: %s is lost", m.Method, name)
			}
		})
	}
	return 1
}

// shown is all that a thread shows, with the texts and the output of terminals as they are
// beside the JSON, which escapes them.
func shown(t *testing.T, th *model.Thread) string {
	var text strings.Builder
	s := th.Snapshot()
	for _, item := range s.Items.All() {
		if m, ok := item.(*model.Message); ok {
			text.WriteString(m.Text())
		}
	}
	for _, terminal := range s.Terminals.All() {
		text.Write(terminal.Output)
	}
	text.WriteString(toJSON(t, s))
	return text.String()
}

func eachLeaf(name string, v any, visit func(name string, leaf any)) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			eachLeaf(name, inner, visit)
		}
	case []any:
		for _, inner := range v {
			eachLeaf(name, inner, visit)
		}
	default:
		visit(name, v)
	}
}
