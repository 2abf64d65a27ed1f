package envelope_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/seed"
)

// reference returns the result that Skip must have, according to encoding/json.
func reference(b []byte) (end int, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(b))
	var v json.RawMessage
	if err := dec.Decode(&v); err != nil {
		return 0, false
	}
	return int(dec.InputOffset()), true
}

// depthOf counts brackets outside of strings. This is an upper bound of the depth.
func depthOf(b []byte) int { return bytes.Count(b, []byte{'['}) + bytes.Count(b, []byte{'{'}) }

func FuzzSkip(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `null`, `true`, `fals`, `nul`, `nulll`, `0`, `-0`, `01`, `-`, `1.`, `1.5`, `.5`, `1e`, `1e5`, `1E+5`, `1e-`, `+1`,
		`"`, `""`, `"a`, `"\`, `"\"`, `"\n\t\u0041"`, `"\u00`, `"\u00zz"`, `"\x"`, "\"\x00\"", "\"\x1f\"", "\"\x7f\"", "\"\xff\xfe\"",
		`"\ud800"`, `"\ud83d\ude00"`, `"\ude00\ud83d"`, `"\ud800x"`,
		`[]`, `[ ]`, `[1,2]`, `[1,]`, `[,1]`, `[1 2]`, `[`, `]`, `[[[[]]]]`,
		`{}`, `{ }`, `{"a":1}`, `{"a":1,}`, `{"a" 1}`, `{"a"}`, `{1:2}`, `{"a":1 "b":2}`, `{"a":1,"a":2}`, `{`, `}`, `{"a":}`,
		" \t\r\n{\"a\" : [ 1 , \"x\" ] } ", "\xef\xbb\xbf{}", "\u00a0{}", `{"a":1}{"b":2}`, `1 2`, `"a""b"`, `12"x"`,
		strings.Repeat(`[`, 60) + strings.Repeat(`]`, 60), `"` + strings.Repeat("x", 70) + `\n` + strings.Repeat("é", 40) + `"`,
	} {
		f.Add([]byte(seed))
	}
	for _, s := range seed.Short(f, 1<<10) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want, ok := reference(b)
		end, err := envelope.Skip(b, 0, envelope.MaxDepth)
		if errors.Is(err, envelope.ErrTooDeep) {
			// encoding/json allows 10 000 levels.
			require.Greater(t, depthOf(b), envelope.MaxDepth)
			return
		}
		if err != nil {
			var syntax *envelope.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.LessOrEqual(t, syntax.Offset, len(b))
		}
		require.Equal(t, ok, err == nil, "%q: %v", b, err)
		if ok {
			require.Equal(t, want, end, "%q", b)
		}
	})
}

func TestSkipDepth(t *testing.T) {
	for depth := range 5 {
		for _, pair := range []string{"[]", `{"a":}`} {
			open, closed := pair[:len(pair)-1], pair[len(pair)-1:]
			doc := []byte(strings.Repeat(open, depth) + "1" + strings.Repeat(closed, depth))
			for allowed := range 5 {
				end, err := envelope.Skip(doc, 0, allowed)
				if allowed < depth {
					assert.ErrorIs(t, err, envelope.ErrTooDeep)
				} else {
					assert.NoError(t, err)
					assert.Equal(t, len(doc), end)
				}
			}
		}
	}
}

func TestSkipErrors(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":tru}`:     "json: unexpected character at offset 8",
		`[1,2`:          "json: unexpected end at offset 4",
		`{"a"1}`:        "json: expected ':' at offset 4",
		`{'a':1}`:       "json: expected a member name at offset 1",
		"\"a\nb\"":      "json: control character in a string at offset 2",
		`"\q"`:          "json: unknown escape at offset 2",
		`"\u12"`:        "json: expected a hexadecimal digit at offset 5",
		`[1 2]`:         "json: expected ',' or ']' at offset 3",
		`{"a":1 "b":2}`: "json: expected ',' or '}' at offset 7",
		`-x`:            "json: expected a digit at offset 1",
	} {
		_, err := envelope.Skip([]byte(doc), 0, envelope.MaxDepth)
		assert.EqualError(t, err, want, doc)
	}
}
