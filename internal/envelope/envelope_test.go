package envelope_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/seed"
)

func TestParse(t *testing.T) {
	type env = envelope.Envelope
	b := func(s string) []byte { return []byte(s) }
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	ok := strings.Repeat("[", 999) + strings.Repeat("]", 999)
	const tooDeep = "message is nested too deep"
	tests := []struct {
		name, frame string
		want        env
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,"}"]}}`, env{Kind: envelope.KindRequest, ID: b("1"), Method: b("m"), Params: b(`{"a":[1,"}"]}`)}},
		{"notification", ` { "method" : "m" , "jsonrpc" : "2.0" } `, env{Kind: envelope.KindNotification, Method: b("m")}},
		{"response", `{"jsonrpc":"2.0","result":null,"id":"x"}`, env{Kind: envelope.KindResponse, ID: b(`"x"`), Result: b("null")}},
		{"error", `{"jsonrpc":"2.0","id":null,"error":{}}`, env{Kind: envelope.KindErrorResponse, ID: b("null"), Error: b("{}")}},
		{"no id", `{"jsonrpc":"2.0","error":{}}`, env{Kind: envelope.KindErrorResponse, Error: b("{}")}},
		{"byte order mark", "\ufeff{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", env{Kind: envelope.KindNotification, Method: b("m")}},
		{"escapes", `{"json\u0072pc":"2\u002e0","method":"\u006d\/"}`, env{Kind: envelope.KindNotification, Method: b("m/")}},
		{"an escaped backslash is not an escape", `{"jsonrpc":"2.0","method":"m","\\u0069d":1}`, env{Kind: envelope.KindNotification, Method: b("m")}},
		{"foreign members", `{"jsonrpc":"2.0","method":"m","x":1,"x":2,"ID":3}`, env{Kind: envelope.KindNotification, Method: b("m")}},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, env{Kind: envelope.KindRequest, ID: b("1"), Method: b("")}},
		{"white space", " \r\n", env{}},
		{"nothing", "", env{}},
		{"bad UTF-8 in an id", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"m\"}", env{Kind: envelope.KindBadRequest, Method: b("m"), Reason: "id is not valid UTF-8"}},
		{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":\"\xff\"}", env{Kind: envelope.KindNotification, Method: b("m"), Params: b("\"\xff\"")}},
		{"as deep as allowed", `{"jsonrpc":"2.0","method":"m","params":` + ok + `}`, env{Kind: envelope.KindNotification, Method: b("m"), Params: b(ok)}},
		{"too deep", `{"jsonrpc":"2.0","method":"m","params":` + deep + `,"id":1}`, env{Kind: envelope.KindBadRequest, TooDeep: true, ID: b("1"), Method: b("m"), Reason: tooDeep}},
		{"too deep answer", `{"result":` + deep + `,"jsonrpc":"2.0","id":1}`, env{Kind: envelope.KindBadResponse, TooDeep: true, ID: b("1"), Reason: tooDeep}},
		{"too deep array", "[" + deep + "]", env{Kind: envelope.KindBadRequest, TooDeep: true, Reason: tooDeep}},
		{"batch", `[{}]`, env{Kind: envelope.KindBadRequest, Reason: "JSON-RPC batches are not supported"}},
		{"both", `{"jsonrpc":"2.0","id":1,"result":1,"error":{}}`, env{Kind: envelope.KindBadResponse, ID: b("1"), Result: b("1"), Error: b("{}"), Reason: "both result and error"}},
		{"neither", `{"jsonrpc":"2.0","id":1}`, env{Kind: envelope.KindBadResponse, ID: b("1"), Reason: "neither result nor error"}},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":1,"result":1}`, env{Kind: envelope.KindBadResponse, Result: b("1"), Reason: "duplicate member id"}},
		{"two results", `{"jsonrpc":"2.0","id":1,"result":1,"result":1}`, env{Kind: envelope.KindBadResponse, ID: b("1"), Result: b("1"), Reason: "duplicate member result"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, envelope.Parse([]byte(tt.frame)))
		})
	}
}

func TestMember(t *testing.T) {
	for _, tt := range []struct{ object, want string }{
		{`{"a":1,"b":{"x":2}}`, `{"x":2}`}, {`{"b":1,"b":2}`, `1`}, {`{"\u0062":3}`, `3`}, {`{}`, ``}, {`[1]`, ``}, {``, ``}, {`null`, ``}, {`{"B":1}`, ``}, {`{"b":`, ``},
	} {
		assert.Equal(t, tt.want, string(envelope.Member([]byte(tt.object), "b")), tt.object)
	}
}

func TestRepeated(t *testing.T) {
	for object, want := range map[string]string{
		`{"a":1,"b":2}`: "", `{"a":1,"a":2}`: "a", `{"b":1,"\u0062":{"a":1}}`: "b", `{"x":{"a":1},"a":2,"x":3}`: "", `{}`: "", `[1]`: "", `"a"`: "", ` { "b" : [ "b" ] , "b" : 1 } `: "b",
	} {
		assert.Equal(t, want, envelope.Repeated([]byte(object), "a", "b"), object)
	}
}

// document returns the JSON text of a frame, without leading white space and byte order mark.
func document(frame []byte) []byte {
	frame = bytes.TrimPrefix(bytes.TrimLeft(frame, " \t\r\n"), []byte("\ufeff"))
	return bytes.TrimLeft(frame, " \t\r\n")
}

// wellFormed reports whether encoding/json accepts a frame, and whether it accepts it as an object.
func wellFormed(frame []byte) (valid, object bool) {
	doc := document(frame)
	valid = json.Valid(doc)
	return valid, valid && doc[0] == '{'
}

// members returns the members of an object as encoding/json reads them. It returns nil if a name
// occurs twice, because libraries choose different values then.
func members(t *testing.T, frame []byte) map[string]json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(document(frame)))
	_, err := dec.Token()
	require.NoError(t, err)
	m := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		require.NoError(t, err)
		var value json.RawMessage
		require.NoError(t, dec.Decode(&value))
		if _, twice := m[name.(string)]; twice {
			return nil
		}
		m[name.(string)] = value
	}
	return m
}

// usable reports whether a response can carry the id.
func usable(id json.RawMessage) bool {
	if len(id) == 0 || len(id) > envelope.MaxID {
		return false
	}
	switch id[0] {
	case '"', 'n':
		return true
	case '{', '[', 't', 'f':
		return false
	}
	var number float64
	return json.Unmarshal(id, &number) == nil
}

// requireMembers compares an envelope with what encoding/json finds in the frame.
func requireMembers(t *testing.T, frame []byte, e envelope.Envelope) {
	m := members(t, frame)
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
	require.NoError(t, json.Unmarshal(m["jsonrpc"], &version))
	require.Equal(t, "2.0", version)
	if e.Kind == envelope.KindRequest || e.Kind == envelope.KindNotification {
		require.NoError(t, json.Unmarshal(m["method"], &method))
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
		e := envelope.Parse(frame)
		require.Equal(t, before, frame, "the frame is not changed")
		valid, object := wellFormed(frame)
		switch e.Kind {
		case envelope.KindBlank:
			require.False(t, valid)
		case envelope.KindNotJSON:
			require.False(t, valid, "%q: %s", frame, e.Reason)
		case envelope.KindBadRequest, envelope.KindBadResponse:
			if !e.TooDeep {
				require.True(t, valid, "%q", frame)
			}
		default:
			require.True(t, valid && object, "%q", frame)
			requireMembers(t, frame, e)
		}
		for _, raw := range [][]byte{e.ID, e.Params, e.Result, e.Error} {
			if raw != nil {
				end, err := envelope.Skip(raw, 0, envelope.MaxDepth)
				require.NoError(t, err)
				require.Equal(t, len(raw), end)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("x", 100) + `"}}}}`)
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		envelope.Parse(frame)
	}
}
