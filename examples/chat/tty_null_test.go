package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The null device is no terminal, even if it is the standard input and has another name.
func TestTheNullDeviceIsNoTerminal(t *testing.T) {
	null, err := syscall.Open(os.DevNull, os.O_RDONLY, 0)
	require.NoError(t, err)
	stdin := os.NewFile(uintptr(null), "stdin")
	defer stdin.Close()
	assert.Nil(t, openTTY(stdin))
}
