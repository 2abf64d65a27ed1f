package client_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// read collects the updates of a turn and its error.
func read(turn *client.Turn) (texts []string, err error) {
	for u, e := range turn.Updates() {
		if e != nil {
			err = e
			continue
		}
		texts = append(texts, text(u))
	}
	return texts, err
}

// barrier returns when all messages that the agent has sent were handled.
func barrier(t *testing.T, s *client.Session, peer *rawpeer.Peer) {
	t.Helper()
	go func() { peer.Answer(peer.Expect("session/set_mode"), `{}`) }() // ends with the response
	require.NoError(t, s.SetMode(t.Context(), "m"))
}

func TestPromptThatCannotBeSent(t *testing.T) {
	s, peer := session(t, &peertest.Client{}, nil)
	turn := s.Prompt(t.Context(), &acp.ImageContent{MIMEType: "image/png"})
	_, err := read(turn)
	var missing *acp.CapabilityError
	require.ErrorAs(t, err, &missing)
	turn = s.Prompt(t.Context(), acp.ContentBlock(nil))
	_, err = turn.Wait()
	require.Error(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Prompt(ended, acp.Text("hi")).Wait()
	require.ErrorIs(t, err, context.Canceled)

	turn = s.Prompt(t.Context(), acp.Text("hi")) // the session is free again
	peer.Answer(peer.Expect("session/prompt"), endTurn)
	_, err = turn.Wait()
	require.NoError(t, err)
}

func TestBreakDropsTheRestButNotTheTurn(t *testing.T) {
	s, peer := session(t, &peertest.Client{}, nil)
	turn := s.Prompt(t.Context(), acp.Text("hi"))
	m := peer.Expect("session/prompt")
	peer.Update("s1", "one")
	peer.Update("s1", "two")
	for u, err := range turn.Updates() {
		require.NoError(t, err)
		assert.Equal(t, "one", text(u))
		break
	}
	peer.Update("s1", "three")
	peer.Answer(m, endTurn)
	res, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
	texts, err := read(turn)
	require.NoError(t, err)
	assert.Empty(t, texts)
}

func TestPromptSendsBeforeItReturns(t *testing.T) {
	deriving := peertest.Around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		return next(ctx, method, params)
	})
	for name, opts := range map[string]*client.Options{
		"plain":      nil,
		"middleware": {Sending: []acp.Middleware{deriving}},
	} {
		t.Run(name, func(t *testing.T) {
			s, peer := session(t, &peertest.Client{}, opts)
			for range 200 {
				turn := s.Prompt(t.Context(), acp.Text("hi"))
				require.NoError(t, turn.Cancel(t.Context()))
				m := peer.Expect("session/prompt")
				peer.Expect("session/cancel")
				peer.Answer(m, `{"stopReason":"cancelled"}`)
				_, err := turn.Wait()
				require.NoError(t, err)
			}
		})
	}
}

// A prompt that waits for room keeps its place, so that a later cancel cannot overtake it.
func TestPromptWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, peer := session(t, &peertest.Client{}, &client.Options{Limits: acp.Limits{SendQueue: 1000}})
		for err := error(nil); err == nil; { // until the queue and the stream are full
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err = s.Cancel(ctx)
			cancel()
		}
		prompted, cancelled := make(chan *client.Turn, 1), make(chan error, 1)
		go func() { // ends when there is room
			turn := s.Prompt(t.Context(), acp.Text("hi"))
			prompted <- turn
			cancelled <- turn.Cancel(t.Context())
		}()
		synctest.Wait()
		assert.Empty(t, prompted)
		var m rawpeer.Message
		for m.Method != "session/prompt" {
			m, _ = peer.Recv()
		}
		peer.Expect("session/cancel")
		peer.Answer(m, `{"stopReason":"cancelled"}`)
		require.NoError(t, <-cancelled)
		_, err := (<-prompted).Wait()
		require.NoError(t, err)
	})
}

// If a middleware responds, the turn ends.
func TestPromptThatAMiddlewareAnswers(t *testing.T) {
	answering := peertest.Around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
		if method == acp.MethodSessionPrompt {
			return &acp.PromptResponse{StopReason: acp.StopReasonRefusal}, nil
		}
		return next(ctx, method, params)
	})
	s, _ := session(t, &peertest.Client{}, &client.Options{Sending: []acp.Middleware{answering}})
	res, err := s.Prompt(t.Context(), acp.Text("hi")).Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonRefusal, res.StopReason)
}

// When the ctx of a prompt ends, the client sends session/cancel and waits for the response
// during the grace period.
func TestEndOfCtxCancelsTheTurn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer bool
		after  time.Duration
		err    error
	}{
		{"response in time", true, 10 * time.Second, nil},
		{"no response", false, 10 * time.Second, context.DeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				s, peer := session(t, &peertest.Client{}, nil)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				turn := s.Prompt(ctx, acp.Text("hi"))
				m := peer.Expect("session/prompt")
				begin := time.Now()
				peer.Expect("session/cancel")
				assert.Equal(t, time.Minute, time.Since(begin))
				peer.Update("s1", "last words")
				if tt.answer {
					peer.Answer(m, `{"stopReason":"cancelled"}`)
				}
				texts, err := read(turn)
				assert.Equal(t, []string{"last words"}, texts)
				require.ErrorIs(t, err, tt.err)
				res, err := turn.Wait()
				require.ErrorIs(t, err, tt.err)
				if tt.answer {
					assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
				} else {
					assert.Equal(t, time.Minute+10*time.Second, time.Since(begin))
				}
				next := s.Prompt(t.Context(), acp.Text("again")) // the session is free again
				peer.Answer(peer.Expect("session/prompt"), endTurn)
				_, err = next.Wait()
				require.NoError(t, err)
			})
		})
	}
}

func TestCloseEndsTheTurn(t *testing.T) {
	leak.Check(t)
	s, peer := session(t, &peertest.Client{}, nil)
	turn := s.Prompt(t.Context(), acp.Text("hi"))
	peer.Expect("session/prompt")
	peer.Update("s1", "one")
	peer.Close()
	texts, err := read(turn)
	assert.Equal(t, []string{"one"}, texts, "what was read is given out")
	require.ErrorIs(t, err, acp.ErrClosed)
}

// A handler of updates may run a turn with its ctx.
func TestTurnInsideANotificationHandler(t *testing.T) {
	leak.Check(t)
	var s *client.Session
	var got error
	var ran bool
	c := &peertest.Client{}
	s, peer := session(t, c, nil)
	s.OnUpdate(func(ctx context.Context, u acp.SessionUpdate) {
		if !ran && text(u) == "go" {
			ran = true
			_, got = s.Prompt(ctx, acp.Text("hi")).Wait()
		}
	})
	peer.Update("s1", "go")
	m := peer.Expect("session/prompt")
	peer.Update("s1", "one")
	peer.Answer(m, endTurn)
	barrier(t, s, peer)
	assert.True(t, ran)
	assert.NoError(t, got)
}

// Some agents end a turn with an empty response. All updates have arrived by then.
func TestTurnWithoutAResult(t *testing.T) {
	for _, result := range []string{`null`, `{}`, `{ }`} {
		t.Run(result, func(t *testing.T) {
			var log bytes.Buffer
			s, peer := session(t, &peertest.Client{}, &client.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			turn := s.Prompt(t.Context(), acp.Text("hi"))
			m := peer.Expect("session/prompt")
			peer.Update("s1", "all of it")
			peer.Answer(m, result)
			text, err := turn.Text()
			require.NoError(t, err)
			assert.Equal(t, "all of it", text)
			res, err := turn.Wait()
			require.NoError(t, err)
			assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
			assert.Contains(t, log.String(), "level=WARN")
			assert.Contains(t, log.String(), "session/prompt")
		})
	}
	s, peer := session(t, &peertest.Client{}, nil)
	turn := s.Prompt(t.Context(), acp.Text("hi"))
	peer.Answer(peer.Expect("session/prompt"), `{"stopReason":5}`)
	_, err := turn.Wait()
	assert.ErrorAs(t, err, new(*acp.InvalidError), "a wrong result is still an error")
}

// A turn with dropped updates returns an error, together with the response of the agent.
func TestTurnWhoseUpdatesWereDropped(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(c *client.Conn, cancel context.CancelFunc, peer *rawpeer.Peer)
		want error
	}{
		"Close":        {func(c *client.Conn, _ context.CancelFunc, _ *rawpeer.Peer) { c.Close() }, acp.ErrClosed},
		"ctx of Start": {func(_ *client.Conn, cancel context.CancelFunc, _ *rawpeer.Peer) { cancel() }, acp.ErrClosed},
		"overloaded": {func(c *client.Conn, _ context.CancelFunc, peer *rawpeer.Peer) {
			go c.ListSessions(context.Background(), nil) // ends with the connection; lifts the back-pressure
			peer.Expect("session/list")
			for c.Err() == nil { // until the connection has ended
				peer.Update("s1", strings.Repeat("x", 20<<10))
				synctest.Wait()
			}
		}, acp.ErrOverloaded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				s, peer := rawpeer.Pipe(t)
				free, n := make(chan struct{}), 0
				cl := &peertest.Client{OnUpdate: func(ctx context.Context, _ *acp.SessionNotification) error {
					if n++; n == 6 {
						<-free
					}
					return nil
				}}
				c := client.New(s, func(*client.Conn) acp.Client { return cl }, &client.Options{
					Limits: acp.Limits{Backlog: 100 << 10, MaxBacklog: 200 << 10},
				})
				ctx, cancel := context.WithCancel(t.Context())
				require.NoError(t, c.Start(ctx))
				go peer.Initialize(`{"sessionCapabilities":{"list":{}}}`) // ends with the response
				_, err := c.Initialize(t.Context(), nil)
				require.NoError(t, err)
				turn := c.Session("s1").Prompt(context.WithoutCancel(t.Context()), acp.Text("hi"))
				m := peer.Expect("session/prompt")
				for range 100 {
					peer.Update("s1", "x")
				}
				peer.Answer(m, endTurn)
				synctest.Wait() // the response was read
				tt.end(c, cancel, peer)
				synctest.Wait()
				close(free)
				texts, err := read(turn)
				assert.Less(t, len(texts), 100)
				assert.ErrorIs(t, err, tt.want)
				_, err = turn.Text()
				assert.ErrorIs(t, err, tt.want)
				res, err := turn.Wait()
				assert.ErrorIs(t, err, tt.want)
				if assert.NotNil(t, res) {
					assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
				}
				c.Close()
				c.Wait()
				cancel()
			})
		})
	}
}

func TestTurnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, peer := open(t, &peertest.Client{}, `{}`, nil)
		ctx := client.Handling(t.Context(), conn)
		s := conn.Session("s1")
		free, stop := client.TurnContext(ctx, "s1")
		require.NoError(t, free.Err(), "no turn runs")
		stop()
		assert.Error(t, free.Err())

		turn := s.Prompt(t.Context(), acp.Text("hi"))
		m := peer.Expect("session/prompt")
		one, stopOne := client.TurnContext(ctx, "s1")
		defer stopOne()
		two, stopTwo := client.TurnContext(ctx, "s1")
		stopTwo()
		synctest.Wait()
		require.NoError(t, one.Err())
		other, stopOther := client.TurnContext(ctx, "s2")
		defer stopOther()

		require.NoError(t, s.Cancel(t.Context()))
		<-one.Done()
		assert.ErrorIs(t, context.Cause(one), acp.ErrTurnCancelled)
		assert.ErrorIs(t, context.Cause(two), context.Canceled)
		assert.NoError(t, other.Err(), "another session")
		late, stopLate := client.TurnContext(ctx, "s1")
		defer stopLate()
		assert.ErrorIs(t, context.Cause(late), acp.ErrTurnCancelled)
		peer.Expect("session/cancel")
		peer.Answer(m, endTurn)
		_, err := turn.Wait()
		require.NoError(t, err)
		next, stopNext := client.TurnContext(ctx, "s1")
		defer stopNext()
		assert.NoError(t, next.Err(), "the turn is over")
	})
}
