package interop_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	agentlib "github.com/acpkit/go-sdk/agent/onjsonrpc2"
	"github.com/acpkit/go-sdk/client"
	clientlib "github.com/acpkit/go-sdk/client/onjsonrpc2"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// serveOnLibrary is the agent of peers/README.md behind a connection of sourcegraph/jsonrpc2, which
// passes everything on in both directions.
func serveOnLibrary(ctx context.Context, s stream.Stream, log *slog.Logger) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	handler := agentlib.Handler(func(c acp.Client) acp.Agent {
		near, far := stream.Pipe()
		go agent.Serve(ctx, far, newGoAgent, &agent.Options{Unstable: true, Logger: log}) // ends with ctx
		conn := client.New(near, func(*client.Conn) acp.Client { return c }, &client.Options{Unstable: true, Logger: log})
		if err := conn.Start(ctx); err != nil {
			log.Error("starting", "err", err)
		}
		return conn
	}, &agentlib.Options{Unstable: true, Logger: log})
	<-jsonrpc2.NewConn(ctx, objectstream.Of(s), handler).DisconnectNotify()
}

// The client of the TypeScript SDK holds its whole conversation with an agent on the library.
func TestTypeScriptClientOfTheLibrary(t *testing.T) {
	t.Parallel()
	needShell(t)
	r, got := driven(t, "client.mjs", "library", self(t)...)
	assert.Empty(t, got.stderr, "nothing of this is worth a warning")
	assert.Len(t, r.Checks, 26)
	if assert.NotNil(t, r.Exit.Code, "killed by %v", r.Exit.Signal) {
		assert.Zero(t, *r.Exit.Code, "exit code after the end of input")
	}
}

// libraryClient records what a client on the library is told.
type libraryClient struct {
	record
	files map[string]string // guarded by record.mu
	texts []string          // guarded by record.mu: of the message chunks
}

func (c *libraryClient) do(_ context.Context, method string, params any) (any, error) {
	c.note(method, params)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch p := params.(type) {
	case *acp.SessionNotification:
		if chunk, ok := p.Update.(*acp.AgentMessageChunk); ok {
			c.texts = append(c.texts, acp.PlainText(chunk.Content))
			c.wakeLocked()
		}
	case *acp.WriteTextFileRequest:
		c.files[p.Path] = p.Content
	case *acp.ReadTextFileRequest:
		text, ok := c.files[p.Path]
		if !ok {
			return nil, rpcerr.ResourceNotFound(p.Path)
		}
		return &acp.ReadTextFileResponse{Content: text}, nil
	}
	return nil, nil
}

// said waits until the agent has said the text: the response to a prompt may overtake its updates.
func (c *libraryClient) said(t *testing.T, text string) {
	t.Helper()
	require.NoError(t, c.until(t.Context(), func() bool { return strings.Contains(strings.Join(c.texts, ""), text) }), text)
}

// A client on the library has turns of every kind with an agent on the TypeScript SDK, and with ours.
func TestClientOfTheLibrary(t *testing.T) {
	t.Parallel()
	for name, dial := range map[string]way{"their agent": waysTo(t, "agent.mjs")["stdio"], "our agent": waysToOurs(t, "agent")["stdio"]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := dial(t.Context())
			require.NoError(t, err)
			c := &libraryClient{record: record{changed: make(chan struct{})}, files: map[string]string{}}
			conn := jsonrpc2.NewConn(t.Context(), objectstream.Of(s), clientlib.Handler(
				func(acp.Agent) acp.Client { return &peertest.FullClient{Do: c.do} }, &clientlib.Options{Unstable: true}))
			defer conn.Close()
			talkOnLibrary(t, c, clientlib.Agent(conn))
		})
	}
}

func talkOnLibrary(t *testing.T, c *libraryClient, a acp.Agent) {
	ctx, dir := t.Context(), t.TempDir()
	_, err := a.NewSession(ctx, &acp.NewSessionRequest{Cwd: dir})
	require.Error(t, err, "before initialize")
	_, err = a.Initialize(ctx, &acp.InitializeRequest{ClientCapabilities: &acp.ClientCapabilities{
		FS: &acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}, Terminal: true}})
	require.NoError(t, err)
	session, err := a.NewSession(ctx, &acp.NewSessionRequest{Cwd: dir})
	require.NoError(t, err)
	prompt := func(ctx context.Context, text string) (*acp.PromptResponse, error) {
		return a.Prompt(ctx, &acp.PromptRequest{SessionID: session.SessionID, Prompt: []acp.ContentBlock{acp.Text(text)}})
	}
	for text, said := range map[string]string{"say one two": "two", "permission": "", "files": "", "extension": ""} {
		res, err := prompt(ctx, text)
		require.NoError(t, err, text)
		assert.Equal(t, acp.StopReasonEndTurn, res.StopReason, text)
		c.said(t, said)
	}
	_, err = prompt(ctx, "fail -31007 quota")
	assert.JSONEq(t, `{"word":"quota"}`, string(hasCode(t, -31007, err).Data.(json.RawMessage)))

	stopped := make(chan error, 1)
	go func() { // ends with the turn
		res, err := prompt(ctx, "wait")
		if err == nil {
			assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
		}
		stopped <- err
	}()
	c.said(t, "waiting")
	require.NoError(t, a.Cancel(ctx, &acp.CancelNotification{SessionID: session.SessionID}))
	require.NoError(t, <-stopped)

	c.mu.Lock()
	c.texts = nil
	c.mu.Unlock()
	ended, cancel := context.WithCancel(ctx)
	go func() { // ends with the call
		_, err := prompt(ended, "wait")
		stopped <- err
	}()
	c.said(t, "waiting")
	cancel()
	require.ErrorIs(t, <-stopped, context.Canceled)
	c.said(t, "stopping")

	extensions := a.(acp.ExtensionHandler)
	res, err := extensions.HandleExtension(ctx, "_interop/echo", json.RawMessage(`{"a":["<é>",1]}`))
	require.NoError(t, err)
	assert.Contains(t, string(res.(json.RawMessage)), `"a"`)
	ended, cancel = context.WithCancel(ctx)
	go func() { // ends with the call
		_, err := extensions.HandleExtension(ended, "_interop/wait", json.RawMessage(`{}`))
		stopped <- err
	}()
	require.NoError(t, c.until(ctx, func() bool { return c.seenLocked("_interop/waiting") }))
	cancel()
	require.ErrorIs(t, <-stopped, context.Canceled)
	_, err = extensions.HandleExtension(ctx, "_interop/unknown", json.RawMessage(`{}`))
	hasCode(t, rpcerr.CodeMethodNotFound, err)
	list, err := a.(acp.SessionLister).ListSessions(ctx, &acp.ListSessionsRequest{})
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(list.Sessions, func(s acp.SessionInfo) bool { return s.SessionID == session.SessionID }))
	for _, method := range []string{"session/request_permission", "fs/read_text_file", "fs/write_text_file", "_interop/client_echo", "_interop/client_note"} {
		c.mu.Lock()
		assert.True(t, c.seenLocked(method), method)
		c.mu.Unlock()
	}
}
