package adapters_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fill replaces the texts of a message by filler of the same length: recordings are
// committed, and what agents say belongs to those who wrote it. Structure, order, ids, kinds,
// values and numbers stay as they are, and the same text always has the same filler.
func fill(message json.RawMessage) json.RawMessage { return fillMember("", message, nil) }

// keptMembers are the members whose texts are no prose but mean something to a program.
var keptMembers = []string{
	"jsonrpc", "method", "type", "sessionUpdate", "status", "kind", "state", "stopReason", "category", "format", "operation", "fileType",
	"severity", "role", "outcome", "mode", "action", "required", "priority", "currency", "signal", "version", "updatedAt", "mimeType", "cursor", "nextCursor",
	"value", "currentValue", "path", "oldPath", "cwd", "uri", "url", "file_path",
}

func fillMember(name string, value json.RawMessage, parent []member) json.RawMessage {
	switch value[0] {
	case '{':
		members := membersOf(value)
		var b bytes.Buffer
		b.WriteByte('{')
		for i, m := range members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quote(m.name))
			b.WriteByte(':')
			b.Write(fillMember(m.name, m.value, members))
		}
		b.WriteByte('}')
		return b.Bytes()
	case '[':
		var elements []json.RawMessage
		_ = json.Unmarshal(value, &elements) // it is an array
		var filled [][]byte
		for _, e := range elements {
			filled = append(filled, fillMember(name, bytes.TrimSpace(e), parent))
		}
		return slices.Concat([]byte("["), bytes.Join(filled, []byte(",")), []byte("]"))
	case '"':
		var text string
		_ = json.Unmarshal(value, &text) // it is a string
		switch {
		case slices.Contains(keptMembers, name), name == "id", strings.HasSuffix(name, "Id"):
			return value
		case name == "name" && (has(parent, "version") || has(parent, "toolCallId")):
			return value // of a program or a tool
		case name == "text" && has(parent, "format"):
			return quote(fillPatch(text))
		case name == "data":
			if b, err := base64.StdEncoding.DecodeString(text); err == nil {
				return quote(base64.StdEncoding.EncodeToString([]byte(fillText(string(b)))))
			}
		}
		return quote(fillText(text))
	}
	return value
}

// fillPatch fills the lines of a patch, and leaves what is around them.
func fillPatch(patch string) string {
	lines := strings.Split(patch, "\n")
	for i, line := range lines {
		if line != "" && strings.Contains("+- ", line[:1]) && !strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "--- ") {
			lines[i] = line[:1] + fillText(line[1:])
		}
	}
	return strings.Join(lines, "\n")
}

var letters = regexp.MustCompile(`[A-Za-z]+`)

const filler = "loremipsumdolorsitametconsecteturadipiscingelitseddoeiusmodtemporincididuntutlaboreetdoloremagnaaliqua"

// fillText replaces each run of letters by another of the same length that depends on the run
// alone.
func fillText(text string) string {
	return letters.ReplaceAllStringFunc(text, func(word string) string {
		h := fnv.New32a()
		_, _ = h.Write([]byte(word)) // never fails
		at := int(h.Sum32() % uint32(len(filler)))
		b := []byte(word)
		for i := range b {
			c := filler[(at+i)%len(filler)]
			if 'A' <= b[i] && b[i] <= 'Z' {
				c -= 'a' - 'A'
			}
			b[i] = c
		}
		return string(b)
	})
}

// member is a member of an object, in its place.
type member struct {
	name  string
	value json.RawMessage
}

func membersOf(object json.RawMessage) []member {
	var all []member
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token() // the brace
	for d.More() {
		name, _ := d.Token() // the messages of a recording are valid JSON
		var value json.RawMessage
		_ = d.Decode(&value)
		text, _ := name.(string)
		all = append(all, member{text, value})
	}
	return all
}

func has(members []member, name string) bool {
	return slices.ContainsFunc(members, func(m member) bool { return m.name == name })
}

// quote writes a text as JSON, with no more escapes than needed.
func quote(text string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func TestFill(t *testing.T) {
	in := `{"jsonrpc":"2.0","id":7,"method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1",
		"name":"Write","title":"Write Secret.txt","n":1.50,"rawInput":{"file_path":"/srv/a","words":["Secret","plain"]},
		"content":[{"type":"diff","patch":{"format":"git_patch","text":"diff --git /srv/a /srv/a\n--- /srv/a\n+++ /srv/a\n@@ -1 +1 @@\n-Secret\n+plain\n"}}],
		"output":{"data":"U2VjcmV0"},"options":[{"optionId":"yes","name":"Secret","kind":"allow_once"}],"_meta":{"quota":{"left":null,"text":"Secret <1>"}}}}}`
	out := string(fill(json.RawMessage(in)))
	require.True(t, json.Valid([]byte(out)), out)
	word := fillText("Secret")
	assert.Len(t, word, len("Secret"))
	assert.NotEqual(t, "Secret", word)
	assert.Regexp(t, `^[A-Z][a-z]{5}$`, word)
	assert.Equal(t, `{"jsonrpc":"2.0","id":7,"method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1",`+
		`"name":"Write","title":"`+fillText("Write")+` `+word+`.`+fillText("txt")+`","n":1.50,"rawInput":{"file_path":"/srv/a","words":["`+word+`","`+fillText("plain")+`"]},`+
		`"content":[{"type":"diff","patch":{"format":"git_patch","text":"diff --git /srv/a /srv/a\n--- /srv/a\n+++ /srv/a\n@@ -1 +1 @@\n-`+word+`\n+`+fillText("plain")+`\n"}}],`+
		`"output":{"data":"`+base64.StdEncoding.EncodeToString([]byte(word))+`"},"options":[{"optionId":"yes","name":"`+word+`","kind":"allow_once"}],`+
		`"_meta":{"quota":{"left":null,"text":"`+word+` <1>"}}}}}`, out)
}
