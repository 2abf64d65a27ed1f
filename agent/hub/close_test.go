package hub_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// slowStore is a store whose logs take long to close.
type slowStore struct {
	journal.Store
	closing chan struct{} // gets a token when a log is being closed
	proceed chan struct{}
}

func (s *slowStore) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	log, err := s.Store.Create(ctx, id, m)
	return &slowLog{log, s}, err
}

type slowLog struct {
	journal.Log
	store *slowStore
}

func (l *slowLog) Close() error {
	l.store.closing <- struct{}{}
	<-l.store.proceed
	return l.Log.Close()
}

// A client that comes while an idle session is being closed waits, and gets it.
func TestLoadWhileTheSessionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{new(journal.Memory), make(chan struct{}, 1), make(chan struct{})}
		h := start(t, &worker{turn: says("hello")}, &hub.Options{Store: store})
		a := join(t, h, "")
		s := a.open()
		a.prompt(s, "one")
		a.leave()
		<-store.closing
		b := join(t, h, "")
		loaded := make(chan error, 1)
		go func() { // ends with the response
			_, err := b.conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: s.ID(), Cwd: "/work"})
			loaded <- err
		}()
		synctest.Wait()
		assert.Empty(t, loaded)
		close(store.proceed)
		require.NoError(t, <-loaded)
		assert.Equal(t, []string{"user: one", "agent: hello"}, b.transcript(s.ID()))
	})
}

// The session that was not used for longest makes room at the agent, and is opened there again.
func TestSessionsTakeTurnsAtTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: says("hello"), loads: true}
		h := start(t, w, &hub.Options{Limits: hub.Limits{Agents: 1}})
		a := join(t, h, "")
		first, second := a.open(), a.open()
		for range 3 {
			a.prompt(first, "to the first")
			a.prompt(second, "to the second")
		}
		assert.Equal(t, 2, w.sessions)
		for id, text := range map[acp.SessionID]string{first.ID(): "user: to the first", second.ID(): "user: to the second"} {
			b := join(t, h, "")
			b.load(id)
			assert.Equal(t, strings.Repeat(text+"agent: hello", 3), strings.Join(b.transcript(id), ""))
		}
	})
}

// With a turn in each session there is no room for another one, and the text says when to try again.
func TestNoRoomAtTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: func(ctx context.Context, _ *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}}
		h := start(t, w, &hub.Options{Limits: hub.Limits{Agents: 1}})
		a := join(t, h, "")
		s := a.open()
		s.Prompt(t.Context(), acp.Text("go"))
		synctest.Wait()
		_, err := a.conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
		require.ErrorContains(t, err, "try again when one has ended")
		list, err := a.conn.ListSessions(t.Context(), &acp.ListSessionsRequest{})
		require.NoError(t, err)
		assert.Len(t, list.Sessions, 1, "nothing of the refused session is left")
		require.NoError(t, s.Cancel(t.Context()))
	})
}

// The cancellation of one request ends that prompt, and not the turn of another client.
func TestCancelOfOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			select {
			case <-time.After(time.Minute):
				return acp.StopReasonEndTurn, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}}
		h := start(t, w, nil)
		a := join(t, h, "")
		s := a.open()
		running := s.Prompt(t.Context(), acp.Text("runs"))
		synctest.Wait() // the turn runs before the other client asks
		c := connect(t, h, "")
		c.call(t, 1, acp.MethodInitialize, `{"protocolVersion":1}`)
		c.call(t, 2, acp.MethodSessionLoad, fmt.Sprintf(methods[acp.MethodSessionLoad].params, string(s.ID())))
		c.send(t, 3, acp.MethodSessionPrompt, fmt.Sprintf(methods[acp.MethodSessionPrompt].params, string(s.ID())))
		synctest.Wait()
		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}`)))
		c.response(t, 3)
		res, err := running.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
		assert.Equal(t, []string{"runs"}, w.seen())
	})
}

// hanging is a worker that never answers one method.
type hanging struct {
	working
	method string
}

func (a *hanging) wait(ctx context.Context, method string) error {
	if method == a.method {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (a *hanging) Initialize(ctx context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	if err := a.wait(ctx, acp.MethodInitialize); err != nil {
		return nil, err
	}
	return a.working.Initialize(ctx, req)
}

func (a *hanging) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	if err := a.wait(ctx, acp.MethodSessionNew); err != nil {
		return nil, err
	}
	return a.working.NewSession(ctx, req)
}

func (a *hanging) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if err := a.wait(ctx, acp.MethodSessionLoad); err != nil {
		return nil, err
	}
	return a.working.LoadSession(ctx, req)
}

// Nobody waits for ever for an agent that does not answer when it is started or a session is opened: the client gets an error
// that says so. A session that is not loaded in time is not given up for a new one.
func TestAgentThatHangs(t *testing.T) {
	for method, c := range map[string]struct {
		within time.Duration
		text   string
	}{
		acp.MethodInitialize:  {10 * time.Second, "the agent could not be started: the log of the hub says why"},
		acp.MethodSessionNew:  {time.Minute, "the agent did not open the session in time: try again"},
		acp.MethodSessionLoad: {time.Minute, "the agent did not open the session in time: try again"},
	} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worker{turn: says("hello"), loads: true}
				store := new(journal.Memory)
				h := start(t, w, &hub.Options{Store: store})
				id := join(t, h, "").open().ID()
				require.NoError(t, h.Shutdown(t.Context()))

				opts := &hub.Options{Store: store, Logger: quiet}
				opts.Agent.Dial = peertest.Dialer(peertest.Serving(func(c *agent.Conn) acp.Agent {
					return &hanging{working{w: w, c: c}, method}
				}, nil))
				h = hub.New(opts)
				t.Cleanup(func() { _ = h.Shutdown(context.Background()) })
				a := connect(t, h, "")
				for n := range 2 {
					began := time.Now()
					res := a.call(t, 10*n, acp.MethodInitialize, methods[acp.MethodInitialize].params)
					if method != acp.MethodInitialize {
						require.Contains(t, res, `"result"`)
						res = a.call(t, 10*n+1, acp.MethodSessionLoad, fmt.Sprintf(methods[acp.MethodSessionLoad].params, string(id)))
						require.Contains(t, res, `"result"`)
					}
					switch method {
					case acp.MethodSessionNew:
						res = a.call(t, 10*n+2, method, methods[method].params)
					case acp.MethodSessionLoad:
						res = a.call(t, 10*n+2, acp.MethodSessionPrompt, fmt.Sprintf(methods[acp.MethodSessionPrompt].params, string(id)))
					}
					assert.Contains(t, res, `"error":{"code":-32603,`)
					assert.Contains(t, res, c.text)
					assert.Equal(t, c.within, time.Since(began))
				}
				assert.Equal(t, 1, w.sessions)
				assert.Empty(t, w.seen())
			})
		})
	}
}

// What the agent sends in the first turn after it was started again is shown in that turn, and its question is asked, although
// the prompt was waiting for the agent.
func TestFirstPromptAfterTheAgentReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: asks}
		down := make(chan struct{}, 1)
		o := new(hub.Options)
		o.Agent.OnDown = func(supervise.Down) { down <- struct{}{} }
		h := start(t, w, o)
		a := join(t, h, "")
		a.answer = selects("yes")
		s := a.open()
		a.prompt(s, "first")
		for n := range 100 {
			w.crash()
			<-down
			require.Equal(t, acp.StopReasonEndTurn, a.prompt(s, fmt.Sprint(n)))
			lines := a.transcript(s.ID())
			require.Equal(t, "agent: chosen: yes", lines[len(lines)-1], "%d", n)
		}
	})
}
