//go:build linux

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The picture shows what the program prints today.
func TestPictureIsUpToDate(t *testing.T) {
	want, err := picture(t.Context())
	require.NoError(t, err)
	got, err := os.ReadFile("../../../docs/chat.svg")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run go generate .")
}

func TestParse(t *testing.T) {
	assert.Equal(t, [][]span{
		{{"", "a "}, {"g", "b"}, {"", " c"}},
		nil,
		{{"", "    <d>"}},
	}, parse("a \x1b[32mb\x1b[0m c\n\n\t<d>"))
	assert.Equal(t, "&lt;d&gt; \"", escape(`<d> "`))
}
