package acp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
)

type patch struct {
	Title acp.Opt[string]   `json:"title,omitzero"`
	Tags  acp.Opt[[]string] `json:"tags,omitzero"`
}

func TestOptRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		name, json string
		want       patch
	}{
		{"absent", `{}`, patch{}},
		{"null", `{"title":null}`, patch{Title: acp.Null[string]()}},
		{"value", `{"title":"x"}`, patch{Title: acp.Some("x")}},
		{"zero value", `{"title":""}`, patch{Title: acp.Some("")}},
		{"list", `{"tags":["a","b"]}`, patch{Tags: acp.Some([]string{"a", "b"})}},
		{"empty list", `{"tags":[]}`, patch{Tags: acp.Some([]string{})}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got patch
			require.NoError(t, json.Unmarshal([]byte(tt.json), &got))
			assert.Equal(t, tt.want, got)
			back, err := json.Marshal(got)
			require.NoError(t, err)
			assert.JSONEq(t, tt.json, string(back))
		})
	}
}

func TestOptRejectsOtherTypes(t *testing.T) {
	var got patch
	require.Error(t, json.Unmarshal([]byte(`{"title":5}`), &got))
	assert.True(t, got.Title.IsZero(), "a failed read leaves the Opt alone")
}

func TestOptStates(t *testing.T) {
	for _, tt := range []struct {
		name         string
		opt          acp.Opt[int]
		ok           bool
		isNull, zero bool
		or, applied  int
		text         string
		checked      any
	}{
		{"absent", acp.Opt[int]{}, false, false, true, 7, 5, "absent", nil},
		{"null", acp.Null[int](), false, true, false, 7, 0, "null", nil},
		{"value", acp.Some(3), true, false, false, 3, 3, "3", 3},
		{"zero", acp.Some(0), true, false, false, 0, 0, "0", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ok := tt.opt.Get()
			assert.Equal(t, tt.ok, ok)
			assert.Equal(t, tt.isNull, tt.opt.IsNull())
			assert.Equal(t, tt.zero, tt.opt.IsZero())
			assert.Equal(t, tt.or, tt.opt.Or(7))
			assert.Equal(t, tt.applied, tt.opt.Apply(5))
			assert.Equal(t, tt.text, tt.opt.String())
			assert.Equal(t, tt.checked, tt.opt.ValidatorValue())
		})
	}
}

func TestOptOutsideAField(t *testing.T) {
	b, err := json.Marshal([]acp.Opt[int]{{}, acp.Null[int](), acp.Some(1)})
	require.NoError(t, err)
	assert.JSONEq(t, `[null,null,1]`, string(b))
}
