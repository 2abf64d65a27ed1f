package adapters_test

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/stream"
)

// An agent that is killed in the middle of a turn is started again by the supervisor, and knows
// the conversation.
func TestKilledAndSupervised(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a *adapter) {
		place := newWorkplace(t, a)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		h, err := host.New(nil)
		require.NoError(t, err)
		defer h.Close()
		var pid atomic.Int64
		threads := thread.NewSet()
		returned := make(chan supervise.Return, 1)
		s := supervise.New(&supervise.Options{
			Client: h.Client,
			Dial: func(context.Context) (stream.Stream, error) {
				p, err := stream.Command(place.command(), nil)
				if err != nil {
					return nil, err
				}
				pid.Store(int64(p.PID()))
				return p, nil
			},
			Conn:     &client.Options{Receiving: []acp.Middleware{threads.Receiving}, Sending: []acp.Middleware{threads.Sending}},
			Restart:  supervise.Restart{Min: time.Millisecond},
			OnReturn: func(r supervise.Return) { returned <- r },
		})
		require.NoError(t, s.Start(ctx))
		session, err := s.Open(ctx, &supervise.SessionOptions{Cwd: place.dir})
		require.NoError(t, err)
		require.NoError(t, session.SetConfigOption(ctx, "mode", acp.SessionConfigValueID(a.asking)))
		turn, err := session.Prompt(ctx, acp.Text(scriptMark+"say"))
		require.NoError(t, err)
		_, err = turn.Wait()
		require.NoError(t, err)

		turn, err = session.Prompt(ctx, acp.Text(scriptMark+"wait"))
		require.NoError(t, err)
		said := ""
		for u := range turn.Updates() {
			if chunk, ok := u.(*acp.AgentMessageChunk); ok {
				if said += acp.PlainText(chunk.Content); said == "I wait." {
					break // the model waits now
				}
			}
		}
		kill(t, int(pid.Load()))
		_, err = turn.Wait()
		var exit *stream.ExitError
		assert.ErrorAs(t, err, &exit)
		assert.ErrorIs(t, err, acp.ErrClosed)

		back := <-returned
		assert.NoError(t, back.Err)
		assert.NoError(t, back.Settings)
		assert.NotEqual(t, supervise.HowNew, back.How, "%v", back.Lost)
		assert.Equal(t, back.OldID, back.NewID)
		turn, err = session.Prompt(ctx, acp.Text(scriptMark+"say"))
		require.NoError(t, err)
		text, err := turn.Text()
		require.NoError(t, err)
		assert.Contains(t, text, "One two three.")
		assert.Contains(t, messages(threads.Thread(session.ID()).Snapshot()), "agent: I wait.")
		assert.NoError(t, s.Close())
		assert.NoError(t, s.Wait())
	})
}

// In version 2 the same turn fails with the same error, and another process knows the
// conversation.
func TestKilledInVersion2(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a *adapter) {
		place := newWorkplace(t, a)
		var pid int
		c := converseOver(t, place, func(_ *testing.T, s stream.Stream) stream.Stream {
			pid = s.(*stream.Process).PID()
			return s
		})
		c.dies = true
		c.start(t)
		c.text(t)
		turn := c.prompt("wait")
		waits(t, turn)
		kill(t, pid)
		_, err := turn.Wait()
		var exit *stream.ExitError
		assert.ErrorAs(t, err, &exit)
		assert.ErrorIs(t, err, acp2.ErrClosed)

		again := converse(t, place, &recording{place: place})
		again.resume(t, c.session.ID())
	})
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	require.NoError(t, err)
	require.NoError(t, p.Kill())
}
