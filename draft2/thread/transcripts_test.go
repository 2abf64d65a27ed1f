package thread_test

import (
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

	v1 "github.com/acpkit/go-sdk/acp"
	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/thread"
)

// version applies recorded messages of one version of the protocol to a thread.
type version struct {
	// apply reports whether the params of the method are applied. A recording contains malformed
	// ones.
	apply func(th *model.Thread, method string, params []byte) bool
	// tags are the members whose values a thread expresses in another way.
	tags    []string
	updates int
}

// decoded reports whether params are a P, which it applies.
func decoded[P any](params []byte, apply func(*P)) bool {
	p := new(P)
	if json.Unmarshal(params, p) != nil {
		return false
	}
	apply(p)
	return true
}

func applyVersion1(th *model.Thread, method string, params []byte) bool {
	switch method {
	case "session/update":
		return decoded(params, func(n *v1.SessionNotification) { th.Apply(n.Update) })
	case "session/prompt":
		return decoded(params, func(p *v1.PromptRequest) { th.Prompt(p.Prompt) })
	case "session/request_permission":
		return decoded(params, func(p *v1.RequestPermissionRequest) { th.Permission(p) })
	case "session/load":
		th.Reset()
	}
	return false
}

func applyVersion2(th *model.Thread, method string, params []byte) bool {
	switch method {
	case "session/update":
		return decoded(params, func(n *acp.UpdateSessionNotification) { thread.Apply(th, n.Update) })
	case "session/prompt":
		return decoded(params, func(p *acp.PromptRequest) { thread.Prompt(th, p.Prompt) })
	case "session/request_permission":
		return decoded(params, func(p *acp.RequestPermissionRequest) { thread.Permission(th, p) })
	}
	return false
}

// A recorded session goes through a thread: the thread contains each text, id, path and number of
// each update, prompt and permission request right after it was applied. A thread that is read from
// JSON is the same.
func TestTranscriptsAreAppliedWithoutLoss(t *testing.T) {
	versions := map[int]*version{
		1: {apply: applyVersion1, tags: []string{"sessionUpdate"}},
		2: {apply: applyVersion2, tags: []string{"sessionUpdate", "type", "operation", "state"}},
	}
	for folder, v := range map[string]int{"transcripts": 1, "transcripts-v2": 2, "transcripts-november": 1} {
		files, err := filepath.Glob("../../internal/recordings/" + folder + "/*.jsonl")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				b, err := os.ReadFile(file)
				require.NoError(t, err)
				threads := map[string]*model.Thread{}
				of := versions[v]
				for line := range bytes.Lines(b) {
					var recorded struct{ Raw string }
					require.NoError(t, json.Unmarshal(line, &recorded))
					var m recordedMessage
					if json.Unmarshal([]byte(recorded.Raw), &m) != nil {
						continue
					}
					if chosen := versions[m.Result.ProtocolVersion]; chosen != nil {
						of = chosen // a router speaks both
					}
					of.check(t, threads, &m)
				}
				for _, th := range threads {
					text := toJSON(t, th.Snapshot())
					var read model.Snapshot
					require.NoError(t, json.Unmarshal([]byte(text), &read))
					assert.Equal(t, text, toJSON(t, &read))
					restored := model.New()
					restored.Restore(&read)
					assert.Equal(t, th.Snapshot().Items.Len(), restored.Snapshot().Items.Len())
				}
			})
		}
	}
	assert.GreaterOrEqual(t, versions[1].updates, 546, "all that are well formed")
	assert.GreaterOrEqual(t, versions[2].updates, 1460)
}

// recordedMessage is a request or a notification, or a response to initialize.
type recordedMessage struct {
	Method string
	Params json.RawMessage
	Result struct{ ProtocolVersion int }
}

// check applies a message to the thread of its session, and compares the thread with it.
func (v *version) check(t *testing.T, threads map[string]*model.Thread, m *recordedMessage) {
	var in struct {
		SessionID                                                      string
		Update, Prompt, Title, Description, Subject, ToolCall, Options any
	}
	if m.Params == nil || json.Unmarshal(m.Params, &in) != nil {
		return
	}
	th := threads[in.SessionID]
	if th == nil {
		th = model.New()
		threads[in.SessionID] = th
	}
	if !v.apply(th, m.Method, m.Params) {
		return
	}
	v.updates++
	found := shown(t, th)
	eachLeaf("", []any{in.Update, in.Prompt, in.Title, in.Description, in.Subject, in.ToolCall, in.Options}, func(name string, leaf any) {
		switch leaf := leaf.(type) {
		case string:
			if slices.Contains(v.tags, name) {
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

// shown returns everything that a thread shows: its JSON, and the texts and terminal outputs
// without the escapes of JSON.
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
