package interop_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sharedAgent is acp serve with our agent.
type sharedAgent struct{ address, token string }

func serveSelf(t *testing.T, flags ...string) *sharedAgent {
	t.Helper()
	args := append([]string{"serve", "-listen", "127.0.0.1:0", "-store", t.TempDir()}, flags...)
	cmd := exec.Command(example(t, "acp"), append(append(args, "--"), self(t)...)...)
	cmd.Env = selfEnv("agent")
	cmd.Stderr = testWriter{t}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	address, token, _ := strings.Cut(strings.TrimSpace(line), "/#")
	return &sharedAgent{address, token}
}

// attach is the command that an editor starts, and its environment.
func (s *sharedAgent) attach(t *testing.T) (command, env []string) {
	t.Helper()
	return []string{example(t, "acp"), "attach", s.address}, append(os.Environ(), "ACP_TOKEN="+s.token)
}

// livePage is the page of acp serve, as its script talks to the server.
type livePage struct {
	t        *testing.T
	conn     *websocket.Conn
	ctx      context.Context
	answered chan error
}

func (s *sharedAgent) dialPage(ctx context.Context, address, origin string, web *http.Client) (*websocket.Conn, *http.Response, error) {
	token := base64.RawURLEncoding.EncodeToString([]byte(s.token))
	return websocket.Dial(ctx, address+"/page", &websocket.DialOptions{
		HTTPClient: web, HTTPHeader: http.Header{"Origin": {origin}}, Subprotocols: []string{"acp.page", "acp.token." + token},
	})
}

func (s *sharedAgent) page(t *testing.T, address, origin string, web *http.Client) *livePage {
	t.Helper()
	conn, _, err := s.dialPage(t.Context(), address, origin, web)
	require.NoError(t, err)
	assert.Equal(t, "acp.page", conn.Subprotocol())
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	p := &livePage{t, conn, t.Context(), make(chan error, 1)}
	require.NoError(t, p.send("initialize", nil))
	return p
}

func (p *livePage) send(method string, params any) error {
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	return p.conn.Write(p.ctx, websocket.MessageText, message)
}

// allow opens the first session that asks something, and allows it once.
func (p *livePage) allow() { p.answered <- p.allowOne() }

func (p *livePage) allowOne() error {
	opened := false
	for {
		_, message, err := p.conn.Read(p.ctx)
		if err != nil {
			return err
		}
		var m struct {
			Method string
			Params json.RawMessage
		}
		if err := json.Unmarshal(message, &m); err != nil {
			return err
		}
		switch m.Method {
		case "failed":
			return fmt.Errorf("the server failed: %s", m.Params)
		case "sessions":
			var sessions []struct {
				SessionID, Cwd string
				Questions      int
			}
			err = json.Unmarshal(m.Params, &sessions)
			for _, s := range sessions {
				if s.Questions > 0 && !opened {
					opened = true
					err = errors.Join(err, p.send("open", map[string]any{"session": s.SessionID, "folder": s.Cwd}))
				}
			}
		case "state":
			var state struct {
				Rest struct {
					Permissions []struct {
						Key     uint64
						Options []struct{ ID, Label string }
					}
				}
			}
			err = json.Unmarshal(m.Params, &state)
			for _, q := range state.Rest.Permissions {
				for _, o := range q.Options {
					if o.Label == "Allow once" {
						return p.send("answer", map[string]any{"key": q.Key, "option": o.ID})
					}
				}
			}
		}
		if err != nil {
			return err
		}
	}
}

// Clients that others wrote hold a whole turn through acp attach, whose question is answered in the page: those of the
// TypeScript SDK in both versions, and of the SDK that Zed had before.
func TestAttachedClientsAndThePage(t *testing.T) {
	t.Parallel()
	for _, sdk := range []string{"v1", "v2", "zed"} {
		t.Run(sdk, func(t *testing.T) {
			t.Parallel()
			hub, dir := serveSelf(t), t.TempDir()
			page := hub.page(t, "ws"+strings.TrimPrefix(hub.address, "http"), hub.address, nil)
			go page.allow() // ends with its answer
			command, env := hub.attach(t)
			got := run(t, dir, env, "", append(node(t, "attach.mjs", sdk, dir), command...)...)
			require.Zero(t, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
			var report struct {
				Asked      int
				Said, Stop string
			}
			require.NoError(t, json.Unmarshal([]byte(got.stdout), &report), got.stdout)
			assert.Equal(t, 1, report.Asked)
			assert.Equal(t, "selected id-allow_once", report.Said)
			assert.Equal(t, "end_turn", report.Stop)
			require.NoError(t, <-page.answered)
		})
	}
}

// The user of chat lets the question stand, and it leaves the screen when the page has answered it.
func TestAttachedChatAndThePage(t *testing.T) {
	t.Parallel()
	hub, dir := serveSelf(t), t.TempDir()
	page := hub.page(t, "ws"+strings.TrimPrefix(hub.address, "http"), hub.address, nil)
	go page.allow() // ends with its answer
	command, env := hub.attach(t)
	cmd := exec.CommandContext(t.Context(), example(t, "chat"), append([]string{"-dir", dir, "--"}, command...)...)
	cmd.Env = append(env, "NO_COLOR=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(in, "permission\n")
	require.NoError(t, err)
	lines, said := bufio.NewScanner(out), ""
	for !strings.Contains(said, "end turn") && lines.Scan() {
		said += lines.Text() + "\n"
	}
	assert.Contains(t, said, "choose a number")
	assert.Contains(t, said, "selected id-allow_once")
	require.NoError(t, <-page.answered)
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}

// acpx answers by itself. Its turn is whole, and the page shows it.
func TestAttachedAcpx(t *testing.T) {
	t.Parallel()
	needShell(t)
	hub, dir := serveSelf(t), t.TempDir()
	command, env := hub.attach(t)
	got := run(t, dir, append(env, "HOME="+dir), "", acpx(t, dir, command, "--approve-all", "--format", "quiet", "exec", "permission")...)
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, "selected id-allow_once\n", got.stdout)
	page := hub.page(t, "ws"+strings.TrimPrefix(hub.address, "http"), hub.address, nil)
	opened := false
	for {
		_, message, err := page.conn.Read(page.ctx)
		require.NoError(t, err)
		if id, ok := strings.CutPrefix(string(message), `{"jsonrpc":"2.0","method":"sessions","params":[{"sessionId":"`); ok && !opened {
			id, _, _ = strings.Cut(id, `"`)
			require.NoError(t, page.send("open", map[string]any{"session": id, "folder": filepath.Clean(dir)}))
			opened = true
		}
		if strings.Contains(string(message), `"method":"state"`) {
			assert.Contains(t, string(message), "selected id-allow_once")
			return
		}
	}
}
