package interop_test

import (
	"context"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream/remote"
)

// acp serve behind nginx, with the commands and the configuration of docs/hub.md: the page, an editor that
// attaches over WebSocket and over HTTP, and a page of another site.
func TestServeBehindNginx(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/hub.md")
	require.NoError(t, err)
	recipe := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindStringSubmatch(string(doc))
	require.NotNil(t, recipe)
	require.Contains(t, string(doc), "-hosts https://"+proxyHost)
	hub := serveSelf(t, "-hosts", "https://"+proxyHost)
	address, pool := nginxWith(t, strings.Replace(recipe[1], "127.0.0.1:7777", strings.TrimPrefix(hub.address, "http://"), 1))
	web, _ := proxied(t, address, pool, false)
	get := func(path string, header http.Header) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+proxyHost+path, nil)
		require.NoError(t, err)
		req.Header = header
		res, err := web.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		return res.StatusCode, res.Header.Get("Content-Security-Policy")
	}
	status, policy := get("/", nil)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, policy, "connect-src 'self'")

	for _, scheme := range []string{"wss", "https"} {
		s, err := remote.Dial(t.Context(), scheme+"://"+proxyHost+"/acp", &remote.DialOptions{Client: web, Header: func(context.Context) (http.Header, error) {
			return http.Header{"Authorization": {"Bearer " + hub.token}}, nil
		}})
		require.NoError(t, err)
		conn, err := client.Connect(t.Context(), s, func(*client.Conn) acp.Client { return holding{} }, nil)
		require.NoError(t, err)
		page := hub.page(t, "wss://"+proxyHost, "https://"+proxyHost, web)
		session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
		require.NoError(t, err)
		go page.allow() // ends with its answer
		said, err := session.Prompt(t.Context(), acp.Text("permission")).Text()
		require.NoError(t, err)
		assert.Equal(t, "selected id-allow_once", said)
		require.NoError(t, <-page.answered)
		said, err = session.Prompt(t.Context(), acp.Text("say "+strings.Repeat(" ", 20<<20)+"x")).Text()
		require.NoError(t, err)
		assert.Equal(t, "x", strings.TrimSpace(said), "client_max_body_size")
		require.NoError(t, conn.Close())
		_ = conn.Wait()
	}
	_, _, err = hub.dialPage(t.Context(), "wss://"+proxyHost, "https://evil.example", web)
	require.Error(t, err)
	_, _, err = hub.dialPage(t.Context(), "wss://"+proxyHost, "http://"+proxyHost, web)
	require.Error(t, err, "a page that came without TLS")
}

// holding is a client whose user does not answer.
type holding struct{}

func (holding) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (holding) RequestPermission(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
