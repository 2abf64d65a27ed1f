package stream_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
)

func FuzzWellFormed(f *testing.F) {
	for _, line := range fuzzLines(f) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		want := len(line) > 0 && line[0] == '{' && json.Valid(line)
		if want && line[len(line)-1] <= ' ' {
			t.Skip("the reader has trimmed it")
		}
		require.Equal(t, want, stream.WellFormedObject(line))
	})
}

func TestWellFormedDeep(t *testing.T) {
	for _, depth := range []int{1, 63, 64, 65, 127, 128, 129, 1000, 100_000} {
		deep := `{"a":` + strings.Repeat(`[{"a":`, depth) + "1" + strings.Repeat("}]", depth) + "}"
		assert.True(t, stream.WellFormedObject([]byte(deep)), "depth %d", depth)
		assert.False(t, stream.WellFormedObject([]byte(strings.Replace(deep, "}]", "]}", 1))), "depth %d", depth)
		assert.False(t, stream.WellFormedObject([]byte(deep[:len(deep)-1])), "depth %d", depth)
	}
}

func BenchmarkWellFormed(b *testing.B) {
	msg := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` +
		strings.Repeat("t", 100) + `"}}}}`)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(msg)))
		for b.Loop() {
			stream.WellFormedObject(msg)
		}
	})
	b.Run("json.Valid", func(b *testing.B) {
		b.SetBytes(int64(len(msg)))
		for b.Loop() {
			json.Valid(msg)
		}
	})
}
