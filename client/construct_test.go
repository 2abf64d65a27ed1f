package client_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
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

type mcpClient struct{ peertest.Client }

func (*mcpClient) MessageMCP(context.Context, *acp.MessageMCPRequest) (*acp.MessageMCPResponse, error) {
	return nil, nil
}

func good(*client.Conn) acp.Client { return &peertest.Client{} }

func TestBadConstructionIsToldByEverything(t *testing.T) {
	leak.Check(t)
	for _, tt := range []struct {
		name      string
		stream    stream.Stream
		newClient func(*client.Conn) acp.Client
		want      string
	}{
		{"nil stream", nil, good, "nil stream"},
		{"typed nil stream", (*silent)(nil), good, "nil stream"},
		{"nil newClient", silent{t}, nil, "no newClient"},
		{"nil client", silent{t}, func(*client.Conn) acp.Client { return nil }, "newClient returned nil"},
		{"typed nil client", silent{t}, func(*client.Conn) acp.Client { return (*peertest.Client)(nil) }, "*peertest.Client"},
		{"unstable", silent{t}, func(*client.Conn) acp.Client { return &mcpClient{} }, "acp.MCPMessageHandler, which is unstable: set Options.Unstable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := client.New(tt.stream, tt.newClient, nil)
			ctx := t.Context()
			_, initErr := c.Initialize(ctx, nil)
			_, turnErr := c.Session("s").Prompt(ctx, acp.Text("hi")).Wait()
			_, startErr := c.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
			for what, err := range map[string]error{
				"Start":        c.Start(ctx),
				"Run":          c.Run(ctx),
				"Initialize":   initErr,
				"Prompt":       turnErr,
				"StartSession": startErr,
				"Call":         c.Call(ctx, "_x", nil, nil),
			} {
				assert.ErrorContains(t, err, tt.want, what)
			}
			require.NoError(t, c.Close())
		})
	}
}

func TestCallsAtTheWrongTime(t *testing.T) {
	leak.Check(t)
	s, peer := rawpeer.Pipe(t)
	var early error
	var done <-chan struct{}
	c := client.New(s, func(c *client.Conn) acp.Client {
		early = c.Notify(t.Context(), "_x", nil)
		done = c.Done()
		return &peertest.Client{}
	}, nil)
	assert.ErrorContains(t, early, "not ready", "inside newClient")

	prompt := func() error {
		_, err := c.Session("s").Prompt(t.Context(), acp.Text("hi")).Wait()
		return err
	}
	err := prompt()
	require.Error(t, err, "before Start")
	assert.NotErrorIs(t, err, acp.ErrClosed)
	assert.Contains(t, err.Error(), "Start")

	require.NoError(t, c.Start(t.Context()))
	assert.ErrorContains(t, prompt(), "call Initialize first")
	require.Error(t, c.Start(t.Context()), "twice")

	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "twice")
	require.NoError(t, c.Wait())
	assert.ErrorIs(t, prompt(), acp.ErrClosed, "after Close")
	<-done
	_, ok := peer.Recv()
	assert.False(t, ok, "nothing was sent")
}

// Params that break a rule are not sent. The error contains the name of the field.
func TestBadParamsAreNotSent(t *testing.T) {
	c, _ := open(t, &peertest.Client{}, `{"loadSession":true}`, nil)
	for _, tt := range []struct {
		path string
		call func(context.Context) error
	}{
		{"cwd", func(ctx context.Context) error {
			_, err := c.StartSession(ctx, &acp.NewSessionRequest{Cwd: "work"})
			return err
		}},
		{"cwd", func(ctx context.Context) error { _, err := c.NewSession(ctx, nil); return err }},
		{"sessionId", func(ctx context.Context) error { _, err := c.Prompt(ctx, nil); return err }},
		{"sessionId", func(ctx context.Context) error { return c.Cancel(ctx, nil) }},
		{"sessionId", func(ctx context.Context) error {
			_, err := c.StartLoadedSession(ctx, &acp.LoadSessionRequest{Cwd: "/"}, nil)
			return err
		}},
		{"methodId", func(ctx context.Context) error {
			return c.Call(ctx, "authenticate", struct{}{}, nil)
		}},
	} {
		var invalid *acp.InvalidError
		err := tt.call(t.Context())
		if assert.ErrorAs(t, err, &invalid) {
			assert.Contains(t, err.Error(), tt.path)
		}
	}
}

// All methods of a zero Conn return errors and do not panic.
func TestZeroConn(t *testing.T) {
	var c client.Conn
	ctx := t.Context()
	s := c.Session("s1")
	s.OnUpdate(func(context.Context, acp.SessionUpdate) {})
	_, turnErr := s.Prompt(ctx, acp.Text("hi")).Wait()
	_, initErr := c.Initialize(ctx, nil)
	_, newErr := c.StartSession(ctx, nil)
	_, loadErr := c.StartLoadedSession(ctx, nil, nil)
	_, plainErr := c.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: "s2"})
	_, promptErr := c.Prompt(ctx, &acp.PromptRequest{SessionID: "s3"})
	for what, err := range map[string]error{
		"Prompt": turnErr, "Initialize": initErr, "StartSession": newErr, "StartLoadedSession": loadErr,
		"LoadSession": plainErr, "Conn.Prompt": promptErr, "Cancel": s.Cancel(ctx), "Start": c.Start(ctx), "Wait": c.Wait(),
		"Call": c.Call(ctx, "_x", nil, nil),
	} {
		assert.ErrorContains(t, err, "New", what)
	}
	require.NoError(t, c.Close())
}
