package proxy_test

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/proxy"
	"github.com/acpkit/go-sdk/stream"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// testEnd is a client or an agent that the test plays.
type testEnd struct {
	t testing.TB
	stream.Stream
}

func (f *testEnd) send(line string) {
	f.t.Helper()
	require.NoError(f.t, f.Write([]byte(line)))
}

func (f *testEnd) receive() string {
	f.t.Helper()
	b, err := f.Read()
	require.NoError(f.t, err)
	return string(b)
}

// start starts a proxy between a client and an agent.
func start(t testing.TB, opts *proxy.Options) (p *proxy.Proxy, client, agent *testEnd) {
	t.Helper()
	a, left := stream.Pipe()
	right, b := stream.Pipe()
	p = proxy.New(left, right, opts)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, p.Start(ctx))
	t.Cleanup(func() {
		p.Close()
		p.Wait()
		cancel()
		a.Close()
		b.Close()
	})
	return p, &testEnd{t, a}, &testEnd{t, b}
}

// watching is a middleware that changes nothing.
func watching(next proxy.Handler) proxy.Handler { return next }

// both returns options with middleware in both directions, so that the proxy handles every message.
func both(m ...proxy.Middleware) *proxy.Options {
	return &proxy.Options{FromClient: m, FromAgent: m}
}
