package kit_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/mcp"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// touched is a store that remembers which sessions were opened or deleted.
type touched struct {
	journal.Store

	mu    sync.Mutex
	names []string
}

func (w *touched) touch(what, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names = append(w.names, what+" "+id)
}

func (w *touched) Open(ctx context.Context, id string) (journal.Log, error) {
	w.touch("open", id)
	return w.Store.Open(ctx, id)
}

func (w *touched) Delete(ctx context.Context, id string) error {
	w.touch("delete", id)
	return w.Store.Delete(ctx, id)
}

func (w *touched) since() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.names
	w.names = nil
	return all
}

// guest is a client that sees only what the agent sends to it.
type guest struct {
	mu   sync.Mutex
	said strings.Builder
}

func (g *guest) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if u, ok := n.Update.(*acp.AgentMessageChunk); ok {
		g.said.WriteString(acp.PlainText(u.Content))
	}
	return nil
}

func (g *guest) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return &acp.RequestPermissionResponse{Outcome: &acp.SelectedPermissionOutcome{OptionID: req.Options[0].OptionID}}, nil
}

func (g *guest) heard() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.said.String()
}

// lobby is an agent with owners that is reached over one transport.
type lobby struct {
	t     *testing.T
	agent *kit.Agent
	store *touched
	over  string // pipe, ws or http
	url   string

	mu  sync.Mutex
	ids map[string]string // the connection over HTTP of each owner
}

const connectionHeader = "Acp-Connection-Id"

func (l *lobby) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(req)
	if err == nil && res.Header.Get(connectionHeader) != "" {
		l.mu.Lock()
		l.ids[req.Header.Get("Authorization")] = res.Header.Get(connectionHeader)
		l.mu.Unlock()
	}
	return res, err
}

func (l *lobby) enter(name string) (*client.Conn, *guest) {
	var s stream.Stream
	if l.over == "pipe" {
		ours, theirs := stream.Pipe()
		s = ours
		served := make(chan struct{})
		go func() { // ends with the connection
			defer close(served)
			_ = l.agent.Serve(as(name), theirs)
		}()
		l.t.Cleanup(func() { <-served })
	} else {
		var err error
		s, err = remote.Dial(l.t.Context(), strings.Replace(l.url, "http", l.over, 1), &remote.DialOptions{
			Client: &http.Client{Transport: l},
			Header: func(context.Context) (http.Header, error) { return http.Header{"Authorization": {name}}, nil },
		})
		require.NoError(l.t, err)
	}
	g := &guest{}
	c := client.New(s, func(*client.Conn) acp.Client { return g }, &client.Options{Unstable: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(l.t, c.Start(l.t.Context()))
	l.t.Cleanup(func() { c.Close() })
	_, err := c.Initialize(l.t.Context(), &acp.InitializeRequest{})
	require.NoError(l.t, err)
	return c, g
}

// Every way in which the client of one owner could reach this machine or another owner, over each
// transport.
func TestWhatAnOwnerReaches(t *testing.T) {
	for _, over := range []string{"pipe", "ws", "http"} {
		t.Run(over, func(t *testing.T) {
			dir := t.TempDir()
			secret := filepath.Join(dir, "secret.txt")
			require.NoError(t, os.WriteFile(secret, []byte("the secret"), 0o600))
			link := (&url.URL{Scheme: "file", Path: filepath.ToSlash(secret)}).String()
			if runtime.GOOS == "windows" {
				link = "file:///" + filepath.ToSlash(secret)
			}
			var reached []string
			inside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached = append(reached, r.URL.Path) }))
			t.Cleanup(inside.Close)

			l := &lobby{t: t, over: over, store: &touched{Store: new(journal.Memory)}, ids: map[string]string{}}
			l.agent = kit.New(&kit.Options{
				Store: l.store, Modes: modes, Logger: slog.New(slog.DiscardHandler), MCP: mcp.Connector(&mcp.Options{Logger: slog.New(slog.DiscardHandler)}),
				Owner: func(ctx context.Context) string {
					if p, ok := remote.PrincipalFrom(ctx); ok {
						return p.ID
					}
					name, _ := ctx.Value(ownerKey{}).(string)
					return name
				},
				Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
					for _, part := range p.Parts {
						if err := s.Text(ctx, part.Text+"\n"); err != nil {
							return "", err
						}
					}
					w := s.Workspace()
					_, read := w.Read(ctx, secret)
					_, wrote := w.Write(ctx, secret, "x", workspace.AnyText)
					_, ran := w.Run(ctx, workspace.Command{Line: "echo ran"}, nil)
					_, _, found := w.Search(ctx, workspace.Query{})
					for _, err := range []error{read, wrote, ran, found} {
						if !errors.Is(err, workspace.ErrNotOffered) {
							return "", s.Text(ctx, "this machine was used")
						}
					}
					return "", s.Text(ctx, "nothing of this machine was used")
				},
			})
			t.Cleanup(func() { assert.NoError(t, l.agent.Close(context.WithoutCancel(t.Context()))) })
			if over != "pipe" {
				handler := remote.NewHandler(l.agent.Serve, &remote.Options{Logger: slog.New(slog.DiscardHandler), Authorize: func(r *http.Request) (*remote.Principal, error) {
					return &remote.Principal{ID: r.Header.Get("Authorization")}, nil
				}})
				server := httptest.NewServer(handler)
				t.Cleanup(server.Close)
				l.url = server.URL
			}
			ctx := t.Context()
			anna, _ := l.enter("anna")
			var sessions []acp.SessionID // open, and closed
			for range 2 {
				res, err := anna.NewSession(ctx, &acp.NewSessionRequest{Cwd: dir})
				require.NoError(t, err)
				_, err = anna.Prompt(ctx, &acp.PromptRequest{SessionID: res.SessionID, Prompt: []acp.ContentBlock{acp.Text("anna's own")}})
				require.NoError(t, err)
				sessions = append(sessions, res.SessionID)
			}
			_, err := anna.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: sessions[1]})
			require.NoError(t, err)
			l.store.since()

			berta, heard := l.enter("berta")
			text := []acp.ContentBlock{acp.Text("hi")}
			for name, try := range map[string]func(id acp.SessionID) error{
				"load": func(id acp.SessionID) error {
					_, err := berta.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: id, Cwd: dir})
					return err
				},
				"resume": func(id acp.SessionID) error {
					_, err := berta.ResumeSession(ctx, &acp.ResumeSessionRequest{SessionID: id, Cwd: dir})
					return err
				},
				"prompt": func(id acp.SessionID) error {
					_, err := berta.Prompt(ctx, &acp.PromptRequest{SessionID: id, Prompt: text})
					return err
				},
				"mode": func(id acp.SessionID) error {
					_, err := berta.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: id, ModeID: "auto"})
					return err
				},
				"option": func(id acp.SessionID) error {
					_, err := berta.SetSessionConfigOption(ctx, &acp.SetSessionConfigOptionRequest{SessionID: id, ConfigID: "mode", Value: &acp.SessionConfigValue{Value: "auto"}})
					return err
				},
			} {
				for _, id := range sessions {
					assert.ErrorIs(t, try(id), rpcerr.ErrSessionNotFound, name)
				}
			}
			for _, id := range sessions { // which succeed, and have no effect
				_, err := berta.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: id})
				assert.NoError(t, err)
				_, err = berta.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: id})
				assert.NoError(t, err)
				assert.NoError(t, berta.Cancel(ctx, &acp.CancelNotification{SessionID: id}))
			}
			list, err := berta.ListSessions(ctx, &acp.ListSessionsRequest{})
			require.NoError(t, err)
			assert.Empty(t, list.Sessions)
			assert.Empty(t, l.store.since(), "no log of anna's was opened")

			marker := filepath.Join(dir, "ran")
			_, err = berta.NewSession(ctx, &acp.NewSessionRequest{Cwd: dir, MCPServers: []acp.MCPServer{&acp.MCPServerStdio{Name: "x", Command: "/bin/sh", Args: []string{"-c", "touch " + marker}}}})
			assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
			assert.NoFileExists(t, marker)
			res, err := berta.NewSession(ctx, &acp.NewSessionRequest{Cwd: dir, AdditionalDirectories: []string{filepath.Dir(dir)}, MCPServers: []acp.MCPServer{&acp.MCPServerHTTP{Name: "x", URL: inside.URL}}})
			require.NoError(t, err)
			_, err = berta.Prompt(ctx, &acp.PromptRequest{SessionID: res.SessionID, Prompt: []acp.ContentBlock{&acp.ResourceLink{Name: "secret", URI: link}}})
			require.NoError(t, err)
			assert.Empty(t, reached)
			assert.NotContains(t, heard.heard(), "the secret")
			assert.NotContains(t, heard.heard(), "anna")
			assert.Contains(t, heard.heard(), "nothing of this machine was used")
			_, err = berta.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: res.SessionID, Cwd: dir, MCPServers: []acp.MCPServer{&acp.MCPServerStdio{Name: "x", Command: "/bin/sh", Args: []string{"-c", "touch " + marker}}}})
			assert.Error(t, err, "loading names servers, too")
			assert.NoFileExists(t, marker)

			if over == "http" { // berta knows the id of anna's connection
				require.NotEmpty(t, l.ids["anna"])
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, strings.NewReader(`{"jsonrpc":"2.0","id":99,"method":"session/list","params":{}}`))
				require.NoError(t, err)
				req.Header = http.Header{"Authorization": {"berta"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, connectionHeader: {l.ids["anna"]}}
				res, err := http.DefaultClient.Do(req)
				require.NoError(t, err)
				body, _ := io.ReadAll(res.Body)
				assert.NoError(t, res.Body.Close())
				assert.GreaterOrEqual(t, res.StatusCode, 400)
				assert.NotContains(t, string(body), string(sessions[0]))
			}
			_, err = anna.Prompt(ctx, &acp.PromptRequest{SessionID: sessions[0], Prompt: text})
			assert.NoError(t, err, "anna's sessions are as they were")
			_, err = anna.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: sessions[1], Cwd: dir})
			assert.NoError(t, err)
			left, err := os.ReadFile(secret)
			require.NoError(t, err)
			assert.Equal(t, "the secret", string(left))
		})
	}
}
