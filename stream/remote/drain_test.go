package remote_test

import (
	"context"
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
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// A client learns over both transports that its connection has ended because the server shuts
// down, and not because the agent had nothing more to say. It learns it at once: a client that can
// continue event streams does not look for a server that is gone.
func TestDrainHasAReason(t *testing.T) {
	for _, scheme := range []string{"ws", "http"} {
		for _, resume := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, resume %t", scheme, resume), func(t *testing.T) {
				h := remote.NewHandler(serving(nil), &remote.Options{Logger: quiet, Resume: resume})
				s := httptest.NewServer(h)
				conn, session := talk(t, scheme+strings.TrimPrefix(s.URL, "http"), nil)
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

// A server that ends a connection at once is understood: its response to initialize comes first,
// what it sent after it follows, and then comes the end. It does not say that it shuts down.
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

// What an agent sends while it drains arrives, although the server ends right after it.
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
			c, err := remote.Dial(t.Context(), scheme+"://"+listener.Addr().String(), nil)
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, c.Write([]byte(initialize)))
			_, err = c.Read()
			require.NoError(t, err)
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
