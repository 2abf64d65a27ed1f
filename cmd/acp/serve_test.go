package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	acpkit "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/stream"
)

// serveBold runs acp serve with the agent bold until the test ends, and returns what it has printed.
func serveBold(t *testing.T, state string, flags ...string) string {
	t.Helper()
	args := append([]string{"serve"}, flags...)
	cmd := acp(state, append(args, "--", os.Args[0], "play", "bold")...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// editor is a client that acp attach connects.
type editor struct {
	conn    *client.Conn
	threads thread.Set
}

func (e *editor) SessionUpdate(context.Context, *acpkit.SessionNotification) error { return nil }

func (e *editor) RequestPermission(context.Context, *acpkit.RequestPermissionRequest) (*acpkit.RequestPermissionResponse, error) {
	return acpkit.Cancelled(), nil
}

func attached(t *testing.T, state, address, token string) *editor {
	t.Helper()
	cmd := acp(state, "attach", address)
	cmd.Env = append(cmd.Env, "ACP_TOKEN="+token)
	process, err := stream.Command(cmd, nil)
	require.NoError(t, err)
	e := new(editor)
	e.conn, err = client.Connect(t.Context(), process, func(*client.Conn) acpkit.Client { return e.threads.Client(e) },
		&client.Options{Sending: []acpkit.Middleware{e.threads.Sending}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.conn.Close(); _ = e.conn.Wait() })
	return e
}

// Two editors share a session, over a port with a token and over a socket without one.
func TestServeAndAttach(t *testing.T) {
	for _, socket := range []bool{false, true} {
		state := t.TempDir()
		address, token := "", ""
		if socket {
			dir, err := os.MkdirTemp("", "acp")
			require.NoError(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			said := serveBold(t, state, "-socket", filepath.Join(dir, "s"))
			address = strings.TrimPrefix(said, "acp attach ")
		} else {
			address, token, _ = strings.Cut(serveBold(t, state, "-listen", "127.0.0.1:0"), "/#")
		}
		a, b := attached(t, state, address, token), attached(t, state, address, token)
		s, err := a.conn.StartSession(t.Context(), &acpkit.NewSessionRequest{Cwd: t.TempDir()})
		require.NoError(t, err)
		_, err = s.Prompt(t.Context(), acpkit.Text("hello")).Wait()
		require.NoError(t, err)
		_, err = b.conn.LoadSession(t.Context(), &acpkit.LoadSessionRequest{SessionID: s.ID(), Cwd: t.TempDir()})
		require.NoError(t, err)
		items := b.threads.Thread(s.ID()).Snapshot().Items
		require.Equal(t, 2, items.Len())
		assert.Equal(t, "hello", items.At(0).(*thread.Message).Text())
		assert.Equal(t, "**hello**", items.At(1).(*thread.Message).Text())
	}
}

// What the page loads needs no token; what it shows does, and no page of another site gets any of it.
func TestThePage(t *testing.T) {
	address, token, _ := strings.Cut(serveBold(t, t.TempDir(), "-listen", "127.0.0.1:0"), "/#")
	ask := func(path string, header http.Header) (int, string, http.Header) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
		require.NoError(t, err)
		req.Header = header
		req.Host = header.Get("Host")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		if res.StatusCode == http.StatusSwitchingProtocols {
			return res.StatusCode, "", res.Header
		}
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(text), res.Header
	}
	for _, path := range []string{"/", "/live.js", "/conversation.js", "/conversation.css"} {
		status, text, header := ask(path, nil)
		assert.Equal(t, http.StatusOK, status, path)
		assert.NotContains(t, text, token)
		assert.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'")
	}
	encoded := "acp.token." + base64.RawURLEncoding.EncodeToString([]byte(token))
	upgrade := func(more ...string) http.Header {
		h := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
		for i := 0; i < len(more); i += 2 {
			h.Set(more[i], more[i+1])
		}
		return h
	}
	for name, c := range map[string]struct {
		path   string
		header http.Header
		status int
	}{
		"no token":              {"/page", upgrade(), http.StatusUnauthorized},
		"no token, the agent":   {"/acp", upgrade(), http.StatusUnauthorized},
		"a wrong token":         {"/page", upgrade("Sec-WebSocket-Protocol", "acp.page, acp.token.AAAA"), http.StatusUnauthorized},
		"no base64":             {"/page", upgrade("Sec-WebSocket-Protocol", "acp.page, acp.token.%%%"), http.StatusUnauthorized},
		"in the request line":   {"/page?token=" + token, upgrade(), http.StatusUnauthorized},
		"that of the page":      {"/acp", upgrade("Sec-WebSocket-Protocol", "acp.page, "+encoded), http.StatusUnauthorized},
		"another site":          {"/page", upgrade("Sec-WebSocket-Protocol", "acp.page, "+encoded, "Origin", "http://evil.example"), http.StatusForbidden},
		"another site, agent":   {"/acp", upgrade("Authorization", "Bearer "+token, "Origin", "http://evil.example"), http.StatusForbidden},
		"no site":               {"/page", upgrade("Sec-WebSocket-Protocol", "acp.page, "+encoded, "Origin", "null"), http.StatusForbidden},
		"another name":          {"/page", upgrade("Sec-WebSocket-Protocol", "acp.page, "+encoded, "Host", "evil.example"), http.StatusForbidden},
		"the page":              {"/page", upgrade("Sec-WebSocket-Protocol", "acp.page, "+encoded, "Origin", address), http.StatusSwitchingProtocols},
		"an editor":             {"/acp", upgrade("Authorization", "Bearer "+token), http.StatusSwitchingProtocols},
		"no WebSocket at /page": {"/page", http.Header{"Authorization": {"Bearer " + token}, "Accept": {"text/event-stream"}}, http.StatusBadRequest},
	} {
		status, text, header := ask(c.path, c.header)
		assert.Equal(t, c.status, status, name)
		assert.NotContains(t, text+fmt.Sprint(header), token, name)
	}
}

// An end of input before a message is no success: nothing was tried.
func TestAttachWithoutInput(t *testing.T) {
	address, _, _ := strings.Cut(serveBold(t, t.TempDir(), "-listen", "127.0.0.1:0"), "/#")
	for _, url := range []string{address, "http://127.0.0.1:1"} {
		out, err := acp(t.TempDir(), "attach", url).CombinedOutput() // standard input is empty
		assert.ErrorContains(t, err, "exit status 1", url)
		assert.Contains(t, string(out), "has ended before there was a message", url)
	}
}

// What is wrong is said with what to do.
func TestServeRefuses(t *testing.T) {
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o777))
	busy := serveBold(t, t.TempDir(), "-listen", "127.0.0.1:0")
	busy = strings.TrimPrefix(strings.Split(busy, "/#")[0], "http://")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no agent":               {[]string{"serve"}, "name the command of the agent after --"},
		"no program":             {[]string{"serve", "-listen", "127.0.0.1:0", "--", "no-such-agent"}, "not installed"},
		"an address in use":      {[]string{"serve", "-listen", busy, "--", os.Args[0], "play", "bold"}, "another program listens on " + busy},
		"a socket for everybody": {[]string{"serve", "-socket", filepath.Join(open, "s"), "--", os.Args[0], "play", "bold"}, "without a token"},
		"no address":             {[]string{"attach"}, "name the address that acp serve has printed"},
		"a token as argument":    {[]string{"attach", "http://127.0.0.1:7777/#secret"}, "do not pass the token as an argument"},
		"no scheme":              {[]string{"attach", "127.0.0.1:7777"}, "is no address of acp serve"},
		"a wrong token":          {[]string{"attach", "http://" + busy}, "set ACP_TOKEN to what follows #"},
		"a wrong token, ws":      {[]string{"attach", "ws://" + busy}, "set ACP_TOKEN to what follows #"},
		"a NATS password":        {[]string{"serve", "-nats", "nats://acp:secret/@127.0.0.1:1", "-node", "http://127.0.0.1:1", "--", os.Args[0], "play", "bold"}, "in its password as %XX"},
		"nobody there":           {[]string{"attach", "http://127.0.0.1:1"}, "127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := acp(t.TempDir(), c.args...)
			cmd.Env = append(cmd.Env, "ACP_NODE_TOKEN="+strings.Repeat("x", 16))
			in, err := cmd.StdinPipe() // stays open, as that of an editor
			require.NoError(t, err)
			go func() { // ends at once: a pipe takes so much
				_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
			}()
			out, err := cmd.CombinedOutput()
			_, failed := err.(*exec.ExitError)
			require.True(t, failed, "%v", err)
			assert.Contains(t, string(out), c.want)
			assert.NotContains(t, string(out), "secret")
		})
	}
}
