package host_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/leak"
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
		h, err := host.Open(&opts)
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

	h, err := host.Open(&host.Options{SignIn: &signin.Options{}})
	require.NoError(t, err)
	assert.Equal(t, &acp.ClientCapabilities{}, h.Capabilities(nil))
	h, err = host.Open(&host.Options{SignIn: &signin.Options{
		Command: func() *exec.Cmd { return exec.Command("agent") },
		Choose:  func(_ context.Context, _ error, ways []signin.Way) (acp.AuthMethodID, error) { return ways[0].ID, nil },
		Show:    func(context.Context, *signin.Way, string) error { return nil },
	}})
	require.NoError(t, err)
	assert.Equal(t, &acp.ClientCapabilities{Auth: &acp.AuthCapabilities{Terminal: true}, Meta: acp.Meta{"terminal-auth": true}}, h.Capabilities(nil))
}

// The end of a connection frees the state that the host keeps for it, and does not affect other
// connections of the same host.
func TestConnectionEndFreesItsParts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no list of open files and no sh")
	}
	leak.Check(t)
	open := func() int {
		names, err := os.ReadDir("/dev/fd")
		require.NoError(t, err)
		return len(names)
	}
	output := make(chan string, 10)
	x := newFixture(t, host.Options{
		Terminals: &terminals.Options{OnOutput: func(o terminals.Output) { output <- string(o.Data) }},
		Ask:       pick(permission.AllowAlways),
	})
	// use writes a file and starts a command.
	use := func() (id acp.TerminalID) {
		require.NoError(t, x.run(func(ctx context.Context, session acp.SessionID) error {
			if err := x.write(ctx, "a", "x"); err != nil {
				return err
			}
			res, err := x.agent.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: session, Command: "sh", Args: []string{"-c", "echo ready; exec sleep 1000"}})
			if err == nil {
				id = res.TerminalID
			}
			return err
		}))
		assert.Equal(t, "ready\n", <-output)
		return id
	}
	terminal, kept, other := use(), x.conn, x.agent
	before := open()
	for i := range 3 {
		x.connect(&client.Options{})
		use()
		assert.Len(t, x.questions(), 2*(i+2), "what was always allowed on one connection is asked on another")
		assert.Greater(t, open(), before)
		x.conn.Close()
		require.NoError(t, x.conn.Wait())
		assert.Equal(t, before, open())
	}
	out, err := other.TerminalOutput(t.Context(), &acp.TerminalOutputRequest{SessionID: "s", TerminalID: terminal})
	require.NoError(t, err)
	assert.Nil(t, out.ExitStatus, "it still runs")
	kept.Close()
	require.NoError(t, kept.Wait())
	assert.Less(t, open(), before)
}

// If a program closes its connection and its host as it exits, in any order, no command of the
// agent remains.
func TestNoCommandOutlivesTheHost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sh")
	}
	commands := map[string][]string{
		"sleep":           {"-c", "echo $$; exec sleep 1000"},
		"ignores SIGTERM": {"-c", `trap "" TERM; echo $$; while :; do sleep 0.05; done`},
	}
	orders := map[string]func(x *fixture){
		"connection first": func(x *fixture) { x.conn.Close(); assert.NoError(t, x.host.Close()) },
		"host first":       func(x *fixture) { assert.NoError(t, x.host.Close()); x.conn.Close() },
		"at once": func(x *fixture) {
			go x.conn.Close() // ends at once
			assert.NoError(t, x.host.Close())
		},
	}
	for command, args := range commands {
		for order, end := range orders {
			t.Run(fmt.Sprint(command, ", ", order), func(t *testing.T) {
				for range 3 {
					output := make(chan string, 10)
					x := newFixture(t, host.Options{
						Terminals: &terminals.Options{
							Grace:    50 * time.Millisecond,
							OnOutput: func(o terminals.Output) { output <- string(o.Data) },
						},
						Ask: pick(permission.AllowOnce),
					})
					require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error {
						return x.command(ctx, acp.CreateTerminalRequest{Command: "sh", Args: args})
					}))
					pid, err := strconv.Atoi(strings.TrimSpace(<-output))
					require.NoError(t, err)
					end(x)
					leak.CheckProcess(t, pid)
				}
			})
		}
	}
}
