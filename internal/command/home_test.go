package command_test

import (
	"os/user"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/command"
)

func TestHome(t *testing.T) {
	name := map[bool]string{true: "USERPROFILE", false: "HOME"}[runtime.GOOS == "windows"]
	t.Setenv(name, "/from/the/environment")
	assert.Equal(t, "/from/the/environment", command.Home())
	t.Setenv(name, "")
	account, err := user.Current()
	require.NoError(t, err)
	assert.Equal(t, account.HomeDir, command.Home())
}
