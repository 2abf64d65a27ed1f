package completions_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/internal/completions"
)

// inputs reads an answer with these fragments of calls, and returns the inputs of the calls.
func inputs(t *testing.T, fragments []string) []string {
	t.Helper()
	var body strings.Builder
	for _, f := range fragments {
		body.WriteString(`data: {"choices":[{"delta":{"tool_calls":[` + f + "]}}]}\n\n")
	}
	body.WriteString("data: [DONE]\n\n")
	var all [][]byte
	a := &completions.Answer{Model: "m", Show: func(e loop.Event) {
		if d, ok := e.(loop.CallDelta); ok {
			for len(all) <= d.Index {
				all = append(all, nil)
			}
			all[d.Index] = append(all[d.Index], d.Input...)
		}
	}}
	require.NoError(t, completions.Read(strings.NewReader(body.String()), a))
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = string(all[i])
	}
	return texts
}

// fragment returns a fragment that repeats name and id, as some servers send it.
func fragment(id, input string) string {
	quoted, _ := json.Marshal(input)
	return fmt.Sprintf(`{"id":%q,"function":{"name":"f","arguments":%s}}`, id, quoted)
}

// A fragment with another id begins a new call when the input before it is one JSON value, wherever the
// fragments of that were cut.
func TestCallsBeginBehindWholeInputs(t *testing.T) {
	for _, first := range []string{`{}`, ` {"a":"}","b":[1,{"c":"\"{\\"}]} `, `[{}]`, `"{\"a\":1}"`, `12`, `true`} {
		for at := 1; at < len(first); at++ {
			assert.Equal(t, []string{first, `{}`}, inputs(t, []string{
				fragment("a", first[:at]), `{"function":{"arguments":` + quoted(first[at:]) + `}}`, fragment("b", `{}`),
			}), first[:at])
		}
	}
	for _, first := range []string{`{"a":"`, `{"a":{}`, `{"a":"\"}`, `[}`, `{} x`, `"a`, `1 2`, `}`, ` `, strings.Repeat("1", 100)} {
		assert.Equal(t, []string{first + `{}`}, inputs(t, []string{`{"index":0,` + fragment("a", first)[1:], `{"index":0,` + fragment("b", `{}`)[1:]}), first)
	}
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// The cost of an answer follows its length, whatever its fragments are.
func TestFragmentsAreLinear(t *testing.T) {
	const few, times = 50, 20
	for name, c := range map[string]struct{ first, more string }{
		"an open text":      {`{"a":"`, "word "},
		"a whole object":    {`{}`, "     "},
		"only space":        {"", "     "},
		"digits":            {"", "12345"},
		"an object in text": {`"{}`, `\"a\"`},
	} {
		took := func(n, rounds int) time.Duration {
			fragments := make([]string, n)
			for i := range fragments {
				fragments[i] = fragment("a", strings.Repeat(c.more, 60))
			}
			fragments[0] = fragment("a", c.first+c.more)
			begin := time.Now()
			for range rounds {
				inputs(t, fragments)
			}
			return time.Since(begin)
		}
		best := math.Inf(1)
		for range 5 { // in turn, so that other load slows both
			best = min(best, float64(took(few*times, 1))/float64(took(few, times)))
			if best < 3 {
				break
			}
		}
		assert.Less(t, best, 3.0, "%s: one answer takes so many times as long as %d short ones", name, times)
	}
}
