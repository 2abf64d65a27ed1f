package host_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Whatever options are combined, the client serves the methods of the parts that they turn on
// and no others, and its capabilities are exactly those of these parts. A type that wraps the
// client has the same.
func TestEveryCombinationOfOptions(t *testing.T) {
	form := func(context.Context, *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
		return nil, elicitation.ErrDeclined
	}
	page := func(context.Context, *elicitation.Page) error { return nil }
	optional := []string{
		acp.MethodFSReadTextFile, acp.MethodFSWriteTextFile, acp.MethodTerminalCreate, acp.MethodTerminalOutput, acp.MethodTerminalWaitForExit,
		acp.MethodTerminalKill, acp.MethodTerminalRelease, acp.MethodElicitationCreate, acp.MethodElicitationComplete,
	}
	combinations := 0
	for bits := range 1 << 6 {
		on := func(i int) bool { return bits&(1<<i) != 0 }
		var opts host.Options
		var want []string
		caps := &acp.ClientCapabilities{}
		if on(0) {
			opts.Roots, caps.FS = []string{"."}, &acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: !on(1)}
			want = append(want, optional[0])
			if !on(1) {
				want = append(want, optional[1])
			}
		}
		opts.ReadOnly = on(1)
		if on(2) {
			opts.Terminals, caps.Terminal = &terminals.Options{}, true
			want = append(want, optional[2:7]...)
		}
		if on(3) {
			opts.Form, caps.Elicitation = form, &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}}
			want = append(want, optional[7])
		}
		if on(4) {
			opts.Page = page
			if on(3) {
				caps.Elicitation.URL = &acp.ElicitationURLCapabilities{}
			}
			want = append(want, optional[8])
		}
		if on(5) {
			opts.Ask = pick(permission.AllowOnce)
		}
		h, err := host.New(&opts)
		if on(2) && !on(0) || on(4) && !on(3) {
			assert.Error(t, err, "%06b", bits)
			continue
		}
		require.NoError(t, err, "%06b", bits)
		combinations++
		a, b := stream.Pipe()
		conn := client.New(b, h.Client, nil)
		c := h.Client(conn)
		wrapped := &editor{ClientWrapper: acp.ClientWrapper{Client: c}}
		for _, c := range []acp.Client{c, wrapped} {
			var served []string
			for _, method := range optional {
				if c.(acp.Selective).Handles(method) {
					served = append(served, method)
				}
			}
			assert.Equal(t, want, served, "%06b", bits)
			assert.Equal(t, caps, client.Capabilities(c), "%06b", bits)
			assert.Equal(t, caps, h.Capabilities(c), "%06b", bits)
		}
		if !on(2) {
			_, err := c.(acp.TerminalHost).CreateTerminal(t.Context(), nil)
			assert.ErrorIs(t, err, rpcerr.ErrMethodNotFound, "%06b", bits)
		}
		conn.Close()
		a.Close()
		require.NoError(t, h.Close())
	}
	assert.Equal(t, 36, combinations)
}

// The end of a connection frees what the host keeps for it, and leaves other connections of
// the same host alone.
func TestTheEndOfAConnectionFreesItsParts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no list of open files and no sh")
	}
	leak.Check(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	open := func() int {
		names, err := os.ReadDir("/dev/fd")
		require.NoError(t, err)
		return len(names)
	}
	said := make(chan string, 10)
	asked := 0
	h, err := host.New(&host.Options{
		Roots: []string{dir}, Terminals: &terminals.Options{OnOutput: func(o terminals.Output) { said <- string(o.Data) }},
		Ask: func(_ context.Context, q *permission.Question) (string, error) {
			asked++
			return q.Pick(permission.AllowAlways), nil
		},
	})
	require.NoError(t, err)
	defer h.Close()
	quiet := slog.New(slog.DiscardHandler)
	// connect opens a connection with a session, in which a file is written and a command runs.
	connect := func() (*client.Conn, *script, acp.TerminalID) {
		a, b := stream.Pipe()
		s := &script{}
		rawpeer.Start(t, agent.New(a, func(c *agent.Conn) acp.Agent { s.Conn = c; return only{scripted{s}} }, &agent.Options{Logger: quiet}))
		conn, err := client.Connect(context.Background(), b, h.Client, &client.Options{Logger: quiet})
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close(); conn.Wait() })
		session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: dir})
		require.NoError(t, err)
		var id acp.TerminalID
		s.turn = func(ctx context.Context, session acp.SessionID) error {
			_, err := s.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: session, Path: filepath.Join(dir, "a"), Content: "x"})
			if err != nil {
				return err
			}
			res, err := s.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: session, Command: "sh", Args: []string{"-c", "echo ready; exec sleep 1000"}})
			if err == nil {
				id = res.TerminalID
			}
			return err
		}
		_, err = session.Prompt(t.Context(), acp.Text("go")).Wait()
		require.NoError(t, err)
		assert.Equal(t, "ready\n", <-said)
		return conn, s, id
	}
	kept, other, terminal := connect()
	before := open()
	for i := range 3 {
		conn, _, _ := connect()
		assert.Equal(t, 2*(i+2), asked, "what was allowed for always on one connection is asked on another")
		assert.Greater(t, open(), before)
		conn.Close()
		require.NoError(t, conn.Wait())
		assert.Equal(t, before, open())
	}
	out, err := other.TerminalOutput(t.Context(), &acp.TerminalOutputRequest{SessionID: "s", TerminalID: terminal})
	require.NoError(t, err)
	assert.Nil(t, out.ExitStatus, "it still runs")
	kept.Close()
	require.NoError(t, kept.Wait())
	assert.Less(t, open(), before)
}
