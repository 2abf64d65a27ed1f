package acp_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/codectest"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/internal/wire"
)

// FuzzCodecs decodes any JSON as any type. Nothing panics, a decoded value survives a round trip,
// and everything that is encoded was in the input.
func FuzzCodecs(f *testing.F) {
	for i, c := range version.Cases {
		raw, err := c.Append(version.Random(c, uint64(i)))
		require.NoError(f, err)
		f.Add(uint(i), raw)
	}
	for _, v := range version.Vectors(f) {
		for i, c := range version.Cases {
			if c.Name == v.Type {
				f.Add(uint(i), []byte(v.Input))
			}
		}
	}
	addRecorded(f)
	f.Fuzz(func(t *testing.T, which uint, raw []byte) {
		c := version.Cases[which%uint(len(version.Cases))]
		v, _, err := c.Decode(raw) // whatever it is: no panic
		if wire.Check(raw) != nil || err != nil {
			return
		}
		out, err := c.Append(v)
		require.NoError(t, err, "%s: %s", c.Name, raw)
		require.NoError(t, wire.Check(out), "%s: %s", c.Name, out)
		again, _, err := c.Decode(out)
		require.NoError(t, err, "%s: %s", c.Name, out)
		second, err := c.Append(again)
		require.NoError(t, err)
		require.Equal(t, string(out), string(second), "%s: %s", c.Name, raw)

		in, ok := parse(raw)
		if !ok {
			return // a name twice: the two libraries take different ones
		}
		written, ok := parse(out)
		require.True(t, ok, "%s: %s", c.Name, out)
		require.True(t, within(written, in), "%s\nread    %s\nwritten %s", c.Name, raw, out)
	})
}

// addRecorded adds the params and updates of recorded conversations.
func addRecorded(f *testing.F) {
	cases := map[string]uint{}
	for i, c := range version.Cases {
		cases[c.Name] = uint(i)
	}
	for _, line := range seed.Short(f, 2<<10) {
		e := envelope.Parse(line)
		m := wire.Request(acp.ProtocolVersion, string(e.Method))
		if e.Kind == envelope.KindNotification {
			m = wire.Notification(acp.ProtocolVersion, string(e.Method))
		}
		if m == nil || m.Params == nil || len(e.Params) == 0 {
			continue
		}
		v, _, err := m.Params.Decode(e.Params)
		if err != nil {
			continue
		}
		if _, ok := v.(*acp.SessionNotification); ok {
			f.Add(cases["SessionUpdate"], envelope.Member(e.Params, "update"))
		}
		if i, ok := cases[reflect.TypeOf(v).Elem().Name()]; ok {
			f.Add(i, e.Params)
		}
	}
}

// parse reads JSON with numbers as text, which keeps them exact. It reports whether
// raw is JSON in which no object has a name twice.
func parse(raw []byte) (v any, ok bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return parseValue(dec)
}

func parseValue(dec *json.Decoder) (v any, ok bool) {
	token, err := dec.Token()
	if err != nil {
		return nil, false
	}
	switch token {
	case json.Delim('{'):
		object := map[string]any{}
		for dec.More() {
			name, _ := dec.Token()
			if _, twice := object[name.(string)]; twice {
				return nil, false
			}
			if object[name.(string)], ok = parseValue(dec); !ok {
				return nil, false
			}
		}
		v = object
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			x, ok := parseValue(dec)
			if !ok {
				return nil, false
			}
			list = append(list, x)
		}
		v = list
	default:
		return token, true
	}
	_, err = dec.Token() // the closing bracket
	return v, err == nil
}

// within reports whether everything in out is also in in. Lists may lack elements, objects may lack
// members, and out may have defaults of the protocol.
func within(out, in any) bool {
	switch out := out.(type) {
	case map[string]any:
		object, ok := in.(map[string]any)
		for name, x := range out {
			y, has := object[name]
			switch {
			case ok && has && within(x, y):
			case codectest.Empty(x) || addedTag(name, x):
			default:
				return false
			}
		}
		return ok || len(out) == 0
	case []any:
		list, ok := in.([]any)
		for _, x := range out {
			for len(list) > 0 && !within(x, list[0]) {
				list = list[1:]
			}
			if len(list) == 0 {
				return false
			}
			list = list[1:]
		}
		return ok || len(out) == 0
	case json.Number:
		n, ok := in.(json.Number)
		return ok && sameNumber(string(out), string(n))
	}
	return out == in
}

// addedTag reports whether the member may be a tag that a variant writes alone, or
// the type of a boolean value.
func addedTag(name string, x any) bool {
	_, text := x.(string)
	return text && (name == "type" || name == "sessionUpdate" || name == "state" || name == "outcome" || name == "mode" || name == "action")
}

// sameNumber compares as far as a float64 can tell, and exactly within 64 bits.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	if strings.ContainsAny(a+b, "eE") && (len(a) > 40 || len(b) > 40) {
		return true // exponents that big.Rat would have to write out
	}
	x, _, errX := big.ParseFloat(a, 10, 2000, big.ToNearestEven)
	y, _, errY := big.ParseFloat(b, 10, 2000, big.ToNearestEven)
	if errX != nil || errY != nil {
		return false
	}
	if x.Cmp(y) == 0 {
		return true
	}
	f, _ := x.Float64()
	g, _ := y.Float64()
	return f == g && (!x.IsInt() || !y.IsInt() || bytes.ContainsAny([]byte(b), ".eE") || len(b) > 16)
}
