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

func TestIsAbsPath(t *testing.T) {
	for path, want := range map[string]bool{
		"/": true, "/home/me": true, "//": true, "/a/../b": true, "/ü": true,
		`C:\`: true, `c:\x y`: true, "C:/x": true, `\\host\share`: true, `\\?\C:\x`: true,
		"": false, "x": false, "./x": false, "../x": false, "~/x": false, "C:": false, "C:x": false, "1:/x": false,
		`\x`: false, `\\`: false, `\\\x`: false, "file:///x": false, " /x": false,
	} {
		assert.Equal(t, want, wire.IsAbsPath(path), "%q", path)
	}
}

func TestIsURI(t *testing.T) {
	for uri, want := range map[string]bool{
		"file:///home/me/x.go": true, "https://example.com/a?b#c": true, "session:1": true, "urn:x:y": true,
		"a+b-c.1:x": true, "file:///ü": true, "HTTP://x": true, "zed:///agent/selection": true,
		"": false, "x": false, "/x": false, "//host/x": false, ":x": false, "file:": false, `C:\x`: false, "c:/x": false,
		"1a:x": false, "-a:x": false, "a b:x": false, "file:///a b": false, "file:///a\n": false, "fi/le:x": false, "ü:x": false,
	} {
		assert.Equal(t, want, wire.IsURI(uri), "%q", uri)
	}
}

func TestRulesDoNotAllocate(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = wire.IsAbsPath("/home/me") && wire.IsURI("file:///home/me")
	}))
}
