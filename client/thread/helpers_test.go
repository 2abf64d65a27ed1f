package thread_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

func update(t testing.TB, raw string) acp.SessionUpdate {
	t.Helper()
	var n acp.SessionNotification
	require.NoError(t, json.Unmarshal([]byte(`{"sessionId":"s","update":`+raw+`}`), &n), raw)
	return n.Update
}

// threadOf returns a thread to which the updates were applied.
func threadOf(t testing.TB, updates ...string) *thread.Thread {
	t.Helper()
	th := thread.New()
	for _, u := range updates {
		th.Apply(update(t, u))
	}
	return th
}

// lines shows the items of a thread, one a line: messages as role and text, tool calls as
// their title and state.
func lines(th *thread.Thread) []string {
	var all []string
	for _, item := range th.Snapshot().Items.All() {
		switch item := item.(type) {
		case *thread.Message:
			all = append(all, string(item.Role)+": "+item.Text())
		case *thread.ToolCall:
			state := item.Status
			if item.Ended {
				state += ", ended"
			}
			all = append(all, "tool "+item.ID+": "+item.Title+" ("+state+")")
		case *thread.Notice:
			all = append(all, item.Severity+": "+item.Title)
		case *thread.Compaction:
			all = append(all, "compaction: "+item.Status)
		case *thread.Subagent:
			all = append(all, "subagent: "+item.Title)
		case *thread.Unknown:
			all = append(all, "unknown: "+item.Type)
		}
	}
	return all
}

func agentText(text string) string {
	return chunk("agent_message_chunk", "", text)
}

func chunk(kind, id, text string) string {
	u := map[string]any{"sessionUpdate": kind, "content": map[string]any{"type": "text", "text": text}}
	if id != "" {
		u["messageId"] = id
	}
	b, _ := json.Marshal(u)
	return string(b)
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
