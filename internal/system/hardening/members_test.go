package hardening_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/acpkit/go-sdk/acp" // registers the methods
	_ "github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/internal/wire"
)

// typed is the params or the result of one recorded message.
type typed struct {
	name  string
	raw   json.RawMessage
	codec *wire.Codec
}

// recordedValues are the params and results of recorded messages of a version that can be
// read.
func recordedValues(t testing.TB, version int) []typed {
	var all []typed
	asked := map[string]*wire.Method{}
	for _, l := range seed.Recorded(t, version) {
		e := envelope.Parse([]byte(l.Raw))
		method := string(e.Method)
		key, other := l.File+l.Dir+string(e.ID), l.File+map[string]string{"send": "recv", "recv": "send"}[l.Dir]+string(e.ID)
		var v typed
		switch e.Kind {
		case envelope.KindRequest:
			if m := wire.Request(version, method); m != nil {
				asked[key] = m
				v = typed{l.File + " " + method + " params", e.Params, m.Params}
			}
		case envelope.KindNotification:
			if m := wire.Notification(version, method); m != nil {
				v = typed{l.File + " " + method, e.Params, m.Params}
			}
		case envelope.KindResponse:
			if m := asked[other]; m != nil {
				v = typed{l.File + " " + m.Name + " result", e.Result, m.Result}
			}
		}
		if v.codec == nil || len(v.raw) == 0 || string(v.raw) == "null" {
			continue
		}
		if _, _, err := v.codec.Decode(v.raw); err == nil {
			all = append(all, v)
		}
	}
	return all
}

// A newer peer sends members that this SDK does not know, anywhere. They change
// nothing.
func TestUnknownMembersEverywhere(t *testing.T) {
	for version := 1; version <= 2; version++ {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			seen := 0
			for _, v := range recordedValues(t, version) {
				var tree any
				require.NoError(t, json.Unmarshal(v.raw, &tree))
				more, err := json.Marshal(widen(tree, ""))
				require.NoError(t, err)
				was, _, err := v.codec.Decode(v.raw)
				require.NoError(t, err)
				is, _, err := v.codec.Decode(more)
				if !assert.NoError(t, err, "%s: %.300s", v.name, more) {
					continue
				}
				before, err := v.codec.Append(nil, was)
				require.NoError(t, err)
				after, err := v.codec.Append(nil, is)
				require.NoError(t, err)
				assert.JSONEq(t, string(before), narrow(t, after), v.name)
				seen++
			}
			assert.Greater(t, seen, 300)
		})
	}
}

// narrow takes out what widen has added, where it was kept: values of a kind that the SDK
// does not know keep all of their members.
func narrow(t *testing.T, raw []byte) string {
	t.Helper()
	var tree any
	require.NoError(t, json.Unmarshal(raw, &tree))
	var take func(v any)
	take = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "zzNew")
			for _, x := range v {
				take(x)
			}
		case []any:
			for _, x := range v {
				take(x)
			}
		}
	}
	take(tree)
	out, err := json.Marshal(tree)
	require.NoError(t, err)
	return string(out)
}

// widen adds a member to every object that the SDK looks into and knows the kind of.
func widen(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		if name == "_meta" || name == "env" || strings.HasPrefix(name, "raw") { // opaque, or a map of texts
			return v
		}
		if v["action"] == "accept" { // the answers of a form
			return v
		}
		for key, x := range v {
			v[key] = widen(x, key)
		}
		if name == "properties" { // the fields of a form
			return v
		}
		v["zzNew"] = map[string]any{"zz": []any{1, nil}}
		return v
	case []any:
		for i, x := range v {
			v[i] = widen(x, name)
		}
	}
	return v
}
