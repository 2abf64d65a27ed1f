package agent_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// silent is a stream that fails the test if something is sent.
type silent struct{ t *testing.T }

func (s silent) Read() ([]byte, error) { return nil, io.EOF }
func (s silent) Close() error          { return nil }
func (s silent) Write(msg []byte) error {
	s.t.Errorf("something was sent: %s", msg)
	return nil
}

type forker struct{ peertest.Agent }

func (*forker) ForkSession(context.Context, *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	return nil, nil
}

func good(*agent.Conn) acp.Agent { return &peertest.Agent{} }

func TestBadConstructionIsToldByEverything(t *testing.T) {
	leak.Check(t)
	for _, tt := range []struct {
		name     string
		stream   stream.Stream
		newAgent func(*agent.Conn) acp.Agent
		want     string
	}{
		{"nil stream", nil, good, "nil stream"},
		{"typed nil stream", (*silent)(nil), good, "nil stream"},
		{"nil newAgent", silent{t}, nil, "no newAgent"},
		{"nil agent", silent{t}, func(*agent.Conn) acp.Agent { return nil }, "newAgent returned nil"},
		{"typed nil agent", silent{t}, func(*agent.Conn) acp.Agent { return (*peertest.Agent)(nil) }, "*peertest.Agent"},
		{"unstable", silent{t}, func(*agent.Conn) acp.Agent { return &forker{} }, "acp.SessionForker, which is unstable: set Options.Unstable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := agent.New(tt.stream, tt.newAgent, nil)
			ctx := t.Context()
			for what, err := range map[string]error{
				"Start":  c.Start(ctx),
				"Run":    c.Run(ctx),
				"Update": c.Session("s").Message(ctx, "hi"),
				"Call":   c.Call(ctx, "_x", nil, nil),
				"Serve":  agent.Serve(ctx, tt.stream, tt.newAgent, nil),
			} {
				assert.ErrorContains(t, err, tt.want, what)
			}
			require.NoError(t, c.Close())
		})
	}
}

func TestUnstableInterfaceWithTheOption(t *testing.T) {
	c := agent.New(silent{t}, func(*agent.Conn) acp.Agent { return &forker{} }, &agent.Options{Unstable: true})
	require.NoError(t, c.Run(t.Context()))
}

func TestCallsAtTheWrongTime(t *testing.T) {
	leak.Check(t)
	s, peer := rawpeer.Pipe(t)
	var early error
	var done <-chan struct{}
	c := agent.New(s, func(c *agent.Conn) acp.Agent {
		early = c.Notify(t.Context(), "_x", nil)
		done = c.Done()
		return &peertest.Agent{}
	}, nil)
	assert.ErrorContains(t, early, "not ready", "inside newAgent")

	update := func() error { return c.Session("s").Message(t.Context(), "hi") }
	err := update()
	require.Error(t, err, "before Start")
	assert.NotErrorIs(t, err, acp.ErrClosed)
	assert.Contains(t, err.Error(), "Start")

	require.NoError(t, c.Start(t.Context()))
	assert.ErrorContains(t, update(), "has not initialized", "before initialize")
	require.Error(t, c.Start(t.Context()), "twice")

	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "twice")
	require.NoError(t, c.Wait())
	assert.ErrorIs(t, update(), acp.ErrClosed, "after Close")
	<-done
	_, ok := peer.Recv()
	assert.False(t, ok, "nothing was sent")
}

func TestCallByNameRefusesWhatIsNoExtension(t *testing.T) {
	p := open(t, good, &peertest.Client{}, nil)
	for method, want := range map[string]string{
		"session/prompt":     "does not handle",
		"review":             "underscore",
		"":                   "underscore",
		"_":                  "underscore",
		"session/update":     "use Notify",
		"$/cancel_request":   "end the ctx",
		"fs/read_text_file2": "underscore",
	} {
		assert.ErrorContains(t, p.agent.Call(t.Context(), method, nil, nil), want, method)
	}
	assert.ErrorContains(t, p.agent.Notify(t.Context(), "fs/read_text_file", nil), "use Call")
}

// All methods of a zero Conn return errors and do not panic.
func TestZeroConn(t *testing.T) {
	var c agent.Conn
	ctx := t.Context()
	s := c.Session("s1")
	_, readErr := s.ReadFile(ctx, "/x")
	_, permissionErr := s.AskPermission(ctx, nil)
	_, terminalErr := c.StartTerminal(ctx, &acp.CreateTerminalRequest{SessionID: "s1", Command: "ls"})
	for what, err := range map[string]error{
		"Message": s.Message(ctx, "hi"), "ReadFile": readErr, "AskPermission": permissionErr, "StartTerminal": terminalErr,
		"Start": c.Start(ctx), "Wait": c.Wait(), "Shutdown": c.Shutdown(ctx), "Call": c.Call(ctx, "_x", nil, nil),
		"Notify": c.Notify(ctx, "_x", nil),
	} {
		assert.ErrorContains(t, err, "New", what)
	}
	require.NoError(t, c.Close())
	assert.Nil(t, c.ClientCapabilities())
	assert.Zero(t, c.ProtocolVersion())
}
