package thread_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// A recorded session goes through a thread: each text, id, path and number of each update,
// prompt and question must be found in the thread right after it was told, and reading
// the thread from JSON must give the same thread.
func TestTranscriptsAreAppliedWithoutLoss(t *testing.T) {
	files, err := filepath.Glob("../../internal/recordings/transcripts/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	// A router's recording of version 1 lies with those of version 2.
	files = append(files, "../../internal/recordings/transcripts-v2/tsdk2-router_v1-client.jsonl")
	updates := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			threads := map[string]*thread.Thread{}
			lines := bufio.NewScanner(bytes.NewReader(b))
			lines.Buffer(nil, len(b)+1)
			for lines.Scan() {
				var recorded struct{ Dir, Raw string }
				require.NoError(t, json.Unmarshal(lines.Bytes(), &recorded))
				updates += tell(t, threads, recorded.Raw)
			}
			for _, th := range threads {
				text := toJSON(t, th.Snapshot())
				var read thread.Snapshot
				require.NoError(t, json.Unmarshal([]byte(text), &read))
				assert.Equal(t, text, toJSON(t, &read))
				again := thread.New()
				again.Restore(&read)
				assert.Equal(t, th.Snapshot().Items.Len(), again.Snapshot().Items.Len())
			}
		})
	}
	assert.Greater(t, updates, 100)
}

// tell tells one recorded message to the thread of its session and counts it.
func tell(t *testing.T, threads map[string]*thread.Thread, raw string) int {
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
		th = thread.New()
		threads[of.SessionID] = th
	}
	var lost any
	switch m.Method {
	case "session/update":
		var n acp.SessionNotification
		if json.Unmarshal(m.Params, &n) != nil {
			return 0 // a bad one of a probe
		}
		th.Apply(n.Update)
		var read struct{ Update any }
		require.NoError(t, json.Unmarshal(m.Params, &read))
		lost = read.Update
	case "session/prompt":
		var p acp.PromptRequest
		if json.Unmarshal(m.Params, &p) != nil {
			return 0
		}
		th.Prompt(p.Prompt)
		var read struct{ Prompt any }
		require.NoError(t, json.Unmarshal(m.Params, &read))
		lost = read.Prompt
	case "session/request_permission":
		var p acp.RequestPermissionRequest
		if json.Unmarshal(m.Params, &p) != nil {
			return 0
		}
		th.Permission(&p)
		var read struct{ ToolCall, Options any }
		require.NoError(t, json.Unmarshal(m.Params, &read))
		lost = []any{read.ToolCall, read.Options}
	case "session/load":
		th.Reset()
		return 0
	default:
		return 0
	}
	var text strings.Builder
	s := th.Snapshot()
	for _, item := range s.Items.All() {
		if m, ok := item.(*thread.Message); ok {
			text.WriteString(m.Text()) // as it is, without the escapes of JSON
		}
	}
	text.WriteString(toJSON(t, s))
	eachLeaf(lost, func(name string, leaf any) {
		switch leaf := leaf.(type) {
		case string:
			if name != "sessionUpdate" {
				quoted := strings.Trim(toJSON(t, leaf), `"`)
				assert.True(t, strings.Contains(text.String(), leaf) || strings.Contains(text.String(), quoted), "%s: %s is lost", m.Method, leaf)
			}
		case float64:
			assert.Contains(t, text.String(), toJSON(t, leaf), "%s: %s is lost", m.Method, name)
		}
	})
	return 1
}

func eachLeaf(v any, visit func(name string, leaf any)) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			switch inner.(type) {
			case map[string]any, []any:
				eachLeaf(inner, visit)
			default:
				visit(name, inner)
			}
		}
	case []any:
		for _, inner := range v {
			eachLeaf(inner, visit)
		}
	}
}
