package strict

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each member is judged by the schema, and what is wrong is named with its place and its weight.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		version        int
		def, raw, want string
	}{
		{1, "SessionNotification", `{"sessionId":"","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}}`, ""},
		{1, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"zap"}}`, `0 update.sessionUpdate is "zap", which is none of `},
		{1, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"plan"}}`, `0 update.entries is missing`},
		{1, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":-1,"size":1}}`, `0 update.used is -1, which is less than 0`},
		{1, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1,"size":18446744073709551615}}`, ""},
		{1, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1e999999999,"size":1}}`, `0 update.used is number instead of integer`},
		{1, "ToolCallUpdate", `{"toolCallId":"c","content":[{"type":"text","text":"x"}]}`, `1 content[0].type is "text", which is none of content, diff, terminal`},
		{1, "ToolCallUpdate", `{"toolCallId":"c","status":"done"}`, `1 status is "done", which is none of pending, in_progress, completed, failed`},
		{1, "ToolCallUpdate", `{"toolCallId":"c","rawInput":{"a":[1,null]},"unknown":1}`, ""},
		{1, "ToolCallUpdate", `{"toolCallId":"c","locations":[{"path":"a.txt"}]}`, `2 locations[0].path is "a.txt", which is no absolute path`},
		{1, "ToolCallUpdate", `{"toolCallId":"c","locations":[{"path":"C:\\a.txt"}]}`, ""},
		{1, "SessionInfoUpdate", `{"updatedAt":17}`, `1 updatedAt is number instead of string or null`},
		{1, "TerminalExitStatus", `{"exitCode":-9}`, `1 exitCode is -9, which is less than 0`},
		{1, "TerminalExitStatus", `{"exitCode":1.5}`, `1 exitCode is number instead of integer or null`},
		{1, "NewSessionRequest", `{"cwd":"/","mcpServers":null}`, `1 mcpServers is null instead of an empty list`},
		{1, "NewSessionRequest", `{"cwd":"/"}`, `0 mcpServers is missing`},
		{1, "NewSessionRequest", `{"cwd":"/","mcpServers":[{"name":"n","command":"c","args":[],"env":[]}]}`, ""},
		{1, "SessionConfigOption", `{"id":"a","name":"A","type":"select","currentValue":"x","options":[]}`, ""},
		{1, "SessionConfigOption", `{"id":"a","name":"A","type":"select","options":[]}`, `0 currentValue is missing`},
		{1, "SetSessionConfigOptionRequest", `{"sessionId":"s","configId":"c","value":"x"}`, ""},
		{1, "Error", `{"code":"x","message":"m"}`, `0 code is string instead of integer`},
		{2, "ToolKind", `"cook"`, `3  is "cook", which the protocol does not know`},
		{2, "ToolKind", `"_cook"`, ""},
		{2, "ContentBlock", `{"type":"text"}`, `0 text is missing`},
		{2, "ContentBlock", `{"type":"video"}`, `3 type is "video", which the protocol does not know`},
		{2, "ContentBlock", `{"type":"image","mimeType":"image/png","data":"no base64!"}`, `0 data is not base64`},
		{2, "PromptRequest", `{"sessionId":"s","prompt":[]}`, `0 prompt has 0 items instead of at least 1`},
		{2, "SessionInfoUpdate", `{"updatedAt":"yesterday"}`, `1 updatedAt is "yesterday", which is no time of RFC 3339`},
		{2, "ResourceLink", `{"name":"n","uri":"no uri"}`, `0 uri is "no uri", which is no URI`},
		{2, "NewSessionRequest", `{"cwd":"work"}`, `2 cwd is "work", which is no absolute path`},
		{2, "NewSessionRequest", `[]`, `0  is array instead of object`},
		{2, "NewSessionRequest", `{`, `0  cannot be read`},
	} {
		var got string
		if found := Judge(c.version, c.def, []byte(c.raw)); len(found) > 0 {
			got = fmt.Sprintf("%d %s %s", found[0].Weight, found[0].Path, found[0].Text)
		}
		if c.want == "" {
			assert.Empty(t, got, c.raw)
		} else {
			assert.Contains(t, got, c.want, c.raw)
		}
	}
}

// Whatever the payload, and whatever the schema, judging ends without a panic.
func FuzzJudge(f *testing.F) {
	f.Add("SessionUpdate", `{"sessionUpdate":"tool_call","content":[{"type":"diff","path":1}]}`)
	f.Add("RequestId", `1e400`)
	f.Fuzz(func(t *testing.T, def, raw string) {
		for _, version := range []int{1, 2} {
			for _, fault := range Judge(version, def, []byte(raw)) {
				assert.NotEmpty(t, fault.Text)
			}
		}
	})
}

// The schema refuses those values of the newest types that readers must refuse, and in version 1 also the
// kinds that it does not know, which our readers keep. Here what was guessed is judged too.
func TestJudgeVectors(t *testing.T) {
	data, err := os.ReadFile("../../../acp/testdata/november.json")
	require.NoError(t, err)
	var vectors []struct {
		Schema, Type, Note string
		Input              json.RawMessage
		OK                 bool
	}
	require.NoError(t, json.Unmarshal(data, &vectors))
	sets := map[string]*set{"v1u": load("v1-unstable.json")(), "v2u": load("v2-unstable.json")()}
	for _, s := range sets {
		for _, n := range s.defs {
			for _, member := range n.Properties {
				member.Unsure = false
			}
		}
	}
	for i, v := range vectors {
		s := sets[v.Schema]
		in, err := decode(v.Input)
		require.NoError(t, err)
		found := s.judge(s.defs[v.Type], in, "")
		kept := v.OK && v.Schema == "v1u" && slices.ContainsFunc(found, func(f Fault) bool { return strings.Contains(f.Text, "which is none of") })
		assert.Equal(t, v.OK && !kept, !refused(found), "%d %s %s: %s %v", i, v.Type, v.Note, v.Input, found)
	}
}
