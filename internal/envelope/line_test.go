package envelope

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`:                                    `{"a":1}`,
		"{\n\t\"a\":\r\n1}":                          "{ \t\"a\":  1}",
		"[\"\u2028\",\"a\u2029b\",\"\u0085\"]":       `["\u2028","a\u2029b","\u0085"]`,
		"\"\\\\\u2028\"":                             `"\\\u2028"`,
		"[\"\u2027\u202a\u0084\u0086…“\u00a0\"]":     "[\"\u2027\u202a\u0084\u0086…“\u00a0\"]",
		"{\"\u2028\":\n\"\xe2\x80\",\"x\":\"\xff\"}": "{\"\\u2028\": \"\xe2\x80\",\"x\":\"\xff\"}",
	} {
		assert.Equal(t, want, string(OneLine([]byte(in))))
	}
}

// The value stays the same, and a message without line ends is not copied.
func TestOneLineKeepsTheValue(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", `\\`, `\"`, "\u2028", "\u2029", "\u0085", "\u2026", "é", `\u2028`, " "}
	spaces := []string{"", " ", "\n", "\r\n", "\t"}
	for range 1000 {
		var b strings.Builder
		b.WriteString("[")
		for i := range random.IntN(6) {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(spaces[random.IntN(len(spaces))] + `"`)
			for range random.IntN(6) {
				b.WriteString(parts[random.IntN(len(parts))])
			}
			b.WriteString(`"` + spaces[random.IntN(len(spaces))])
		}
		in := []byte(b.String() + "]")
		before := bytes.Clone(in)
		out := OneLine(in)
		require.Equal(t, before, in)
		require.False(t, strings.ContainsAny(string(out), "\n\r\u0085\u2028\u2029"))
		var want, got any
		require.NoError(t, json.Unmarshal(in, &want))
		require.NoError(t, json.Unmarshal(out, &got))
		require.Equal(t, want, got)
		require.Same(t, &out[0], &OneLine(out)[0])
	}
}

func BenchmarkOneLine(b *testing.B) {
	for name, msg := range map[string][]byte{
		"short":  []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"A few words of an answer."}}}}`),
		"ASCII":  bytes.Repeat([]byte("A few words. "), 1<<16/13),
		"quotes": bytes.Repeat([]byte("“Words” – and… "), 1<<16/20),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(msg)))
			for b.Loop() {
				OneLine(msg)
			}
		})
	}
}
