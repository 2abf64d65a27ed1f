package hub_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/stream"
)

// BenchmarkUpdate sends updates of one turn from an agent to its client, directly and through a hub.
func BenchmarkUpdate(b *testing.B) {
	for _, through := range []bool{false, true} {
		b.Run(fmt.Sprintf("hub=%v", through), func(b *testing.B) {
			w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
				for range b.N {
					if err := s.Message(ctx, "twenty or so letters"); err != nil {
						return "", err
					}
				}
				return acp.StopReasonEndTurn, nil
			}}
			near, err := w.dial(b.Context())
			require.NoError(b, err)
			if through {
				_ = near.Close()
				h := hub.New(&hub.Options{Agent: supervise.Options{Dial: w.dial}, Logger: quiet})
				b.Cleanup(func() { _ = h.Shutdown(context.Background()) })
				var far stream.Stream
				near, far = stream.Pipe()
				go func() { _ = h.Serve(context.Background(), far) }() // ends with the connection
			}
			conn, err := client.Connect(b.Context(), near, func(*client.Conn) acp.Client { return &user{} }, nil)
			require.NoError(b, err)
			b.Cleanup(func() { _ = conn.Close(); _ = conn.Wait() })
			s, err := conn.StartSession(b.Context(), &acp.NewSessionRequest{Cwd: "/work"})
			require.NoError(b, err)
			b.ReportAllocs()
			b.ResetTimer()
			_, err = s.Prompt(b.Context(), acp.Text("go")).Wait()
			require.NoError(b, err)
		})
	}
}
