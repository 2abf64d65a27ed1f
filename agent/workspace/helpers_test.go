package workspace_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// editor is a client that holds texts in memory.
type editor struct {
	refuse error                    // of every request
	saved  func(text string) string // returns the text after a save
	before func(method string)      // called before a request is handled

	mu     sync.Mutex
	texts  map[string]string
	asked  []string // methods of the requests
	params []any    // params of the requests
	killed chan struct{}
	output string // output of every command
	exit   *acp.WaitForTerminalExitResponse
}

func (e *editor) do(ctx context.Context, method string, params any) (any, error) {
	if method == acp.MethodSessionUpdate {
		return nil, nil
	}
	if e.before != nil {
		e.before(method)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, method)
	e.params = append(e.params, params)
	if e.refuse != nil {
		return nil, e.refuse
	}
	switch p := params.(type) {
	case *acp.ReadTextFileRequest:
		text, ok := e.texts[p.Path]
		if !ok {
			return nil, rpcerr.ResourceNotFound(p.Path)
		}
		return &acp.ReadTextFileResponse{Content: text}, nil
	case *acp.WriteTextFileRequest:
		e.texts[p.Path] = p.Content
		if e.saved != nil {
			e.texts[p.Path] = e.saved(p.Content)
		}
		return &acp.WriteTextFileResponse{}, nil
	case *acp.CreateTerminalRequest:
		return &acp.CreateTerminalResponse{TerminalID: "t1"}, nil
	case *acp.TerminalOutputRequest:
		return &acp.TerminalOutputResponse{Output: e.output}, nil
	case *acp.KillTerminalRequest:
		close(e.killed)
		return &acp.KillTerminalResponse{}, nil
	case *acp.WaitForTerminalExitRequest:
		if e.exit != nil {
			return e.exit, nil
		}
		if e.killed == nil {
			return &acp.WaitForTerminalExitResponse{ExitCode: new(uint32(3))}, nil
		}
		e.mu.Unlock()
		defer e.mu.Lock()
		select {
		case <-e.killed:
			return &acp.WaitForTerminalExitResponse{Signal: "SIGKILL"}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, nil
}

// requests returns the methods of the requests since the last call.
func (e *editor) requests() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	asked := e.asked
	e.asked = nil
	return asked
}

func (e *editor) asks(method string) bool { return slices.Contains(e.requests(), method) }

// caps returns the capabilities for the letters r, w and c: read, write and commands.
func caps(letters string) *acp.ClientCapabilities {
	has := func(letter rune) bool { return slices.Contains([]rune(letters), letter) }
	return &acp.ClientCapabilities{
		FS:       &acp.FileSystemCapabilities{ReadTextFile: has('r'), WriteTextFile: has('w')},
		Terminal: has('c'),
	}
}

// fixture has a workspace whose root is a folder of this machine, and a secret file outside of it.
type fixture struct {
	*workspace.Workspace
	t      *testing.T
	conn   *agent.Conn
	editor *editor
	root   string
	secret string
}

func open(t *testing.T, letters string, opts *workspace.Options) *fixture {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	f := &fixture{t: t, root: filepath.Join(base, "work"), secret: filepath.Join(base, "secret")}
	require.NoError(t, os.Mkdir(f.root, 0o755))
	require.NoError(t, os.WriteFile(f.secret, []byte("secret\n"), 0o644))
	f.editor = &editor{texts: map[string]string{}}
	f.conn = connect(t, letters, f.editor.do)
	f.Workspace, err = workspace.Open(f.conn, "s1", []string{f.root}, opts)
	require.NoError(t, err)
	return f
}

// connect returns the connection of an agent to a client with these capabilities.
func connect(t testing.TB, letters string, do peertest.Do) *agent.Conn {
	t.Helper()
	as, cs := stream.Pipe()
	conn := rawpeer.Start(t, agent.New(as, func(*agent.Conn) acp.Agent { return &peertest.Agent{} }, nil))
	c := rawpeer.Start(t, client.New(cs, func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} }, &client.Options{Unstable: true}))
	_, err := c.Initialize(t.Context(), &acp.InitializeRequest{ClientCapabilities: caps(letters)})
	require.NoError(t, err)
	return conn
}

func (f *fixture) at(name string) string { return filepath.Join(f.root, name) }

func (f *fixture) put(name, text string) {
	f.t.Helper()
	require.NoError(f.t, os.MkdirAll(filepath.Dir(f.at(name)), 0o755))
	require.NoError(f.t, os.WriteFile(f.at(name), []byte(text), 0o644))
}

// disk returns the text of a file on this machine, or "no file".
func (f *fixture) disk(name string) string {
	f.t.Helper()
	text, err := os.ReadFile(f.at(name))
	if err != nil {
		return "no file"
	}
	return string(text)
}

// buffer returns the client's text of a file, or "no file".
func (f *fixture) buffer(name string) string {
	f.editor.mu.Lock()
	defer f.editor.mu.Unlock()
	if text, ok := f.editor.texts[f.at(name)]; ok {
		return text
	}
	return "no file"
}

func (f *fixture) setBuffer(name, text string) {
	f.editor.mu.Lock()
	defer f.editor.mu.Unlock()
	f.editor.texts[f.at(name)] = text
}

// text returns the text that was read, or the error.
func text(file *workspace.File, err error) string {
	if err != nil {
		return fmt.Sprintf("error: %v", err)
	}
	return file.Text
}
