package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/wire"
)

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

func TestIsFilled(t *testing.T) {
	assert.True(t, wire.IsFilled(" "))
	assert.False(t, wire.IsFilled(""))
}

func TestRulesDoNotAllocate(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = wire.IsAbsPath("/home/me") && wire.IsURI("file:///home/me") && wire.IsFilled("s1")
	}))
}
