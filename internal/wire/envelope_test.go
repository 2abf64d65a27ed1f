package wire_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/internal/wire"
)

func TestParseEnvelope(t *testing.T) {
	type env = wire.Envelope
	b := func(s string) []byte { return []byte(s) }
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	ok := strings.Repeat("[", 999) + strings.Repeat("]", 999)
	const tooDeep = "message is nested too deep"
	tests := []struct {
		name, frame string
		want        env
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,"}"]}}`, env{Kind: wire.KindRequest, ID: b("1"), Method: b("m"), Params: b(`{"a":[1,"}"]}`)}},
		{"notification", ` { "method" : "m" , "jsonrpc" : "2.0" } `, env{Kind: wire.KindNotification, Method: b("m")}},
		{"response", `{"jsonrpc":"2.0","result":null,"id":"x"}`, env{Kind: wire.KindResponse, ID: b(`"x"`), Result: b("null")}},
		{"error", `{"jsonrpc":"2.0","id":null,"error":{}}`, env{Kind: wire.KindErrorResponse, ID: b("null"), Error: b("{}")}},
		{"no id", `{"jsonrpc":"2.0","error":{}}`, env{Kind: wire.KindErrorResponse, Error: b("{}")}},
		{"byte order mark", "\ufeff{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", env{Kind: wire.KindNotification, Method: b("m")}},
		{"escapes", `{"json\u0072pc":"2\u002e0","method":"\u006d\/"}`, env{Kind: wire.KindNotification, Method: b("m/")}},
		{"an escaped backslash is not an escape", `{"jsonrpc":"2.0","method":"m","\\u0069d":1}`, env{Kind: wire.KindNotification, Method: b("m")}},
		{"foreign members", `{"jsonrpc":"2.0","method":"m","x":1,"x":2,"ID":3}`, env{Kind: wire.KindNotification, Method: b("m")}},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, env{Kind: wire.KindRequest, ID: b("1"), Method: b("")}},
		{"white space", " \r\n", env{}},
		{"nothing", "", env{}},
		{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":\"\xff\"}", env{Kind: wire.KindNotification, Method: b("m"), Params: b("\"\xff\"")}},
		{"as deep as allowed", `{"jsonrpc":"2.0","method":"m","params":` + ok + `}`, env{Kind: wire.KindNotification, Method: b("m"), Params: b(ok)}},
		{"too deep", `{"jsonrpc":"2.0","method":"m","params":` + deep + `,"id":1}`, env{Kind: wire.KindBadRequest, TooDeep: true, ID: b("1"), Method: b("m"), Reason: tooDeep}},
		{"too deep answer", `{"result":` + deep + `,"jsonrpc":"2.0","id":1}`, env{Kind: wire.KindBadResponse, TooDeep: true, ID: b("1"), Reason: tooDeep}},
		{"too deep array", "[" + deep + "]", env{Kind: wire.KindBadRequest, TooDeep: true, Reason: tooDeep}},
		{"batch", `[{}]`, env{Kind: wire.KindBadRequest, Reason: "JSON-RPC batches are not supported"}},
		{"both", `{"jsonrpc":"2.0","id":1,"result":1,"error":{}}`, env{Kind: wire.KindBadResponse, ID: b("1"), Result: b("1"), Error: b("{}"), Reason: "both result and error"}},
		{"neither", `{"jsonrpc":"2.0","id":1}`, env{Kind: wire.KindBadResponse, ID: b("1"), Reason: "neither result nor error"}},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":1,"result":1}`, env{Kind: wire.KindBadResponse, Result: b("1"), Reason: "duplicate member id"}},
		{"two results", `{"jsonrpc":"2.0","id":1,"result":1,"result":1}`, env{Kind: wire.KindBadResponse, ID: b("1"), Result: b("1"), Reason: "duplicate member result"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, wire.ParseEnvelope([]byte(tt.frame)))
		})
	}
}

func TestMember(t *testing.T) {
	for _, tt := range []struct{ object, want string }{
		{`{"a":1,"b":{"x":2}}`, `{"x":2}`}, {`{"b":1,"b":2}`, `1`}, {`{"\u0062":3}`, `3`}, {`{}`, ``}, {`[1]`, ``}, {``, ``}, {`null`, ``}, {`{"B":1}`, ``}, {`{"b":`, ``},
	} {
		assert.Equal(t, tt.want, string(wire.Member([]byte(tt.object), "b")), tt.object)
	}
}

func TestRepeated(t *testing.T) {
	for object, want := range map[string]string{
		`{"a":1,"b":2}`: "", `{"a":1,"a":2}`: "a", `{"b":1,"\u0062":{"a":1}}`: "b", `{"x":{"a":1},"a":2,"x":3}`: "", `{}`: "", `[1]`: "", `"a"`: "", ` { "b" : [ "b" ] , "b" : 1 } `: "b",
	} {
		assert.Equal(t, want, wire.Repeated([]byte(object), "a", "b"), object)
	}
}

// wellFormed asks the tokenizer that others use what a frame is.
func wellFormed(frame []byte) (valid, object bool) {
	frame = bytes.TrimLeft(frame, " \t\r\n")
	frame = bytes.TrimPrefix(frame, []byte("\ufeff"))
	d := jsontext.NewDecoder(bytes.NewReader(frame), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	kind := d.PeekKind()
	if d.SkipValue() != nil {
		return false, false
	}
	_, err := d.ReadToken()
	return errors.Is(err, io.EOF), kind == '{'
}

// members takes an object apart as another library does. It is nil for objects with a
// name that occurs twice, of which libraries take different ones.
func members(frame []byte) (m map[string]jsontext.Value) {
	frame = bytes.TrimPrefix(bytes.TrimLeft(frame, " \t\r\n"), []byte("\ufeff"))
	if jsonv2.Unmarshal(frame, &m, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	return m
}

// usable tells whether an id can be answered to.
func usable(id jsontext.Value) bool {
	var number float64
	switch id.Kind() {
	case '0':
		return len(id) <= wire.MaxID && jsonv2.Unmarshal(id, &number) == nil
	case '"', 'n':
		return len(id) <= wire.MaxID
	}
	return false
}

// requireMembers compares a message with what another library finds in it.
func requireMembers(t *testing.T, frame []byte, e wire.Envelope) {
	m := members(frame)
	if m == nil {
		return
	}
	for name, got := range map[string][]byte{"params": e.Params, "result": e.Result, "error": e.Error} {
		require.Equal(t, string(m[name]), string(got), "%s of %q", name, frame)
	}
	if !usable(m["id"]) {
		m["id"] = nil
	}
	require.Equal(t, string(m["id"]), string(e.ID), "id of %q", frame)
	var version, method string
	require.NoError(t, jsonv2.Unmarshal(m["jsonrpc"], &version))
	require.Equal(t, "2.0", version)
	if e.Kind == wire.KindRequest || e.Kind == wire.KindNotification {
		require.NoError(t, jsonv2.Unmarshal(m["method"], &method, jsontext.AllowInvalidUTF8(true)))
		require.Equal(t, method, string([]rune(string(e.Method))), "%q: each bad byte is one U+FFFD", frame)
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,"}"]}}`, `{"jsonrpc":"2.0","result":null,"id":"x"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`,
		`{"id":1e400}`, `[]`, `42`, `{"a":tru}`, `{"\u0069d":1,"id":2}`, "\ufeff{}", `{"id":"\ud800"}`, `{"method":"a\nb"}`, "{\"a\":\"\x00\"}", `{"a":1}{`, `{"params":[[[[[[[[[[[[[]`,
		`{"jsonrpc":"2.0","method":"m","params":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `,"id":1}`,
	} {
		f.Add([]byte(s))
	}
	for _, s := range seed.Short(f, 4<<10) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		before := bytes.Clone(frame)
		e := wire.ParseEnvelope(frame)
		require.Equal(t, before, frame, "the frame is not changed")
		valid, object := wellFormed(frame)
		switch e.Kind {
		case wire.KindBlank:
			require.False(t, valid)
		case wire.KindNotJSON:
			require.False(t, valid, "%q: %s", frame, e.Reason)
		case wire.KindBadRequest, wire.KindBadResponse:
			if !e.TooDeep {
				require.True(t, valid, "%q", frame)
			}
		default:
			require.True(t, valid && object, "%q", frame)
			requireMembers(t, frame, e)
		}
		for _, raw := range [][]byte{e.ID, e.Params, e.Result, e.Error} {
			if raw != nil {
				end, err := wire.Skip(raw, 0, wire.MaxDepth)
				require.NoError(t, err)
				require.Equal(t, len(raw), end)
			}
		}
	})
}

func BenchmarkParseEnvelope(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("x", 100) + `"}}}}`)
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		wire.ParseEnvelope(frame)
	}
}
