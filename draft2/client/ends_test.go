package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The end of the ctx of a prompt cancels the work of the session once, and the turn has the
// grace to end.
func TestCtxOfAPrompt(t *testing.T) {
	type scene struct {
		turn   *client.Turn
		peer   *rawpeer.Peer
		prompt rawpeer.Message
		cancel context.CancelFunc
	}
	begin := func(s *scene) {
		s.peer.Answer(s.prompt, `{"messageId":"u1"}`)
		sendUpdate(s.peer, "running")
		synctest.Wait()
	}
	for name, tt := range map[string]struct {
		play   func(*scene)
		reason acp.StopReason
		err    error
		after  time.Duration
	}{
		"in progress": {func(s *scene) {
			begin(s)
			s.cancel()
			s.peer.Expect("session/cancel")
			sendUpdate(s.peer, "the last words")
			sendUpdate(s.peer, "idle cancelled")
		}, acp.StopReasonCancelled, nil, 0},
		"in progress, and no end": {func(s *scene) {
			begin(s)
			s.cancel()
			s.peer.Expect("session/cancel")
		}, "", context.Canceled, 10 * time.Second},
		"held, and refused": {func(s *scene) {
			s.cancel()
			s.peer.Expect("session/cancel")
			s.peer.Fail(s.prompt, -32800, "Request cancelled")
		}, "", rpcerr.ErrRequestCancelled, 0},
		"held, and no response": {func(s *scene) {
			s.cancel()
			s.peer.Expect("session/cancel")
		}, "", context.Canceled, 10 * time.Second},
		"held, and accepted all the same": {func(s *scene) {
			s.cancel()
			s.peer.Expect("session/cancel")
			time.Sleep(time.Second)
			begin(s)
			sendUpdate(s.peer, "idle cancelled")
		}, acp.StopReasonCancelled, nil, time.Second},
		"held, accepted all the same, and no end": {func(s *scene) {
			s.cancel()
			s.peer.Expect("session/cancel")
			time.Sleep(time.Second)
			begin(s)
		}, "", context.Canceled, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				session, peer := session(t, &viewer{}, nil)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := &scene{session.Prompt(ctx, acp.Text("hi")), peer, peer.Expect("session/prompt"), cancel}
				start := time.Now()
				tt.play(s)
				idle, err := s.turn.Wait()
				assert.Equal(t, tt.after, time.Since(start))
				if tt.err != nil {
					assert.ErrorIs(t, err, tt.err)
					assert.Nil(t, idle)
				} else if assert.NoError(t, err) {
					assert.Equal(t, tt.reason, idle.StopReason)
				}
				next := session.Prompt(t.Context(), acp.Text("again")) // and no second cancel
				peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u2"}`)
				sendUpdate(peer, "idle end_turn")
				_, err = next.Wait()
				assert.NoError(t, err)
			})
		})
	}
}

// The end of the connection ends the turns, after their updates.
func TestTurnsAtTheEndOfTheConnection(t *testing.T) {
	cause := errors.New("enough")
	for name, end := range map[string]func(*client.Conn, *rawpeer.Peer, context.CancelCauseFunc){
		"Close":        func(c *client.Conn, _ *rawpeer.Peer, _ context.CancelCauseFunc) { c.Close() },
		"end of input": func(_ *client.Conn, p *rawpeer.Peer, _ context.CancelCauseFunc) { p.Close() },
		"ctx of Start": func(_ *client.Conn, _ *rawpeer.Peer, cancel context.CancelCauseFunc) { cancel(cause) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				s, peer := rawpeer.Pipe(t)
				c := client.New(s, func(*client.Conn) acp.Client { return &viewer{} }, nil)
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				require.NoError(t, c.Start(ctx))
				go func() { peer.Answer(peer.Expect("initialize"), initialized(`{"session":{}}`)) }() // ends with the response
				_, err := c.Initialize(t.Context(), nil)
				require.NoError(t, err)
				session := c.Session("s1")
				begun, held := session.Prompt(t.Context(), acp.Text("1")), session.Prompt(t.Context(), acp.Text("2"))
				peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
				peer.Expect("session/prompt")
				sendUpdate(peer, "running")
				sendUpdate(peer, "one")
				synctest.Wait()
				end(c, peer, cancel)
				var got []string
				for u, err := range begun.Updates() {
					if err == nil {
						got = append(got, updateText(u))
					} else {
						assert.ErrorIs(t, err, acp.ErrClosed)
					}
				}
				assert.Equal(t, []string{"running", "one"}, got)
				_, err = begun.Wait()
				assert.ErrorIs(t, err, acp.ErrClosed)
				_, err = held.Wait()
				assert.ErrorIs(t, err, acp.ErrClosed)
				_, err = held.Accepted()
				assert.ErrorIs(t, err, acp.ErrClosed)
				_, err = session.Prompt(t.Context(), acp.Text("3")).Wait()
				assert.ErrorIs(t, err, acp.ErrClosed)
				c.Wait()
			})
		})
	}
}

// A turn whose end was read but dropped, because the connection was closed while earlier
// updates were being handled, has no end.
func TestTurnWhoseUpdatesWereDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handling, goOn := make(chan struct{}), make(chan struct{})
		v := &viewer{}
		s, peer := session(t, v, nil)
		v.update = func(_ context.Context, n *acp.UpdateSessionNotification) error {
			if updateText(n.Update) == "one" {
				close(handling)
				<-goOn
			}
			return nil
		}
		turn := s.Prompt(t.Context(), acp.Text("hi"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
		for _, line := range []string{"running", "one", "two", "idle end_turn"} {
			sendUpdate(peer, line)
		}
		<-handling
		synctest.Wait()
		v.conn.Close()
		close(goOn)
		text, err := turn.Text()
		assert.ErrorIs(t, err, acp.ErrClosed)
		assert.NotContains(t, text, "two")
		res, err := turn.Accepted()
		require.NoError(t, err)
		assert.EqualValues(t, "u1", res.MessageID)
	})
}

// Shutdown waits for the turns in flight.
func TestShutdownWaitsForTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &viewer{}
		s, peer := session(t, v, nil)
		turn := s.Prompt(t.Context(), acp.Text("hi"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
		down := make(chan error, 1)
		go func() { down <- v.conn.Shutdown(t.Context()) }() // ends with the turn
		synctest.Wait()
		require.Empty(t, down)
		sendUpdate(peer, "idle end_turn")
		_, err := turn.Wait()
		assert.NoError(t, err)
		assert.NoError(t, <-down)
	})
}

// A turn that is not read stops the reader at the backlog, also while another prompt is held.
func TestTurnThatIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handled := 0
		s, peer := session(t, &viewer{update: func(context.Context, *acp.UpdateSessionNotification) error {
			handled++
			return nil
		}}, &client.Options{Limits: acp.Limits{Backlog: 4 << 10}})
		turn := s.Prompt(t.Context(), acp.Text("1"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
		held := s.Prompt(t.Context(), acp.Text("2"))
		prompt := peer.Expect("session/prompt")
		const all = 200
		go func() { // ends when the turns are read
			for range all - 1 {
				sendUpdate(peer, "more")
			}
			sendUpdate(peer, "idle end_turn")
			peer.Fail(prompt, -32800, "cancelled")
		}()
		synctest.Wait()
		assert.Less(t, handled, all/2)
		_, err := turn.Wait()
		assert.NoError(t, err)
		_, err = held.Wait()
		assert.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
		assert.Equal(t, all, handled)
	})
}

// A sending middleware that ends the goroutine, or fails after the response, ends the turn.
func TestMiddlewareThatEndsAPrompt(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		sending acp.Middleware
		want    string
	}{
		"fails": {around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
			res, err := next(ctx, method, params)
			if method == acp.MethodSessionPrompt {
				return nil, broken
			}
			return res, err
		}), "broken"},
		"responds itself": {around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
			if method == acp.MethodSessionPrompt {
				return &acp.PromptResponse{MessageID: "u1"}, nil
			}
			return next(ctx, method, params)
		}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, peer := session(t, &viewer{}, &client.Options{Sending: []acp.Middleware{tt.sending}})
				turn := s.Prompt(t.Context(), acp.Text("hi"))
				if tt.want != "" {
					peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
				}
				synctest.Wait()
				sendUpdate(peer, "running")
				sendUpdate(peer, "idle end_turn")
				idle, err := turn.Wait()
				if tt.want != "" {
					assert.ErrorContains(t, err, tt.want)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, acp.StopReasonEndTurn, idle.StopReason)
			})
		})
	}
}

// The end of the ctx of a plain Prompt cancels only this prompt, and the response says
// whether it was still held.
func TestCtxOfAPlainPrompt(t *testing.T) {
	for name, tt := range map[string]struct {
		respond func(*rawpeer.Peer, rawpeer.Message)
		want    error
		after   time.Duration
	}{
		"held":        {func(p *rawpeer.Peer, m rawpeer.Message) { p.Fail(m, -32800, "Request cancelled") }, rpcerr.ErrRequestCancelled, 0},
		"accepted":    {func(p *rawpeer.Peer, m rawpeer.Message) { p.Answer(m, `{"messageId":"u1"}`) }, nil, 0},
		"no response": {func(*rawpeer.Peer, rawpeer.Message) {}, context.Canceled, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, peer := open(t, &viewer{}, `{"session":{}}`, nil)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { // ends with the response, or the grace
					_, err := conn.Prompt(ctx, &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text("hi")}})
					done <- err
				}()
				m := peer.Expect("session/prompt")
				start := time.Now()
				cancel()
				assert.JSONEq(t, `{"requestId":`+string(m.ID)+`}`, string(peer.Expect("$/cancel_request").Params))
				tt.respond(peer, m)
				if err := <-done; tt.want == nil {
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, tt.want)
				}
				assert.Equal(t, tt.after, time.Since(start))
			})
		})
	}
}

// A prompt whose response was read is accepted, even if the connection ends at once.
func TestAcceptedJustBeforeTheEnd(t *testing.T) {
	for range 20 { // the order in which goroutines wake varies
		synctest.Test(t, func(t *testing.T) {
			s, peer := session(t, &viewer{}, nil)
			turn := s.Prompt(t.Context(), acp.Text("hi"))
			peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
			peer.Close()
			res, err := turn.Accepted()
			require.NoError(t, err)
			assert.Equal(t, acp.MessageID("u1"), res.MessageID)
			_, err = turn.Wait()
			require.ErrorIs(t, err, acp.ErrClosed)
		})
	}
}

// An agent that does not respond to the prompt that is withdrawn does not keep the caller.
func TestWithdrawnPromptWithoutResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, peer := session(t, &viewer{}, &client.Options{CancelGrace: 3 * time.Second})
		first := s.Prompt(t.Context(), acp.Text("first"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		begun := time.Now()
		held := s.Prompt(ctx, acp.Text("held"))
		prompt := peer.Expect("session/prompt")
		assert.JSONEq(t, `{"requestId":`+string(prompt.ID)+`}`, string(peer.Expect("$/cancel_request").Params))
		_, err := held.Wait()
		assert.Equal(t, context.DeadlineExceeded, err)
		assert.Equal(t, 4*time.Second, time.Since(begun))
		peer.Fail(prompt, -32800, "Request cancelled") // the caller no longer waits for it
		sendUpdate(peer, "idle end_turn")
		idle, err := first.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, idle.StopReason)
	})
}
