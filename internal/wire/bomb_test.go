package wire_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/wire"
)

// list is a JSON array of n times the same.
func list(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

// What nobody looks into must not grow into many times its size.
func TestMapsDoNotSwell(t *testing.T) {
	const n = 1 << 20
	for name, tt := range map[string]struct {
		value string
		raw   bool
	}{
		"objects of one member": {list(n/8, `{"":0}`), true},
		"empty objects":         {list(n/3, `{}`), true},
		"lists of objects":      {list(n/14, `[{"":{"":0}}]`), true},
		"usual objects":         {list(n/80, `{"name":"a name of some length","description":"what it is good for","n":17}`), false},
		"numbers":               {list(n/4, `123`), false},
		"text with braces":      {`["` + strings.Repeat("func f(x int) { return }\\n", n/26) + `"]`, false},
		"short":                 {list(100, `{"":0}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			raw := []byte(`{"big":` + tt.value + `,"text":"t","number":1,"null":null,"true":true}`)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			d := wire.NewDecoder(raw)
			var m map[string]any
			require.Nil(t, d.Map(&m))
			runtime.GC()
			runtime.ReadMemStats(&after)
			assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(20*len(raw)+64<<10))

			_, isRaw := m["big"].(json.RawMessage)
			assert.Equal(t, tt.raw, isRaw)
			delete(m, "big")
			assert.Equal(t, map[string]any{"text": "t", "number": 1.0, "null": nil, "true": true}, m)
		})
	}
}

// Complaints are counted where they come together, not level by level.
func TestComplaintsAreBounded(t *testing.T) {
	d := wire.NewDecoder([]byte(list(200, list(200, list(200, "0")))))
	var read func(depth int) *wire.FieldErrors
	read = func(depth int) *wire.FieldErrors {
		if depth == 0 {
			var s string
			return d.String(&s)
		}
		a := d.Array()
		for a.Next(&d) {
			a.Keep(read(depth-1), false)
		}
		return a.End()
	}
	told := 0
	read(3).Walk(func([]string, string) { told++ })
	assert.Equal(t, 100, told)
}
