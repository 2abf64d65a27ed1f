package remote_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// A panic while an agent is made ends its connection, not the server.
func TestServePanics(t *testing.T) {
	serve := func(ctx context.Context, s stream.Stream) error {
		return agent.Serve(ctx, s, func(*agent.Conn) acp.Agent { panic(struct{ content string }{"secret"}) }, nil)
	}
	for _, scheme := range []string{"ws", "http"} {
		t.Run(scheme, func(t *testing.T) {
			logger, records := recording()
			server := httptest.NewServer(remote.NewHandler(serve, &remote.Options{Logger: logger}))
			defer server.Close()
			for range 2 {
				s, err := remote.Dial(t.Context(), scheme+server.URL[len("http"):], &remote.DialOptions{Client: &http.Client{Transport: &http.Transport{}}})
				require.NoError(t, err)
				_ = s.Write([]byte(initialize)) // the connection may have ended
				_, err = s.Read()
				assert.Error(t, err)
				require.NoError(t, s.Close())
				record := <-records
				assert.Contains(t, record, "remote: panic in serve")
				assert.Contains(t, record, "a value of type struct")
				assert.NotContains(t, record, "secret")
				assert.Contains(t, <-records, "remote: a connection failed")
			}
		})
	}
}

// recording returns a logger and the channel that gets its output.
func recording() (*slog.Logger, <-chan string) {
	records := make(lines, 10)
	return slog.New(slog.NewTextHandler(records, nil)), records
}

type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}
