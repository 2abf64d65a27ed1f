package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// A connection can end in each of these ways.
func TestEndOfAConnection(t *testing.T) {
	cause := errors.New("enough")
	for _, tt := range []struct {
		name string
		end  func(*client.Conn, *rawpeer.Peer, context.CancelCauseFunc)
		want error
	}{
		{"Close", func(c *client.Conn, _ *rawpeer.Peer, _ context.CancelCauseFunc) { c.Close() }, nil},
		{"end of input", func(_ *client.Conn, p *rawpeer.Peer, _ context.CancelCauseFunc) { p.Close() }, nil},
		{"ctx of Run", func(_ *client.Conn, _ *rawpeer.Peer, cancel context.CancelCauseFunc) { cancel(cause) }, cause},
		{"Shutdown", func(c *client.Conn, _ *rawpeer.Peer, _ context.CancelCauseFunc) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			assert.ErrorIs(t, c.Shutdown(ctx), context.DeadlineExceeded, "the turn goes on")
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				s, peer := rawpeer.Pipe(t)
				c := client.New(s, good, nil)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				ran := make(chan error, 1)
				go func() { ran <- c.Run(ctx) }() // ends with the connection
				synctest.Wait()
				go peer.Initialize(`{}`)
				_, err := c.Initialize(ctx, nil)
				require.NoError(t, err)
				require.NoError(t, c.Err())

				turn := c.Session("s1").Prompt(context.Background(), acp.Text("hi"))
				peer.Expect("session/prompt")
				tt.end(c, peer, cancel)
				_, err = turn.Wait()
				require.ErrorIs(t, err, acp.ErrClosed)
				assert.ErrorIs(t, <-ran, tt.want)
				<-c.Done()
				require.Error(t, c.Err())
				_, err = c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
				require.ErrorIs(t, err, acp.ErrClosed)
			})
		})
	}
}

// Shutdown of an agent waits until the turn in flight has ended.
func TestShutdownOfAnAgentWaitsForTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		as, cs := stream.Pipe()
		a := agent.New(as, func(*agent.Conn) acp.Agent {
			return &peertest.Agent{OnPrompt: func(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) {
				<-time.After(time.Second)
				return &acp.PromptResponse{StopReason: acp.StopReasonMaxTokens}, nil
			}}
		}, nil)
		c := client.New(cs, good, nil)
		require.NoError(t, a.Start(t.Context()))
		require.NoError(t, c.Start(t.Context()))
		_, err := c.Initialize(t.Context(), nil)
		require.NoError(t, err)
		turn := c.Session("s1").Prompt(t.Context(), acp.Text("hi"))
		synctest.Wait()
		require.NoError(t, a.Shutdown(t.Context()))
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonMaxTokens, res.StopReason)
		require.NoError(t, a.Wait())
		require.NoError(t, c.Wait())
	})
}
