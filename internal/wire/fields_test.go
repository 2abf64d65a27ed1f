package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/wire"
)

func TestFieldErrors(t *testing.T) {
	var none *wire.FieldErrors
	assert.True(t, none.Empty())
	assert.Empty(t, none.String())
	raw, err := json.Marshal(none)
	require.NoError(t, err)
	assert.Equal(t, `null`, string(raw)) // encoding/json does not call MarshalJSON of a nil pointer

	f := &wire.FieldErrors{}
	assert.True(t, f.Empty())
	f.Field("never filled")
	assert.True(t, f.Empty(), "a field without violations")

	f = &wire.FieldErrors{}
	f.Add([]string{"list", "10", "x"}, "ten")
	f.Add([]string{"list", "9"}, "nine")
	f.Add([]string{"cwd"}, "first")
	f.Add([]string{"cwd"}, `second "quoted"`)
	f.Add(nil, "itself")
	assert.False(t, f.Empty())
	assert.Equal(t, `itself; cwd: first; cwd: second "quoted"; list.9: nine; list.10.x: ten`, f.String())
	raw, err = json.Marshal(f)
	require.NoError(t, err)
	assert.Equal(t, `{"_errors":["itself"],"cwd":{"_errors":["first","second \"quoted\""]},"list":{"_errors":[],`+
		`"9":{"_errors":["nine"]},"10":{"_errors":[],"x":{"_errors":["ten"]}}}}`, string(raw))

	var paths []string
	f.Walk(func(path []string, msg string) { paths = append(paths, msg) })
	assert.Equal(t, []string{"itself", "first", `second "quoted"`, "nine", "ten"}, paths)

	assert.Equal(t, "json: x: bad", (&wire.DecodeError{Fields: sub("x", "bad")}).Error())
}

func sub(name, msg string) *wire.FieldErrors {
	f := &wire.FieldErrors{}
	f.Add([]string{name}, msg)
	return f
}
