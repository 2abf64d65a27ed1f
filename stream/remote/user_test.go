package remote_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/stream/remote"
)

// folder returns a new folder whose name is short enough for that of a socket.
func folder(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, mode))
	return dir
}

// What a program serves for its user is of no use to others on the machine.
func TestAuthorizeUser(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of folders mean nothing here")
	}
	private, within := folder(t, 0o700), filepath.Join(folder(t, 0o777), "own")
	require.NoError(t, os.Mkdir(within, 0o700))
	linked := filepath.Join(private, "link")
	require.NoError(t, os.Symlink(folder(t, 0o755), linked))
	for name, tt := range map[string]struct {
		address, token string
		needs          string // "token", "nothing", or "" for an error
	}{
		"a port":                               {"127.0.0.1:0", "", ""},
		"a port of every network":              {":0", "", ""},
		"a port, and a token":                  {"127.0.0.1:0", "secret", "token"},
		"a folder of the user":                 {"unix:" + private + "/s", "", "nothing"},
		"a folder of the user, and a token":    {"unix:" + private + "/t", "secret", "token"},
		"a folder that others read":            {"unix:" + folder(t, 0o755) + "/s", "", ""},
		"a folder that the group may enter":    {"unix:" + folder(t, 0o710) + "/s", "", ""},
		"a folder that others may enter":       {"unix:" + folder(t, 0o701) + "/s", "", ""},
		"a folder that others can exchange":    {"unix:" + within + "/s", "", ""},
		"a link to a folder that others enter": {"unix:" + linked + "/s", "", ""},
		"a folder of all":                      {"unix:" + filepath.Join(os.TempDir(), "acpkit-test.sock"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(remote.TokenVariable, tt.token)
			l, err := remote.Listen(tt.address)
			require.NoError(t, err)
			defer l.Close()
			log, err := os.Create(filepath.Join(t.TempDir(), "log"))
			require.NoError(t, err)
			defer log.Close()
			authorize, err := remote.AuthorizeUser(l, log)
			if tt.needs == "" {
				assert.ErrorContains(t, err, "set ACP_TOKEN")
			} else {
				assert.NoError(t, err)
			}
			assert.Equal(t, tt.needs == "token", authorize != nil)
			if authorize != nil {
				r := httptest.NewRequest("GET", "/", nil)
				_, err := authorize(r)
				assert.Error(t, err)
				r.Header, _ = remote.TokenHeader(t.Context())
				_, err = authorize(r)
				assert.NoError(t, err)
			}
			text, err := os.ReadFile(log.Name())
			require.NoError(t, err)
			assert.Empty(t, text, "nothing is written to a log")
			null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			require.NoError(t, err)
			defer null.Close()
			_, err = remote.AuthorizeUser(l, null)
			assert.Equal(t, tt.needs == "", err != nil, "nobody would see the token")
		})
	}
}

// A client reaches an agent at a Unix socket, also after a server was killed that had listened there.
func TestUnixSockets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test needs a path without a drive")
	}
	t.Setenv(remote.TokenVariable, "")
	path := folder(t, 0o700) + "/s"
	killed, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	killed.SetUnlinkOnClose(false)
	require.NoError(t, killed.Close())
	l, err := remote.Listen("unix:" + path)
	require.NoError(t, err)
	_, err = remote.Listen("unix:" + path)
	require.Error(t, err, "it is in use")
	h := remote.NewHandler(serving(nil), &remote.Options{Logger: quiet})
	server := remote.NewServer("", h)
	go func() { _ = server.Serve(l) }() // ends with Close
	defer server.Close()
	_, session := openSession(t, "unix:"+path, &remote.DialOptions{Header: remote.TokenHeader, Client: http.DefaultClient})
	text, err := session.Prompt(t.Context(), acp.Text("hello")).Text()
	require.NoError(t, err)
	assert.Equal(t, "hello", text)

	file := folder(t, 0o700) + "/file"
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	_, err = remote.Listen("unix:" + file)
	require.Error(t, err)
	_, err = os.Stat(file)
	assert.NoError(t, err, "what is no socket stays")
}
