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

// list returns a JSON array with n times the same item.
func list(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

// A member that the protocol does not define further is decoded within the budget of the message,
// and its memory is charged.
func TestMapKeepsToTheBudget(t *testing.T) {
	const n = 1 << 20
	for name, tt := range map[string]struct {
		value string
		raw   bool
	}{
		"objects of one member": {list(n/8, `{"":0}`), true},
		"empty objects":         {list(n/3, `{}`), true},
		"empty lists":           {list(n/3, `[]`), true},
		"small numbers":         {list(n/2, `1`), true},
		"lists of objects":      {list(n/14, `[{"":{"":0}}]`), true},
		"usual objects":         {list(n/80, `{"name":"a name of some length","description":"what it is good for","n":17}`), false},
		"numbers":               {list(n/8, `1234567`), false},
		"text with braces":      {`["` + strings.Repeat("func f(x int) { return }\\n", n/26) + `"]`, false},
		"short":                 {list(10, `{"":0}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			raw := []byte(`{"big":` + tt.value + `,"text":"t","number":1,"null":null,"true":true}`)
			// A single short one is less than what the runtime itself may allocate meanwhile.
			all := make([]map[string]any, 1+n/64/len(raw))
			var held int64
			used := grown(func() {
				for i := range all {
					d := wire.NewDecoder(raw)
					require.Nil(t, d.Map(&all[i]))
					_, size, _ := d.End(nil, nil)
					held += size
				}
			})
			assert.LessOrEqual(t, used, int64(len(all)*(9*len(raw)+32<<10)))
			assert.InEpsilon(t, used, held, 0.3)

			runtime.KeepAlive(raw)
			m := all[0]
			_, isRaw := m["big"].(json.RawMessage)
			assert.Equal(t, tt.raw, isRaw)
			delete(m, "big")
			assert.Equal(t, map[string]any{"text": "t", "number": 1.0, "null": nil, "true": true}, m)
		})
	}
}

// A large member does not affect a small one: a member without enough budget stays raw, and the
// others are decoded.
func TestMapPartly(t *testing.T) {
	bomb := list(1<<16, `{"":0}`)
	raw := []byte(`{"a":{"b":[1,"x"]},"bomb":` + bomb + `,"c":{"d":{}},"e":` + bomb + `,"f":[[]]}`)
	d := wire.NewDecoder(raw)
	var m map[string]any
	require.Nil(t, d.Map(&m))
	assert.Equal(t, map[string]any{
		"a":    map[string]any{"b": []any{1.0, "x"}},
		"bomb": json.RawMessage(bomb),
		"c":    map[string]any{"d": map[string]any{}},
		"e":    json.RawMessage(bomb),
		"f":    []any{[]any{}},
	}, m)
	e := wire.NewEncoder(nil)
	e.Open()
	e.Map(`,"m":`, m)
	e.Close()
	again, err := e.End()
	require.NoError(t, err)
	assert.Equal(t, `{"m":`+string(raw)+`}`, string(again))
}

// The budget belongs to the message: many small members share it.
func TestMapsShareTheBudget(t *testing.T) {
	small := `{"x":` + list(5000, `{"":0}`) + `}`
	raw := []byte(list(1000, small))
	d := wire.NewDecoder(raw)
	var maps []map[string]any
	used := grown(func() {
		for a := d.Array(); a.Next(&d); {
			var m map[string]any
			require.Nil(t, d.Map(&m))
			maps = append(maps, m)
		}
	})
	require.Len(t, maps, 1000)
	assert.LessOrEqual(t, used, int64(9*len(raw)))
	kept := 0
	for _, m := range maps {
		if _, ok := m["x"].(json.RawMessage); ok {
			kept++
		}
	}
	assert.Greater(t, kept, 700)
}

// grown returns by how many bytes f grows the heap.
func grown(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// The limit of violations holds for the whole value, not for each level.
func TestViolationsAreBounded(t *testing.T) {
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
	found := 0
	read(3).Walk(func([]string, string) { found++ })
	assert.Equal(t, 100, found)
}
