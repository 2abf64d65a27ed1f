package supervise_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// site is a server that can be stopped and started again.
type site struct {
	w *world

	mu       sync.Mutex // guards the fields below
	listener *pipenet.Listener
	handler  *remote.Handler
	server   *http.Server
}

func (s *site) start() {
	quiet := slog.New(slog.DiscardHandler)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = remote.NewHandler(func(ctx context.Context, over stream.Stream) error {
		return agent.Serve(ctx, over, s.w.newAgent, &agent.Options{Logger: quiet})
	}, &remote.Options{Logger: quiet, AllowedHosts: []string{"site"}, Authorize: func(*http.Request) (*remote.Principal, error) {
		return &remote.Principal{ID: "x"}, nil
	}})
	s.listener = pipenet.Listen()
	s.server = remote.NewServer("", s.handler)
	go s.server.Serve(s.listener) // ends with stop
}

// stop closes the server without a shutdown.
func (s *site) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.listener.Close()
	_ = s.server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.handler.Shutdown(ctx)
}

func (s *site) dialer(t *testing.T, url string) func(context.Context) (stream.Stream, error) {
	return func(ctx context.Context) (stream.Stream, error) {
		s.mu.Lock()
		transport := &http.Transport{DialContext: s.listener.DialContext}
		s.mu.Unlock()
		t.Cleanup(transport.CloseIdleConnections)
		return remote.Dial(ctx, url, &remote.DialOptions{Client: &http.Client{Transport: transport}})
	}
}

// A server is supervised like a process: while it is down, the Supervisor dials again, and then the
// sessions are opened again.
func TestServerRestart(t *testing.T) {
	for profile, url := range map[string]string{"WebSocket": "ws://site/acp", "HTTP": "http://site/acp"} {
		t.Run(profile, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				w := &world{resume: true}
				at := &site{w: w}
				at.start()
				t.Cleanup(at.stop)
				k, s := open(t, w, func(o *supervise.Options) { o.Dial, o.Restart.Limit = at.dialer(t, url), -1 })
				require.NoError(t, s.SetMode(t.Context(), "code"))
				turn, err := s.Prompt(t.Context(), acp.Text("wait"))
				require.NoError(t, err)
				synctest.Wait()
				w.take()
				at.stop()
				_, err = turn.Wait()
				require.Error(t, err, "its response will not come")
				<-k.downs
				time.Sleep(5 * time.Minute) // dialing fails
				assert.Empty(t, w.take())
				at.start()
				r := <-k.returns
				assert.Same(t, s, r.Session)
				assert.Equal(t, supervise.HowResumed, r.How)
				assert.NoError(t, r.Err)
				assert.NoError(t, r.Settings)
				current, err := s.Current(t.Context())
				require.NoError(t, err)
				assert.Equal(t, acp.SessionModeID("code"), current.Modes().CurrentModeID)
				assert.NoError(t, prompt(t, s, "go on"))
			})
		})
	}
}
