package remote_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// When a connection ends, all its calls fail with its end, and none as if its session alone were lost: over HTTP
// a session and the connection have event streams of their own, and the session's may end first.
func TestEndOfTheConnectionFailsItsCalls(t *testing.T) {
	leak.Check(t)
	ends := make(chan *agent.Conn, 1)
	wait := func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) error {
		if err := s.Message(ctx, "begun"); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	_, s := startServing(t, peertest.Serving(func(c *agent.Conn) acp.Agent {
		ends <- c
		return peertest.Turns(wait)(c)
	}, nil), nil, nil)
	overBoth(t, s, func(t *testing.T, url string) {
		for n := range 150 {
			c := connectTo(t, url, nil, &peertest.Client{})
			end := <-ends
			failed := make(chan error, 5)
			calls := 1 + rand.IntN(5)
			for range calls {
				session, err := c.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
				require.NoError(t, err)
				begun := make(chan struct{}, 2)
				turn := session.Prompt(t.Context(), acp.Text("x"))
				go func() { // ends with the turn
					for range turn.Updates() {
						begun <- struct{}{}
					}
					_, err := turn.Wait()
					failed <- err
				}()
				<-begun
			}
			if n%3 == 0 {
				time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond) // so that the end comes at another moment of each connection
			}
			go end.Close() // ends with the connection
			for range calls {
				err := <-failed
				require.ErrorIs(t, err, acp.ErrClosed, "episode %d", n)
				var lost *stream.LostError
				assert.NotErrorAs(t, err, &lost)
			}
			require.NoError(t, c.Close())
		}
	})
}
