package remote_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
	"github.com/acpkit/go-sdk/stream/websocket"
)

// busyAgent blocks in the handler of a notification, and sends a request to the client in each
// prompt.
type busyAgent struct{ echoAgent }

func (a *busyAgent) Cancel(ctx context.Context, _ *acp.CancelNotification) error {
	<-ctx.Done()
	return nil
}

func (a *busyAgent) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	// The cancel must not end the request, because then the reader may pause.
	_, err := a.conn.RequestPermission(context.WithoutCancel(ctx), &acp.RequestPermissionRequest{
		SessionID: p.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: "t"},
		Options: []acp.PermissionOption{{OptionID: "y", Name: "y", Kind: acp.PermissionOptionKindAllowOnce}},
	})
	return nil, err
}

// The close code of a WebSocket tells why the server ended the connection.
func TestCloseCodes(t *testing.T) {
	serve := func(ctx context.Context, s stream.Stream) error {
		return agent.Serve(ctx, s, func(c *agent.Conn) acp.Agent { return &busyAgent{echoAgent{conn: c}} }, &agent.Options{
			Logger: quiet, Limits: agent.Limits{Backlog: 2000, MaxBacklog: 4000},
		})
	}
	write := func(t *testing.T, c *websocket.Conn, msg string) { require.NoError(t, c.Write([]byte(msg))) }
	for name, tt := range map[string]struct {
		serve func(context.Context, stream.Stream) error
		then  func(t *testing.T, h *remote.Handler, c *websocket.Conn, revoke func())
		want  int
	}{
		"the peer floods": {
			then: func(t *testing.T, _ *remote.Handler, c *websocket.Conn, _ func()) {
				write(t, c, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
				_, err := c.Read()
				require.NoError(t, err)
				write(t, c, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}}`)
				_, err = c.Read() // the agent waits for a response, so its reader must not pause
				require.NoError(t, err)
				for range 200 {
					if c.Write([]byte(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)) != nil {
						break
					}
				}
			},
			want: 1008,
		},
		"the principal is revoked": {then: func(_ *testing.T, _ *remote.Handler, _ *websocket.Conn, revoke func()) { revoke() }, want: 1008},
		"the server is shut down": {
			then: func(t *testing.T, h *remote.Handler, _ *websocket.Conn, _ func()) {
				go h.Shutdown(context.WithoutCancel(t.Context())) // ends with the connection
			},
			want: 1001,
		},
		"the time to shut down is over": {
			serve: func(ctx context.Context, s stream.Stream) error {
				_, _ = s.Read()
				_ = s.Write([]byte(initialized))
				<-ctx.Done() // the handler ignores Shutdown
				return s.Close()
			},
			then: func(_ *testing.T, h *remote.Handler, _ *websocket.Conn, _ func()) {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				go h.Shutdown(ctx) // ends with the connection
			},
			want: 1001,
		},
		"serve fails": {
			serve: func(_ context.Context, s stream.Stream) error {
				_, _ = s.Read()
				_ = s.Write([]byte(initialized))
				return errors.New("no disk")
			},
			want: 1011,
		},
		"serve panics": {
			serve: func(_ context.Context, s stream.Stream) error {
				_, _ = s.Read()
				_ = s.Write([]byte(initialized))
				panic(http.ErrAbortHandler)
			},
			want: 1011,
		},
		"serve ends": {
			serve: func(_ context.Context, s stream.Stream) error {
				_, _ = s.Read()
				return s.Write([]byte(initialized))
			},
			want: 1000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			defer http.DefaultClient.CloseIdleConnections()
			if tt.serve == nil {
				tt.serve = serve
			}
			revoked := make(chan struct{})
			h := remote.NewHandler(tt.serve, &remote.Options{Logger: quiet, Authorize: func(*http.Request) (*remote.Principal, error) {
				return &remote.Principal{ID: "x", Revoked: revoked}, nil
			}})
			s := httptest.NewServer(h)
			defer s.Close()
			c, err := websocket.Dial(t.Context(), s.URL, nil)
			require.NoError(t, err)
			defer c.Close()
			write(t, c, initialize)
			_, err = c.Read()
			require.NoError(t, err)
			if tt.then != nil {
				tt.then(t, h, c, func() { close(revoked) })
			}
			for err == nil {
				_, err = c.Read()
			}
			var closed *websocket.CloseError
			require.ErrorAs(t, err, &closed)
			assert.Equal(t, tt.want, closed.Code)
		})
	}
}

// A second initialize is refused, and the connection goes on.
func TestSecondInitialize(t *testing.T) {
	_, s := start(t, nil, nil)
	c, err := websocket.Dial(t.Context(), s.URL, nil)
	require.NoError(t, err)
	defer c.Close()
	for _, want := range []string{`"result"`, `-32600`} {
		require.NoError(t, c.Write([]byte(initialize)))
		got, err := c.Read()
		require.NoError(t, err)
		assert.Contains(t, string(got), want)
		assert.Contains(t, string(got), `"id":0`)
	}
}
