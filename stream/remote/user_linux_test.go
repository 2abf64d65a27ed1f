package remote_test

import (
	"bufio"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream/remote"
)

// A token that is made is shown on the terminal, and is another one each time.
func TestTokenIsShownOnATerminal(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	require.NoError(t, err)
	defer master.Close()
	var n, unlock int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &n} {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value)))
		require.Zero(t, errno)
	}
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(n)), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	defer terminal.Close()

	t.Setenv(remote.TokenVariable, "")
	l, err := remote.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	lines := bufio.NewReader(master)
	var last string
	for range 2 {
		authorize, err := remote.AuthorizeUser(l, terminal)
		require.NoError(t, err)
		_, err = lines.ReadString('\n')
		require.NoError(t, err)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		token, ok := strings.CutPrefix(strings.TrimSpace(line), "ACP_TOKEN=")
		require.True(t, ok, line)
		assert.Len(t, token, 26)
		assert.NotEqual(t, last, token)
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", "Bearer "+last)
		_, err = authorize(r)
		assert.Error(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		_, err = authorize(r)
		assert.NoError(t, err)
		last = token
	}
}
