package passive_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest/passive"
)

// handshakes are the lines that begin most conversations.
var handshakes = map[string][]string{
	"v1": {
		`> {"id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}}`,
		`< {"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"list":{}}}}}`,
		`> {"id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
		`< {"id":2,"result":{"sessionId":"s"}}`,
	},
	"v2": {
		`> {"id":1,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`,
		`< {"id":1,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}}`,
		`> {"id":2,"method":"session/new","params":{"cwd":"/w"}}`,
		`< {"id":2,"result":{"sessionId":"s"}}`,
	},
}

// play feeds the lines of a conversation, and returns the faults and those that are expected.
func play(t *testing.T, lines []string) (found []passive.Fault, want []string) {
	t.Helper()
	c, seq := passive.New(), int64(0)
	for _, line := range lines {
		dir, text, _ := strings.Cut(line, " ")
		switch {
		case handshakes[line] != nil:
			for _, l := range handshakes[line] {
				seq++
				assert.Empty(t, feed(c, seq, l), l)
			}
		case strings.HasSuffix(dir, ">"), strings.HasSuffix(dir, "<"):
			seq++
			found = append(found, feed(c, seq, dir+" "+text)...)
		case line == "end":
			found = append(found, c.End()...)
		case line == "gap":
			c.Gap()
		case line != "":
			want = append(want, line)
		}
	}
	return found, want
}

func feed(c *passive.Checker, seq int64, line string) []passive.Fault {
	dir, text, _ := strings.Cut(line, " ")
	raw, isRaw := strings.CutPrefix(dir, "!")
	from := passive.Client
	if raw == "<" {
		from = passive.Agent
	}
	if !isRaw {
		text = `{"jsonrpc":"2.0",` + text[1:]
	}
	return c.Feed(seq, from, []byte(text))
}

func TestEachRule(t *testing.T) {
	b, err := os.ReadFile("testdata/faults.txt")
	require.NoError(t, err)
	conversations := strings.Split(string(b), "\n-- ")[1:]
	require.Greater(t, len(conversations), 50)
	rules := map[string]bool{}
	for _, text := range conversations {
		name, body, _ := strings.Cut(text, "\n")
		t.Run(name, func(t *testing.T) {
			found, want := play(t, strings.Split(body, "\n"))
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%s %s %s", f.Rule, f.Tier, f.By))
				rules[f.Rule] = true
				assert.NotEmpty(t, f.Fact)
				assert.True(t, strings.HasSuffix(f.Text, ".") && f.Text[:1] != strings.ToLower(f.Text[:1]) || f.Text[0] == '"', "a sentence: %s", f.Text)
				assert.Positive(t, f.Seq)
			}
			assert.Equal(t, want, got, "%+v", found)
		})
	}
	assert.Len(t, rules, 40, "each rule was broken by one of them")
}

var update = flag.Bool("update", false, "write testdata/recorded.txt")

// recorded is a line of internal/recordings.
type recorded struct{ Dir, Event, Raw string }

// Programs in use break few rules. What they break was compared with the protocol by hand;
// docs/acp.md lists it. In the probes, a client sent wrong messages on purpose. Words of the recordings were
// replaced, so that the names of two commands may be equal.
func TestRecordedConversationsHaveNoFalseFault(t *testing.T) {
	b, err := os.ReadFile("testdata/recorded.txt")
	require.NoError(t, err)
	files, err := filepath.Glob("../../internal/recordings/transcripts*/*.jsonl")
	require.NoError(t, err)
	require.Len(t, files, 40)
	var got strings.Builder
	for _, name := range files {
		file, err := os.Open(name)
		require.NoError(t, err)
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 64<<20)
		c := passive.New()
		note := func(faults []passive.Fault) {
			for _, f := range faults {
				fmt.Fprintf(&got, "%s:%d %s %s %s\n", strings.TrimSuffix(filepath.Base(name), ".jsonl"), f.Seq, f.By, f.Rule, f.Text)
			}
		}
		for n := int64(1); lines.Scan(); n++ {
			var l recorded
			require.NoError(t, json.Unmarshal(lines.Bytes(), &l))
			switch {
			case l.Dir == "send":
				note(c.Feed(n, passive.Client, []byte(l.Raw)))
			case l.Dir == "recv":
				note(c.Feed(n, passive.Agent, []byte(l.Raw)))
			case l.Event == "start": // of another process
				note(c.End())
				c = passive.New()
			}
		}
		require.NoError(t, lines.Err())
		note(c.End())
		file.Close()
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/recorded.txt", []byte(got.String()), 0o644))
		return
	}
	assert.Equal(t, string(b), got.String(), "run go test . -update, and compare what is new with the protocol")
}

// A peer cannot make a Checker grow: neither with requests that are never answered, nor with ids,
// sessions and tool calls.
func TestMemoryIsBounded(t *testing.T) {
	c := passive.New()
	for i, line := range handshakes["v1"] {
		feed(c, int64(i), line)
	}
	flood := func(n int) {
		for i := range n {
			feed(c, 9, fmt.Sprintf(`> {"id":"%0100d","method":"_x/y"}`, i))
			feed(c, 9, fmt.Sprintf(`< {"id":"x%0100d","result":1}`, i))
			feed(c, 9, fmt.Sprintf(`> {"id":"p%d","method":"session/prompt","params":{"sessionId":"s%0100d","prompt":[]}}`, i, i))
			feed(c, 9, fmt.Sprintf(`< {"method":"session/update","params":{"sessionId":"s%0100d","update":{"sessionUpdate":"tool_call","toolCallId":"%0100d","title":"T"}}}`, i%7, i))
			feed(c, 9, fmt.Sprintf(`< {"id":"p%d","result":{"stopReason":"end_turn"}}`, i))
		}
	}
	flood(17_000)
	before := heap()
	flood(4_000)
	assert.Less(t, heap(), before+1<<20)
	runtime.KeepAlive(c)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
