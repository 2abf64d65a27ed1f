package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
	"github.com/acpkit/go-sdk/stream/websocket"
)

// busy makes agents that block in the handler of a notification, and send a request to the client in
// each prompt.
func busy(c *agent.Conn) acp.Agent {
	return &peertest.Agent{
		OnCancel: func(ctx context.Context, _ *acp.CancelNotification) error {
			<-ctx.Done()
			return nil
		},
		OnPrompt: peertest.Prompts(c, func(ctx context.Context, _ *agent.Session, p *acp.PromptRequest) error {
			// The cancel must not end the request, because then the reader may pause.
			_, err := c.RequestPermission(context.WithoutCancel(ctx), &acp.RequestPermissionRequest{
				SessionID: p.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: "t"},
				Options: []acp.PermissionOption{{OptionID: "y", Name: "y", Kind: acp.PermissionOptionKindAllowOnce}},
			})
			return err
		}),
	}
}

// The close code of a WebSocket tells why the server ended the connection.
func TestCloseCodes(t *testing.T) {
	serve := peertest.Serving(busy, &agent.Options{Limits: acp.Limits{Backlog: 2000, MaxBacklog: 4000}})
	// answered answers initialize and then does what is left.
	answered := func(then func(ctx context.Context, s stream.Stream) error) func(context.Context, stream.Stream) error {
		return func(ctx context.Context, s stream.Stream) error {
			_, _ = s.Read()
			_ = s.Write([]byte(initialized))
			return then(ctx, s)
		}
	}
	write := func(t *testing.T, c stream.Stream, msg string) { require.NoError(t, c.Write([]byte(msg))) }
	for name, tt := range map[string]struct {
		serve func(context.Context, stream.Stream) error
		then  func(t *testing.T, h *remote.Handler, c stream.Stream, revoke func())
		want  int
	}{
		"the peer floods": {
			then: func(t *testing.T, _ *remote.Handler, c stream.Stream, _ func()) {
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
		"the principal is revoked": {then: func(_ *testing.T, _ *remote.Handler, _ stream.Stream, revoke func()) { revoke() }, want: 1008},
		"the server is shut down": {
			then: func(t *testing.T, h *remote.Handler, _ stream.Stream, _ func()) {
				go h.Shutdown(context.WithoutCancel(t.Context())) // ends with the connection
			},
			want: 1001,
		},
		"the time to shut down is over": {
			serve: answered(func(ctx context.Context, s stream.Stream) error {
				<-ctx.Done() // the handler ignores Shutdown
				return s.Close()
			}),
			then: func(_ *testing.T, h *remote.Handler, _ stream.Stream, _ func()) {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				go h.Shutdown(ctx) // ends with the connection
			},
			want: 1001,
		},
		"serve fails":  {serve: answered(func(context.Context, stream.Stream) error { return errors.New("no disk") }), want: 1011},
		"serve panics": {serve: answered(func(context.Context, stream.Stream) error { panic(http.ErrAbortHandler) }), want: 1011},
		"serve ends":   {serve: answered(func(context.Context, stream.Stream) error { return nil }), want: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			if tt.serve == nil {
				tt.serve = serve
			}
			revoked := make(chan struct{})
			h, s := startServing(t, tt.serve, &remote.Options{Authorize: func(*http.Request) (*remote.Principal, error) {
				return &remote.Principal{ID: "x", Revoked: revoked}, nil
			}}, nil)
			c := dial(t, wsURL(s), nil)
			defer c.Close()
			var err error
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

// A client learns over both transports that its connection has ended because the server shuts
// down, and not because the agent had nothing more to say. It learns it at once: a client that can
// continue event streams does not look for a server that is gone.
func TestDrainHasAReason(t *testing.T) {
	for _, scheme := range []string{"ws", "http"} {
		for _, resume := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, resume %t", scheme, resume), func(t *testing.T) {
				h, s := start(t, &remote.Options{Resume: resume}, nil)
				conn, session := openSession(t, scheme+strings.TrimPrefix(s.URL, "http"), nil)
				_, err := session.Prompt(t.Context(), acp.Text("x")).Wait()
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				require.NoError(t, h.Shutdown(ctx))
				s.CloseClientConnections()
				s.Close()
				select {
				case <-conn.Done():
				case <-ctx.Done():
					t.Fatal("the client has not noticed it")
				}
				assert.ErrorIs(t, conn.Err(), stream.ErrShutdown)
				assert.ErrorIs(t, conn.Err(), io.EOF)
			})
		}
	}
}

// If a server ends a connection at once, the client reads the response to initialize, then what the
// server sent after it, and then the end. The end does not report a shutdown.
func TestEndWithoutDrain(t *testing.T) {
	const last = `{"jsonrpc":"2.0","method":"_last"}`
	for _, scheme := range []string{"ws", "http"} {
		t.Run(scheme, func(t *testing.T) {
			s := httptest.NewServer(remote.NewHandler(func(_ context.Context, s stream.Stream) error {
				_, _ = s.Read()
				_ = s.Write([]byte(initialized))
				return s.Write([]byte(last))
			}, &remote.Options{Logger: quiet}))
			defer s.Close()
			for range 50 {
				c, err := remote.Dial(t.Context(), scheme+strings.TrimPrefix(s.URL, "http"), nil)
				require.NoError(t, err)
				require.NoError(t, c.Write([]byte(initialize)))
				for _, want := range []string{initialized, last} {
					msg, err := c.Read()
					require.NoError(t, err)
					require.Equal(t, want, string(msg))
				}
				_, err = c.Read()
				assert.ErrorIs(t, err, io.EOF)
				assert.NotErrorIs(t, err, stream.ErrShutdown)
				c.Close()
			}
		})
	}
}

// Messages that an agent sends while it drains arrive, even if the server ends right after them.
func TestLastWordsArrive(t *testing.T) {
	const words = 200
	text := strings.Repeat("x", 64<<10)
	serve := func(_ context.Context, s stream.Stream) error {
		_, _ = s.Read()
		_ = s.Write([]byte(initialized))
		<-stream.FeaturesOf(s).Draining
		for n := range words {
			_ = s.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"_last","params":{"n":%d,"text":"%s"}}`, n, text))
		}
		return s.Close()
	}
	for _, scheme := range []string{"ws", "http"} {
		t.Run(scheme, func(t *testing.T) {
			leak.Check(t)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			served := make(chan error, 1)
			go func() { served <- remote.NewHandler(serve, &remote.Options{Logger: quiet}).Serve(ctx, listener) }() // ends with ctx
			c := dial(t, scheme+"://"+listener.Addr().String(), nil)
			defer c.Close()
			cancel()
			for n := range words {
				msg, err := c.Read()
				require.NoError(t, err, "after %d words", n)
				assert.Contains(t, string(msg), fmt.Sprintf(`"n":%d,`, n))
			}
			_, err = c.Read()
			assert.ErrorIs(t, err, stream.ErrShutdown)
			assert.NoError(t, <-served)
			http.DefaultClient.CloseIdleConnections()
		})
	}
}
