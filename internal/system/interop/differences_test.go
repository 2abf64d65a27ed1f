package interop_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// difference is an entry of testdata/differences.json: vectors that this SDK answers otherwise
// than the TypeScript SDK, on purpose.
type difference struct {
	Why       string
	Names     []string
	Received  []json.RawMessage // in place of the vector's, with our own ids
	Events    []json.RawMessage // in place of the vector's
	Unordered bool              // events come in any order
	Open      bool              // the connection stays open where it closes theirs
}

// expectation is what must follow a vector.
type expectation struct {
	received          []string
	rewrite           func(message) // of what was received
	events            []json.RawMessage
	closed, unordered bool
}

// expected applies the differences to a vector.
func (v *vector) expected(t *testing.T) *expectation {
	t.Helper()
	e := &expectation{received: v.Received, rewrite: rewriteAll, events: v.AppEvents, closed: v.ConnectionClosed}
	for i, line := range e.received {
		if parseMessage(t, line)["method"] != nil {
			e.received[i] = shiftID(line)
		}
	}
	b, err := os.ReadFile("testdata/differences.json")
	require.NoError(t, err)
	var all []difference
	require.NoError(t, json.Unmarshal(b, &all))
	i := slices.IndexFunc(all, func(d difference) bool { return slices.Contains(d.Names, v.Name) })
	if i < 0 {
		return e
	}
	d := all[i]
	if d.Received != nil {
		e.received, e.rewrite = nil, func(message) {}
		for _, line := range d.Received {
			e.received = append(e.received, string(line))
		}
	}
	if d.Events != nil {
		e.events = d.Events
	}
	e.closed, e.unordered = e.closed && !d.Open, d.Unordered
	return e
}

// rewrites change every error of a kind that this SDK sends otherwise, on purpose.
var rewrites = map[string]func(map[string]any){
	// -32600 does not echo the offending message back: it may hold secrets and be deeply nested.
	"-32600": func(e map[string]any) { delete(e, "data") },
	// The message of -32601 has no quotes.
	"-32601": func(e map[string]any) {
		e["message"] = strings.Replace(e["message"].(string), `"Method not found"`, "Method not found", 1)
	},
	// The text of an unexpected error does not leave the program, but an id under which the log has it.
	"-32603": func(e map[string]any) { e["data"] = map[string]any{"errorId": "ID"} },
	// The message of -32022 names the version, for programs that show nothing else.
	"-32022": func(e map[string]any) {
		data, _ := e["data"].(map[string]any)
		e["message"] = fmt.Sprint(e["message"], ": ", data["requested"])
	},
}

func rewriteAll(m message) {
	if e, ok := m["error"].(map[string]any); ok {
		if code, _ := e["code"].(json.Number); rewrites[string(code)] != nil {
			rewrites[string(code)](e)
		}
	}
}
