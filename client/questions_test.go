package client_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
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

const ask = `{"sessionId":"s1","toolCall":{"toolCallId":"c1"},"options":[{"optionId":"ok","name":"OK","kind":"allow_once"}]}`

// stubborn asks the user and ignores its ctx.
type stubborn struct {
	peertest.Client
	asked, person chan struct{}
}

func newStubborn() *stubborn {
	s := &stubborn{asked: make(chan struct{}, 10), person: make(chan struct{})}
	s.OnPermission = func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		s.asked <- struct{}{}
		<-s.person
		return acp.Selected("ok"), nil
	}
	return s
}

func (s *stubborn) CreateElicitation(ctx context.Context, _ *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	s.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestPanicOfAQuestionIsAnInternalError(t *testing.T) {
	leak.Check(t)
	c := &peertest.Client{OnPermission: func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		panic("secret")
	}}
	_, peer := session(t, c, nil)
	peer.Call("1", "session/request_permission", ask)
	m, _ := peer.Recv()
	require.NotNil(t, m.Error)
	assert.Equal(t, -32603, m.Error.Code)
	assert.NotContains(t, m.Error.Message, "secret")
}

// The connection answers a question of a cancelled turn while the handler still runs. If the
// handler panics afterwards, the panic is logged.
func TestPanicAfterACancelledQuestionIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		var log bytes.Buffer
		c := &peertest.Client{OnPermission: func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			<-ctx.Done()
			panic(errors.New("the dialogue is gone"))
		}}
		s, peer := session(t, c, &client.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		peer.Call("1", "session/request_permission", ask)
		synctest.Wait()
		require.NoError(t, s.Cancel(t.Context()))
		peer.Expect("session/cancel")
		m, _ := peer.Recv()
		assert.JSONEq(t, `{"outcome":{"outcome":"cancelled"}}`, string(m.Result))
		synctest.Wait()
		assert.Contains(t, log.String(), "the dialogue is gone")
	})
}

// completer is an acp.ElicitationCompleter, so that the client advertises elicitation for
// URLs.
type completer struct{ *stubborn }

func (completer) CompleteElicitation(context.Context, *acp.CompleteElicitationNotification) error {
	return nil
}

// An agent must not make the client open a file or run a program.
func TestOnlyWebPagesReachTheUser(t *testing.T) {
	c := completer{newStubborn()}
	_, peer := session(t, c, nil)
	for _, url := range []string{"file:///etc/passwd", "javascript:alert(1)", "vscode://x", "https:", "http:///x", "%zz", "//host/x", "", "data:text/html,x"} {
		peer.Call("1", "elicitation/create", `{"sessionId":"s1","message":"go","mode":"url","elicitationId":"e","url":"`+url+`"}`)
		m, ok := peer.Recv()
		require.True(t, ok)
		if assert.NotNil(t, m.Error, url) {
			assert.Equal(t, -32602, m.Error.Code, url)
			assert.Contains(t, m.Error.Message, "url must be")
			assert.NotContains(t, m.Error.Message+string(m.Error.Data), "passwd")
		}
	}
	assert.Empty(t, c.asked)
	peer.Call("2", "elicitation/create", `{"sessionId":"s1","message":"go","mode":"url","elicitationId":"e","url":"HTTPS://example.com/x?y"}`)
	<-c.asked
}

// Wait waits for the handler of a cancelled question.
func TestWaitWaitsForAHandlerWhoseQuestionWasCancelled(t *testing.T) {
	for name, stuck := range map[string]bool{"ends in time": false, "ignores everything": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newStubborn()
				conn, peer := open(t, c, `{}`, nil)
				s := conn.Session("s1")
				s.Prompt(t.Context(), acp.Text("hi"))
				peer.Expect("session/prompt")
				peer.Call("1", "session/request_permission", ask)
				<-c.asked
				require.NoError(t, s.Cancel(t.Context()))
				peer.Expect("session/cancel")
				m, _ := peer.Recv()
				assert.JSONEq(t, `{"outcome":{"outcome":"cancelled"}}`, string(m.Result))

				start := time.Now()
				require.NoError(t, conn.Close())
				waited := make(chan error, 1)
				go func() { waited <- conn.Wait() }() // ends with the handler or the grace
				synctest.Wait()
				assert.Empty(t, waited, "the handler still runs")
				if !stuck {
					close(c.person)
					assert.NoError(t, <-waited)
					return
				}
				err := <-waited
				assert.Equal(t, 5*time.Second, time.Since(start))
				assert.ErrorIs(t, err, acp.ErrHandlerStuck)
				assert.ErrorContains(t, err, "session/request_permission")
				close(c.person)
			})
		})
	}
}

// A prompt after Cancel was called is not cancelled, even if it is sent before Cancel returns.
func TestPromptAfterACancelGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		c := newStubborn()
		close(c.person)
		var conn *client.Conn
		second := make(chan error, 1)
		behind := peertest.Around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
			res, err := next(ctx, method, params)
			if method == acp.MethodSessionCancel {
				go func() { // ends with the turn
					_, err := conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text("2")}})
					second <- err
				}()
				synctest.Wait()
			}
			return res, err
		})
		conn, peer := open(t, c, `{}`, &client.Options{Sending: []acp.Middleware{behind}})
		first := conn.Session("s1").Prompt(t.Context(), acp.Text("1"))
		one := peer.Expect("session/prompt")
		require.NoError(t, first.Cancel(t.Context()))
		peer.Expect("session/cancel")
		two := peer.Expect("session/prompt")
		peer.Answer(one, `{"stopReason":"cancelled"}`)
		_, err := first.Wait()
		require.NoError(t, err)

		peer.Call("1", "session/request_permission", ask)
		m, _ := peer.Recv()
		assert.JSONEq(t, `{"outcome":{"outcome":"selected","optionId":"ok"}}`, string(m.Result), "the user is asked")
		peer.Answer(two, endTurn)
		require.NoError(t, <-second)
	})
}

// While a cancel or a close is being sent, a question of its session has no other response than
// cancelled. If that fails and nothing was sent, the decision counts.
func TestDecisionDuringACancel(t *testing.T) {
	selected, cancelled := `{"outcome":{"outcome":"selected","optionId":"ok"}}`, `{"outcome":{"outcome":"cancelled"}}`
	errRefused := errors.New("refused")
	for name, tt := range map[string]struct {
		method string
		queued bool  // the user decides when it is queued, and not before
		err    error // of a middleware, which sends nothing
		want   string
	}{
		"before a cancel is queued":  {acp.MethodSessionCancel, false, nil, cancelled},
		"after a cancel is queued":   {acp.MethodSessionCancel, true, nil, cancelled},
		"before a cancel is refused": {acp.MethodSessionCancel, false, errRefused, selected},
		"before a close is queued":   {acp.MethodSessionClose, false, nil, cancelled},
		"before a close is refused":  {acp.MethodSessionClose, false, errRefused, selected},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				c := newStubborn()
				decide := sync.OnceFunc(func() { close(c.person); synctest.Wait() })
				deciding := peertest.Around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
					if method != tt.method {
						return next(ctx, method, params)
					}
					if !tt.queued {
						decide()
					}
					if tt.err != nil {
						return nil, tt.err
					}
					defer decide()
					return next(ctx, method, params)
				})
				s, peer := session(t, c, &client.Options{Sending: []acp.Middleware{deciding}})
				peer.Call("1", "session/request_permission", ask)
				<-c.asked
				ended := make(chan error, 1)
				go func() { // ends with the call
					if tt.method == acp.MethodSessionCancel {
						ended <- s.Cancel(t.Context())
					} else {
						ended <- s.Close(t.Context())
					}
				}()
				var closing rawpeer.Message
				if tt.err == nil {
					closing = peer.Expect(tt.method)
				}
				m, _ := peer.Recv()
				assert.JSONEq(t, tt.want, string(m.Result))
				if closing.ID != nil {
					peer.Answer(closing, `{}`)
				}
				require.ErrorIs(t, <-ended, tt.err)
			})
		})
	}
}

// An option that was not offered is told by its id, to the author of the client and to the agent. The log has
// no ids of others.
func TestAnOptionThatWasNotOffered(t *testing.T) {
	var logged bytes.Buffer
	told := ""
	person := &peertest.Client{OnPermission: func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		return acp.Selected("allow-once"), nil
	}}
	_, peer := session(t, person, &client.Options{
		Logger:  slog.New(slog.NewTextHandler(&logged, nil)),
		OnError: func(_ context.Context, _ string, err error) error { told = err.Error(); return nil },
	})
	peer.Call("7", "session/request_permission", `{"sessionId":"s1","toolCall":{"toolCallId":"t"},"options":[{"optionId":"allow_once","name":"O","kind":"allow_once"}]}`)
	response := peer.Next()
	assert.Contains(t, response.Error.Message, `the client chose the permission option "allow-once", which was not offered`)
	assert.Contains(t, told, `the client chose the permission option "allow-once", which was not offered`)
	assert.Contains(t, logged.String(), "was not offered")
	assert.NotContains(t, logged.String(), "option=")
}
