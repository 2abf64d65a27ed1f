package client_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// recorder collects the texts of updates.
type recorder struct{ texts []string }

func (r *recorder) add(_ context.Context, u acp.SessionUpdate) { r.texts = append(r.texts, text(u)) }

// Settings that the agent reports after its response are newer than those of the response, even if
// the caller handles the response later.
func TestSettingsReportedAfterAResponse(t *testing.T) {
	const (
		mode   = `{"sessionId":"s1","update":{"sessionUpdate":"current_mode_update","currentModeId":%q}}`
		option = `{"sessionId":"s1","update":{"sessionUpdate":"config_option_update","configOptions":[{"id":%q,"name":"x","type":"boolean","currentValue":true}]}}`
	)
	caps := `{"loadSession":true,"sessionCapabilities":{"resume":{}}}`
	answer := `{"modes":{"currentModeId":"old","availableModes":[{"id":"old","name":"Old"}]},"configOptions":[{"id":"old","name":"x","type":"boolean","currentValue":true}]}`
	for name, call := range map[string]func(context.Context, *client.Session, *client.Conn) error{
		"SetMode": func(ctx context.Context, s *client.Session, _ *client.Conn) error { return s.SetMode(ctx, "old") },
		"SetConfigOption": func(ctx context.Context, s *client.Session, _ *client.Conn) error {
			return s.SetConfigOption(ctx, "old", "x")
		},
		"StartLoadedSession": func(ctx context.Context, _ *client.Session, c *client.Conn) error {
			_, err := c.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: "s1", Cwd: "/"}, nil)
			return err
		},
		"StartResumedSession": func(ctx context.Context, _ *client.Session, c *client.Conn) error {
			_, err := c.StartResumedSession(ctx, &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := peertest.Around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
					res, err := next(ctx, method, params)
					synctest.Wait()
					return res, err
				})
				c, peer := open(t, &peertest.Client{}, caps, &client.Options{Sending: []acp.Middleware{slow}})
				s := c.Session("s1")
				go func() { // ends at once
					m, _ := peer.Recv()
					peer.Notify("session/update", fmt.Sprintf(mode, "before"))
					peer.Notify("session/update", fmt.Sprintf(option, "before"))
					peer.Answer(m, answer)
					peer.Notify("session/update", fmt.Sprintf(mode, "new"))
					peer.Notify("session/update", fmt.Sprintf(option, "new"))
				}()
				require.NoError(t, call(t.Context(), s, c))
				assert.Equal(t, acp.SessionModeID("new"), s.Modes().CurrentModeID)
				require.Len(t, s.ConfigOptions(), 1)
				assert.Equal(t, acp.SessionConfigID("new"), s.ConfigOptions()[0].ID)
			})
		})
	}
}

// The updates kept for unknown sessions are bounded.
func TestUpdatesOfUnknownSessionsAreKeptUpToALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := open(t, &peertest.Client{}, `{}`, nil)
		long := strings.Repeat("x", 300<<10)
		for range 5 {
			peer.Update("s1", long)
		}
		peer.Update("s1", "short")
		peer.Update("s2", "other")
		synctest.Wait()
		var one, two recorder
		c.Session("s1").OnUpdate(one.add)
		assert.Len(t, one.texts, 3, "no gap: after the first that was dropped nothing is kept")
		c.Session("s2").OnUpdate(two.add)
		assert.Equal(t, []string{"other"}, two.texts)
	})
}

// While a slow OnUpdate receives the kept updates, later updates do not overtake them.
func TestOrderWhileKeptUpdatesAreHandedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := open(t, &peertest.Client{}, `{}`, nil)
		peer.Update("s1", "1")
		peer.Update("s1", "2")
		synctest.Wait()
		var r recorder
		c.Session("s1").OnUpdate(func(ctx context.Context, u acp.SessionUpdate) {
			if len(r.texts) == 0 {
				peer.Update("s1", "3")
				synctest.Wait() // update 3 was handled
			}
			r.add(ctx, u)
		})
		assert.Equal(t, []string{"1", "2", "3"}, r.texts)
		peer.Update("s1", "4")
		synctest.Wait()
		assert.Equal(t, []string{"1", "2", "3", "4"}, r.texts)
	})
}

// A turn that is not read causes back-pressure, and does not fill the memory.
func TestBackPressureOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		const backlog = 100 << 10
		var size, handled atomic.Int64 // the size of each update, and the number of handled ones
		c := &peertest.Client{OnUpdate: func(ctx context.Context, _ *acp.SessionNotification) error {
			size.Store(rpc.MessageSize(ctx))
			handled.Add(1)
			return nil
		}}
		s, peer := session(t, c, &client.Options{Limits: acp.Limits{Backlog: backlog}})
		turn := s.Prompt(t.Context(), acp.Text("hi"))
		m := peer.Expect("session/prompt")
		const all = 2000
		sent := make(chan struct{})
		go func() { // ends when all is written
			defer close(sent)
			for range all {
				peer.Update("s1", strings.Repeat("x", 1<<10))
			}
			peer.Answer(m, endTurn)
		}()
		synctest.Wait()
		require.Greater(t, size.Load(), int64(1<<10))
		require.Less(t, size.Load(), int64(3<<10))
		assert.Equal(t, backlog/size.Load()+1, handled.Load(), "reading stops with the update that exceeds the backlog")
		texts, err := read(turn)
		require.NoError(t, err)
		assert.Len(t, texts, all)
		<-sent
	})
}

// A decoded update is larger than its message. The queue of a turn that is not read stays within
// the budget.
func TestBackPressureOfATurnAfterAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		var release chan struct{}
		var handled atomic.Int64
		c := &peertest.Client{OnUpdate: func(context.Context, *acp.SessionNotification) error {
			<-release
			handled.Add(1)
			return nil
		}}
		release = make(chan struct{})
		const budget, all = 1 << 20, 2000
		// Forty objects in half a kilobyte take eight times as much memory.
		line := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk",` +
			`"content":{"type":"text","text":"x"},"_meta":{"a":[{}` + strings.Repeat(`,{"":0}`, 40) + `]}}}}`
		s, peer := session(t, c, &client.Options{Limits: acp.Limits{Backlog: budget}})
		turn := s.Prompt(t.Context(), acp.Text("hi"))
		m := peer.Expect("session/prompt")
		sent := make(chan struct{})
		go func() { // ends when all is written
			defer close(sent)
			for range all {
				peer.Send("%s", line)
			}
			peer.Answer(m, endTurn)
		}()
		synctest.Wait() // the handler blocks, and the queue is full
		close(release)
		synctest.Wait()
		before := handled.Load()
		assert.Less(t, before*int64(len(line)), int64(budget/4), "handing out has stopped, before the queue is empty")
		texts, err := read(turn)
		require.NoError(t, err)
		assert.Len(t, texts, all)
		assert.EqualValues(t, all, handled.Load())
		<-sent
	})
}

// If an agent names more and more sessions, the oldest are forgotten, and memory stays bounded.
func TestManyUnknownSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := open(t, &peertest.Client{}, `{}`, nil)
		long := strings.Repeat("x", 700<<10)
		for i := range 30 {
			peer.Update(fmt.Sprint("s", i), long)
		}
		synctest.Wait()
		var oldest, newest recorder
		c.Session("s0").OnUpdate(oldest.add)
		c.Session("s29").OnUpdate(newest.add)
		assert.Empty(t, oldest.texts)
		assert.Len(t, newest.texts, 1)
		for i := range 5000 {
			peer.Update(fmt.Sprint("t", i), "short")
		}
		synctest.Wait()
		var first, last recorder
		c.Session("t0").OnUpdate(first.add)
		c.Session("t4999").OnUpdate(last.add)
		assert.Empty(t, first.texts)
		assert.Len(t, last.texts, 1)
	})
}

// If OnUpdate panics or calls runtime.Goexit while it receives kept updates, the later updates
// still arrive, and the backlog is released.
func TestOnUpdateThatPanicsWhileUpdatesWait(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("oh") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				c, peer := open(t, &peertest.Client{}, `{}`, &client.Options{Limits: acp.Limits{Backlog: 10 << 10}})
				peer.Update("s1", "1")
				peer.Update("s1", "2")
				synctest.Wait()
				var r recorder
				ended := make(chan struct{})
				go func() { // ends when all updates were delivered
					defer close(ended)
					c.Session("s1").OnUpdate(func(ctx context.Context, u acp.SessionUpdate) {
						r.add(ctx, u)
						if len(r.texts) == 1 {
							for range 5 {
								peer.Update("s1", strings.Repeat("x", 1<<10))
							}
							synctest.Wait() // they were handled and count against the backlog
							fail()
						}
					})
				}()
				<-ended
				assert.Len(t, r.texts, 7)
				for range 50 { // more than the backlog: the earlier updates no longer count
					peer.Update("s1", strings.Repeat("y", 1<<10))
				}
				synctest.Wait()
				assert.Len(t, r.texts, 57)
			})
		})
	}
}

// A client that opens sessions with the plain methods for years does not remember all of them.
func TestManyPlainSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := open(t, &peertest.Client{}, `{}`, nil)
		go func() { // ends with the last response
			for i := range 10_000 {
				peer.Answer(peer.Expect("session/new"), fmt.Sprintf(`{"sessionId":"s%d"}`, i))
			}
		}()
		for range 10_000 {
			_, err := c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
			require.NoError(t, err)
		}
		peer.Update("s0", "kept")
		peer.Update("s9999", "dropped")
		synctest.Wait()
		var oldest, newest recorder
		c.Session("s0").OnUpdate(oldest.add)
		c.Session("s9999").OnUpdate(newest.add)
		assert.Equal(t, []string{"kept"}, oldest.texts, "forgotten: like a session no one has opened")
		assert.Empty(t, newest.texts)
	})
}

// If the agent cannot close sessions, Close still ends the session for the client.
func TestCloseWithoutTheCapabilityEndsTheSession(t *testing.T) {
	c, _ := open(t, &peertest.Client{}, `{}`, nil)
	s := c.Session("s1")
	var missing *acp.CapabilityError
	require.ErrorAs(t, s.Close(t.Context()), &missing)
	_, err := s.Prompt(t.Context(), acp.Text("go")).Wait()
	assert.ErrorIs(t, err, client.ErrSessionClosed)
}

// rooted is a client that serves files only for sessions whose folders are known.
type rooted struct {
	peertest.Client
	conn *client.Conn
}

func (r *rooted) ReadTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	dirs, _, _ := client.Asked(ctx, req.SessionID)
	if dirs == nil {
		return nil, rpcerr.InvalidParams(nil).WithDetail("unknown session")
	}
	return &acp.ReadTextFileResponse{Content: fmt.Sprint(dirs)}, nil
}

const readFile = `{"jsonrpc":"2.0","id":%d,"method":"fs/read_text_file","params":{"sessionId":%q,"path":"/work/a"}}`

// A request for a file arrives directly after the response with the id of its session.
func TestRequestAfterTheResponseFindsTheRoots(t *testing.T) {
	r := &rooted{}
	var peer *rawpeer.Peer
	r.conn, peer = open(t, r, `{"sessionCapabilities":{"additionalDirectories":{}}}`, nil)
	var played sync.WaitGroup
	const times = 1000
	played.Go(func() { // ends with the last response
		for created, served := 0, 0; served < times; {
			m, ok := peer.Recv()
			switch {
			case !ok:
				t.Error("the connection has ended")
				return
			case m.Method == "session/new":
				id := fmt.Sprint("s", created)
				peer.Answer(m, fmt.Sprintf(`{"sessionId":%q}`, id))
				peer.Send(readFile, created, id)
				created++
			default:
				served++
				if m.Error != nil {
					t.Errorf("request %s: %+v", m.ID, m.Error)
				}
			}
		}
	})
	for range times {
		_, err := r.conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work", AdditionalDirectories: []string{"/more"}})
		require.NoError(t, err)
	}
	played.Wait()
}

// waiting is a client whose request for a file lasts until the test ends it.
type waiting struct {
	peertest.Client
	begun chan context.Context // gets the ctx of the request
	end   chan struct{}
}

func (w *waiting) ReadTextFile(ctx context.Context, _ *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	w.begun <- ctx
	<-w.end
	return &acp.ReadTextFileResponse{}, nil
}

// A handler that has waited learns what became of the session meanwhile.
func TestAskedReadsThePresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiting{begun: make(chan context.Context), end: make(chan struct{})}
		s, peer := session(t, w, nil)
		peer.Send(readFile, 1, "s1")
		ctx := <-w.begun
		roots, turn, ok := client.Asked(ctx, "s1")
		assert.Equal(t, []string{"/"}, roots)
		assert.Zero(t, turn)
		assert.True(t, ok)

		prompt := s.Prompt(t.Context(), acp.Text("hi"))
		m := peer.Expect("session/prompt")
		_, turn, _ = client.Asked(ctx, "s1")
		assert.NotZero(t, turn)
		peer.Answer(m, endTurn)
		_, err := prompt.Wait()
		require.NoError(t, err)

		var agent sync.WaitGroup
		agent.Go(func() { peer.Answer(peer.Expect("session/close"), `{}`) }) // ends with the response
		require.NoError(t, s.Close(t.Context()))
		agent.Wait()
		roots, turn, ok = client.Asked(ctx, "s1")
		assert.Nil(t, roots)
		assert.Zero(t, turn)
		assert.False(t, ok)
		close(w.end)

		_, _, ok = client.Asked(t.Context(), "s1")
		assert.False(t, ok, "no handler has this ctx")
		free, stop := client.TurnContext(t.Context(), "s1")
		require.NoError(t, free.Err())
		stop()
		assert.ErrorIs(t, free.Err(), context.Canceled)
	})
}

// A notification handler makes a call. The call does not wait for its place in the order, and
// requests do not wait for the handler.
func TestRootsOfASessionOpenedInsideANotificationHandler(t *testing.T) {
	results := make(chan error, 1)
	r := &rooted{}
	r.OnUpdate = func(ctx context.Context, _ *acp.SessionNotification) error {
		_, err := r.conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
		results <- err
		return nil
	}
	var peer *rawpeer.Peer
	r.conn, peer = open(t, r, `{}`, nil)
	for i := range 300 {
		peer.Update("x", "x")
		m := peer.Expect("session/new")
		id := fmt.Sprint("s", i)
		peer.Answer(m, fmt.Sprintf(`{"sessionId":%q}`, id))
		peer.Send(readFile, i, id)
		m, ok := peer.Recv()
		require.True(t, ok)
		require.Nil(t, m.Error, "request %d", i)
		require.NoError(t, <-results)
	}
}
