package conversation

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/thread"
)

// Of a long text the beginning and the end are shown, also between characters of several bytes.
func TestShorten(t *testing.T) {
	const text = 4 << 10
	quotes := map[string]string{"short": strings.Repeat(`"`, 3000), "long": "begin" + strings.Repeat("ä", 10_000) + "end"}
	b, err := json.Marshal((&Shape{Text: text}).shorten(quotes))
	require.NoError(t, err)
	var got map[string]string
	require.NoError(t, json.Unmarshal(b, &got))
	assert.Equal(t, quotes["short"], got["short"], "it is long only as JSON")
	assert.Regexp(t, `^beginä+\n… 15912 bytes …\nä+end$`, got["long"])
	assert.LessOrEqual(t, len(got["long"]), text+40)
}

// said returns a thread with so many messages of the agent.
func said(n int) *thread.Thread {
	t := thread.New()
	for i := range n {
		t.AddChunk(thread.MessageChunk{Role: thread.RoleAgent, ID: fmt.Sprint(i), Content: thread.Block{Type: thread.BlockText, Text: fmt.Sprintf("number %d", i)}})
	}
	return t
}

func places(s *State) (all []int) {
	for _, item := range s.Items {
		all = append(all, item.Place)
	}
	return all
}

// A page gets the newest items, then those before them, and of what changes only what it has.
func TestParts(t *testing.T) {
	shape := &Shape{Text: 1 << 10, Bytes: 1 << 20, Markdown: true}
	th := said(10)
	now := th.Snapshot()
	first := shape.Newest(now, 4)
	assert.Equal(t, []int{6, 7, 8, 9}, places(first))
	assert.True(t, first.Whole)
	assert.NotEmpty(t, first.Rest)
	assert.Equal(t, []int{2, 3, 4, 5}, places(shape.Before(now, 6, 4)))
	assert.Equal(t, []int{0, 1}, places(shape.Before(now, 2, 4)))

	more := func(id, text string) {
		th.AddChunk(thread.MessageChunk{Role: thread.RoleAgent, ID: id, Content: thread.Block{Type: thread.BlockText, Text: text}})
	}
	more("3", " grows")
	more("8", " grows")
	more("new", "newest")
	later, changes := th.Since(now)
	changed := shape.Changed(later, changes, 6)
	assert.Equal(t, []int{8, 10}, places(changed))
	assert.Equal(t, 11, changed.Total)
	assert.False(t, changed.Whole)
	assert.Empty(t, changed.Rest)
	assert.Equal(t, "<p>number 8 grows</p>\n", changed.Items[0].HTML)

	content, id, output := []thread.ToolContent{{Type: thread.ToolContentTerminal, TerminalID: "t"}}, "t", []byte("one")
	th.Do(thread.ToolCallChanged{ID: "call", Begins: true, Content: &content}, thread.TerminalChanged{ID: id, Output: &output})
	now = th.Snapshot()
	th.Do(thread.TerminalChanged{ID: id, Append: []byte(" two")})
	later, changes = th.Since(now)
	changed = shape.Changed(later, changes, 6)
	assert.Equal(t, []int{11}, places(changed), "the call that shows the terminal")
	assert.Equal(t, "one two", changed.Terminals["t"].Output)
}

// A message of 31 MiB, and the data of an image, cost the page no more than others.
func TestLongMessages(t *testing.T) {
	shape := &Shape{Text: 1 << 10, Bytes: 1 << 20, Markdown: true}
	th := thread.New()
	th.AddChunk(thread.MessageChunk{Role: thread.RoleAgent, Content: thread.Block{Type: thread.BlockText, Text: strings.Repeat("x", 31<<20)}})
	th.AddChunk(thread.MessageChunk{Role: thread.RoleAgent, Content: thread.Block{Type: thread.BlockImage, Data: strings.Repeat("A", 8<<20)}})
	b, err := json.Marshal(shape.Newest(th.Snapshot(), Items))
	require.NoError(t, err)
	assert.Less(t, len(b), 4<<10)
	assert.Contains(t, string(b), "32504832 bytes")
}

// An update of a tool call costs the page what it shows, however much the call has. The cost is counted in bytes
// allocated, which no other load changes.
func TestLargeToolCalls(t *testing.T) {
	shape := &Shape{Text: 4 << 10, Bytes: 1 << 20}
	big := strings.Repeat("x\u202e", 2<<20) // 8 MiB
	raw, err := json.Marshal(big)
	require.NoError(t, err)
	blocks := make([]thread.ToolContent, 5000)
	for i := range blocks {
		blocks[i] = thread.ToolContent{Type: thread.ToolContentBlock, Block: &thread.Block{Type: thread.BlockText, Text: fmt.Sprint("block ", i)}}
	}
	cost := func(c thread.ToolCallChanged) int64 {
		th := thread.New()
		c.ID, c.Begins = "call", true
		th.Do(c)
		now := th.Snapshot()
		th.Do(thread.ToolCallChanged{ID: "call", Kind: new("edit")})
		later, changes := th.Since(now)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			shape.Changed(later, changes, 0)
		}
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc-before.TotalAlloc) / 10
	}
	small := cost(thread.ToolCallChanged{Title: new("T")})
	for name, c := range map[string]thread.ToolCallChanged{
		"a title": {Title: &big}, "an input": {RawInput: (*json.RawMessage)(&raw)}, "an output": {RawOutput: (*json.RawMessage)(&raw)}, "blocks": {Content: &blocks},
	} {
		large := cost(c)
		t.Logf("%s: %d bytes, a small call %d", name, large, small)
		assert.Less(t, large, small+256<<10, name)
	}
}

func TestMarkdown(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"code":          {"```go\nx := \"<b>\"\n```", "<pre><code class=\"language-go\">x := &quot;&lt;b&gt;&quot;\n</code></pre>\n"},
		"table":         {"|a|\n|-|\n|b|", "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n</tr>\n</tbody>\n</table>\n"},
		"raw HTML":      {"a <script>alert(1)</script> b", "<p>a &lt;script&gt;alert(1)&lt;/script&gt; b</p>\n"},
		"a block of it": {"<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>\n"},
		"with an end":   {"<script>\nx\n</script>\n\n</p><b>", "<p>&lt;script&gt;\nx\n&lt;/script&gt;\n</p>\n<p>&lt;/p&gt;&lt;b&gt;</p>\n"},
		"a script":      {"[y](javascript:alert(1))", "<p><a href=\"\">y</a></p>\n"},
		"a disguise":    {"[y](JaVa&#115;cript:alert(1)) <vbscript:x>", "<p><a href=\"\">y</a> <a href=\"\">vbscript:x</a></p>\n"},
		"an attribute":  {`[y](<" onclick="alert(1)>)`, "<p><a href=\"%22%20onclick=%22alert(1)\">y</a></p>\n"},
		"too long":      {strings.Repeat("x", markdownAtMost+1), ""},
	} {
		assert.Equal(t, c.want, markdown(&thread.Message{Content: contentOf(t, c.text)}), name)
	}
}

// What would take long is shown as it is: each message is converted again while it grows.
func TestMarkdownTakesNoTime(t *testing.T) {
	for _, part := range []string{"[", "![", "*a_", "_a*", "> ", "[a](", "~"} {
		assert.Empty(t, markdown(&thread.Message{Content: contentOf(t, strings.Repeat(part, markdownAtMost/len(part)))}), "%q", part)
		paragraph := strings.Repeat(part, signsAtMost/2) + "\n\n"
		assert.NotEmpty(t, markdown(&thread.Message{Content: contentOf(t, strings.Repeat(paragraph, markdownAtMost/len(paragraph)))}), "%q", part)
	}
}

func contentOf(t *testing.T, text string) (l thread.List[thread.Block]) {
	b, err := json.Marshal([]thread.Block{{Type: thread.BlockText, Text: text}})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &l))
	return l
}

func TestChangedLines(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"a new file": {"", "a\nb\n", "+a\n+b\n"},
		"all gone":   {"a\n", "", "-a\n"},
		"the middle": {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n", " 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
		"more lines": {"a\nb\n", "a\na\nb\n", " a\n+a\n b\n"},
		"the same":   {"a\n", "a", " a\n"},
	} {
		assert.Equal(t, c.want, changedLines(linesOf(&c.before), linesOf(&c.after)), name)
	}
}
