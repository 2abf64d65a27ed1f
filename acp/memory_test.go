package acp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// decoded decodes raw and returns the value, the number of bytes that the codec reports
// for it, and the number of bytes by which the heap has grown.
func decoded(t *testing.T, codec *wire.Codec, raw []byte) (v any, held, heap int64) {
	t.Helper()
	measure := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := measure()
	v, held, err := codec.Decode(raw)
	heap = measure() - before
	require.NoError(t, err)
	runtime.KeepAlive(v)
	runtime.KeepAlive(raw)
	return v, held, heap
}

// repeated returns JSON of about n bytes with copies of item between open and end.
func repeated(n int, open, item, end string) []byte {
	return []byte(open + strings.TrimSuffix(strings.Repeat(item+",", n/(len(item)+1)), ",") + end)
}

// numbered is repeated with a different number in each item.
func numbered(n int, open, item, end string) []byte {
	var s strings.Builder
	s.WriteString(open)
	for i := 0; s.Len() < n; i++ {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, item, fmt.Sprintf("%04x", i))
	}
	return []byte(s.String() + end)
}

// A decoded message of any shape holds at most ten times its length, and the codec reports how
// much.
func TestMemoryBound(t *testing.T) {
	const size = 2 << 20
	prompt := wire.Request(1, acp.MethodSessionPrompt).Params
	update := wire.Notification(1, acp.MethodSessionUpdate).Params
	newSession := wire.Request(1, acp.MethodSessionNew).Params
	modes := wire.Request(1, acp.MethodSessionNew).Result
	elicit := wire.Request(1, acp.MethodElicitationCreate).Params
	elicited := wire.Request(1, acp.MethodElicitationCreate).Result

	justUnder32K := string(repeated(32<<10-200, `{"a":[`, `{"":0}`, `]}`))
	block := func(meta string) string { return `{"type":"text","text":"","_meta":` + meta + `}` }
	const open, end = `{"sessionId":"s","prompt":[`, `]}`
	for name, c := range map[string]struct {
		codec *wire.Codec
		raw   []byte
		most  int64 // times the length
	}{
		"metas below 32 KiB":  {prompt, repeated(size, open, block(justUnder32K), end), 9},
		"one meta of ones":    {newSession, repeated(size, `{"cwd":"/","mcpServers":[],"_meta":{"a":[`, `1`, `]}}`), 9},
		"one meta of objects": {newSession, repeated(size, `{"cwd":"/","mcpServers":[],"_meta":{"a":[`, `{"":0}`, `]}}`), 9},
		"one meta of members": {newSession, numbered(size, `{"cwd":"/","mcpServers":[],"_meta":{`, `"%s":[]`, `}}`), 10},
		"tiny metas":          {prompt, repeated(size, open, block(`{"":0}`), end), 10},
		"small metas":         {prompt, repeated(size, open, block(`{"":{"":[{},{}]}}`), end), 10},
		"metas at the front":  {prompt, repeated(size, `{"_meta":{"a":[{},{},{}]},"sessionId":"s","prompt":[`, block(justUnder32K), end), 9},
		"short texts":         {prompt, repeated(size, open, `{"type":"text","text":""}`, end), 10},
		"unknown blocks":      {prompt, repeated(size, open, `{"type":"x"}`, end), 10},
		"annotations":         {prompt, repeated(size, open, `{"type":"text","text":"","annotations":{}}`, end), 10},
		"servers":             {newSession, repeated(size, `{"cwd":"/","mcpServers":[`, `{"name":"","command":"","args":[],"env":[]}`, `]}`), 10},
		"variables":           {newSession, repeated(size, `{"cwd":"/","mcpServers":[{"name":"","command":"","args":[],"env":[`, `{"name":"","value":""}`, `]}]}`), 10},
		"arguments":           {newSession, repeated(size, `{"cwd":"/","mcpServers":[{"name":"","command":"","env":[],"args":[`, `""`, `]}]}`), 10},
		"locations":           {update, repeated(size, `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"","locations":[`, `{"path":""}`, `]}}`), 10},
		"plan":                {update, repeated(size, `{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[`, `{"content":"","priority":"","status":""}`, `]}}`), 10},
		"modes":               {modes, repeated(size, `{"sessionId":"s","modes":{"currentModeId":"m","availableModes":[`, `{"id":"","name":""}`, `]}}`), 10},
		"config options":      {modes, repeated(size, `{"sessionId":"s","configOptions":[`, `{"id":"","name":"","type":"boolean","currentValue":true}`, `]}`), 10},
		"form values":         {elicited, numbered(size, `{"action":"accept","content":{`, `"%s":1`, `}}`), 10},
		"form fields":         {elicit, numbered(size, `{"message":"","mode":"form","sessionId":"s","requestedSchema":{"type":"object","properties":{`, `"%s":{"type":"string"}`, `}}}`), 10},
		// The smallest Meta is a map of 336 bytes, so objects shorter than a tenth of that exceed
		// the factor. They are charged with their real size.
		"locations with a meta": {update, repeated(size, `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"","locations":[`, `{"path":"","_meta":{"":0}}`, `]}}`), 14},
	} {
		t.Run(name, func(t *testing.T) {
			_, held, heap := decoded(t, c.codec, c.raw)
			t.Logf("%d MiB hold %.1f times as much, counted as %.1f", len(c.raw)>>20, float64(heap)/float64(len(c.raw)), float64(held)/float64(len(c.raw)))
			assert.LessOrEqual(t, heap, c.most*int64(len(c.raw)))
			assert.InEpsilon(t, heap, held, 0.25)
		})
	}
}

// taken returns how much decoding allocates, as a multiple of the length.
func taken(codec *wire.Codec, raw []byte) (times float64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err = codec.Decode(raw)
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(raw)), err
}

// Decoding a long list allocates little more than the list holds in the end.
func TestMemoryOfReadingALongList(t *testing.T) {
	codec := wire.Request(1, acp.MethodSessionNew).Params
	const open, end = `{"cwd":"/","mcpServers":[{"name":"","command":"","env":[],"args":[`, `]}]}`
	times, err := taken(codec, repeated(4<<20, open, `""`, end))
	require.NoError(t, err)
	assert.Less(t, times, 10.)

	// Violations beyond those that are listed allocate nothing.
	times, err = taken(codec, repeated(20<<20, open, `1`, end))
	require.Error(t, err)
	assert.Less(t, times, 0.1)
	times, err = taken(codec, repeated(20<<20, `{"cwd":"/","mcpServers":[`, `1`, end[1:]))
	require.Error(t, err)
	assert.Less(t, times, 0.1)
}

// The part of a `_meta` that was decoded before it turned out to be too large is garbage. No
// message causes much garbage.
func TestMemoryOfReadingMetas(t *testing.T) {
	codec := wire.Request(1, acp.MethodSessionPrompt).Params
	for name, element := range map[string]string{
		"short lists":   `[` + strings.Repeat(`[],`, 60) + `0]`,
		"longer lists":  `[` + strings.Repeat(`[],`, 215) + `0]`,
		"objects":       `[` + strings.Repeat(`{"":0},`, 60) + `0]`,
		"short texts":   `[` + strings.Repeat(`"",`, 600) + `0]`,
		"large objects": `[` + strings.Repeat(`{},`, 5000) + `0]`,
	} {
		t.Run(name, func(t *testing.T) {
			raw := repeated(4<<20, `{"sessionId":"s","prompt":[`, `{"type":"text","text":"","_meta":{"a":`+element+`}}`, `]}`)
			times, err := taken(codec, raw)
			require.NoError(t, err)
			t.Logf("%.1f times its length", times)
			assert.Less(t, times, 13.)
		})
	}
}

// TestMemoryBoundOfRandomShapes is TestMemoryBound for typed values with any JSON in their `_meta`.
func TestMemoryBoundOfRandomShapes(t *testing.T) {
	codec := wire.Request(1, acp.MethodSessionPrompt).Params
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		var s strings.Builder
		s.WriteString(`{"sessionId":"s","prompt":[`)
		size := 1 << (10 + r.IntN(10))
		kinds := 1 + r.IntN(5) // what the values of this message are
		for i := 0; s.Len() < size; i++ {
			if i > 0 {
				s.WriteByte(',')
			}
			s.WriteString(`{"type":"text","text":"` + strings.Repeat("t", r.IntN(100)) + `","_meta":{"a":`)
			randomJSON(r, &s, kinds, r.IntN(8), r.IntN(1<<r.IntN(12)))
			s.WriteString(`}}`)
		}
		s.WriteString(`]}`)
		raw := []byte(s.String())
		v, held, heap := decoded(t, codec, raw)
		assert.LessOrEqual(t, heap, int64(10*len(raw)+32<<10), "seed %d", seed)
		assert.LessOrEqual(t, heap, held+held/4+8<<10, "seed %d", seed)

		// The message encodes to the same JSON, even if parts of it stayed raw.
		again, err := codec.Append(nil, v)
		require.NoError(t, err)
		assert.True(t, sameJSON(raw, again), "seed %d", seed)
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// randomJSON writes a value with about n values in it.
func randomJSON(r *rand.Rand, s *strings.Builder, kinds, depth, n int) {
	kind := r.IntN(kinds)
	if kind < 2 && depth == 0 {
		kind = 2
	}
	switch kind {
	case 0, 1:
		brackets := []string{"{}", "[]"}[kind]
		s.WriteByte(brackets[0])
		for i := 0; i < n; {
			part := 1 + r.IntN(n)
			if i > 0 {
				s.WriteByte(',')
			}
			if kind == 0 {
				fmt.Fprintf(s, `"%x":`, i)
			}
			randomJSON(r, s, kinds, depth-1, part/2)
			i += part
		}
		s.WriteByte(brackets[1])
	case 2:
		fmt.Fprint(s, r.IntN(1<<r.IntN(20)))
	case 3:
		raw, _ := json.Marshal(strings.Repeat("x\n", r.IntN(20)))
		s.Write(raw)
	default:
		s.WriteString([]string{"null", "true", "12345678901234567890", `""`, "-0.5"}[r.IntN(5)])
	}
}

// A `_meta` as programs write it is decoded completely.
func TestShortMetaIsDecoded(t *testing.T) {
	raw := []byte(`{"sessionId":"s","update":{"_meta":{"claudeCode":{"toolName":"Edit","toolResponse":[` +
		strings.TrimSuffix(strings.Repeat(`{"oldStart":1,"oldLines":7,"newStart":1,"newLines":8,"lines":[" a","+b"]},`, 12), ",") +
		`]}},"sessionUpdate":"tool_call_update","toolCallId":"t"}}`)
	v, _, err := wire.Notification(1, acp.MethodSessionUpdate).Params.Decode(raw)
	require.NoError(t, err)
	meta := v.(*acp.SessionNotification).Update.(*acp.ToolCallUpdate).Meta
	hunks := meta["claudeCode"].(map[string]any)["toolResponse"].([]any)
	assert.Len(t, hunks, 12)
	assert.Equal(t, []any{" a", "+b"}, hunks[11].(map[string]any)["lines"])
}
