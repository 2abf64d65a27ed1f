package supervise_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

var whole = &supervise.SessionOptions{
	Cwd: "/w", AdditionalDirectories: []string{"/x", "/y"},
	MCPServers:   []acp.MCPServer{&acp.MCPServerStdio{Name: "m", Command: "/m", Args: []string{"-x"}, Env: []acp.EnvVariable{{Name: "KEY", Value: "1"}}}},
	SystemPrompt: &acp.SystemPrompt{Mode: acp.SystemPromptModeAppend, Content: []acp.ContentBlock{acp.Text("Be brief.")}},
}

// wholeText is the text that an agent of world notes for the params of whole.
const wholeText = `/w[/x /y]{"name":"m","command":"/m","args":["-x"],"env":[{"name":"KEY","value":"1"}]}Be brief.`

func TestSessionsAreReopened(t *testing.T) {
	for name, c := range map[string]struct {
		resume, load, forget bool
		how                  supervise.How
		log                  []string
	}{
		"resumed":                  {true, true, false, supervise.HowResumed, []string{"resume s1 " + wholeText}},
		"loaded":                   {false, true, false, supervise.HowLoaded, []string{"load s1 " + wholeText}},
		"new":                      {false, false, false, supervise.HowNew, []string{"new " + wholeText, "mode code", "option big"}},
		"unknown on resume":        {true, false, true, supervise.HowNew, []string{"resume s1 " + wholeText, "new " + wholeText, "mode code", "option big"}},
		"unknown on resume, load":  {true, true, true, supervise.HowNew, []string{"resume s1 " + wholeText, "load s1 " + wholeText, "new " + wholeText, "mode code", "option big"}},
		"unknown on load, no more": {false, true, true, supervise.HowNew, []string{"load s1 " + wholeText, "new " + wholeText, "mode code", "option big"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{resume: c.resume, load: c.load}
				k, s := open(t, w, nil)
				require.NoError(t, s.SetMode(t.Context(), "code"))
				require.NoError(t, s.SetConfigOption(t.Context(), "model", "big"))
				before, err := s.Current(t.Context())
				require.NoError(t, err)
				oldConn, err := k.Conn(t.Context())
				require.NoError(t, err)
				w.take()
				if c.forget {
					w.with(func() { clear(w.sessions) })
				}
				w.kill()
				r := <-k.returns
				assert.Same(t, s, r.Session)
				assert.Equal(t, c.how, r.How)
				assert.NoError(t, r.Err)
				assert.NoError(t, r.Settings)
				assert.EqualValues(t, "s1", r.OldID)
				assert.Equal(t, c.how == supervise.HowNew, r.NewID != r.OldID)
				assert.Equal(t, r.NewID, s.ID())
				assert.Equal(t, c.forget, r.Lost != nil)
				assert.Equal(t, c.log, w.take())
				after, err := s.Current(t.Context())
				require.NoError(t, err)
				assert.NotSame(t, before, after)
				assert.Equal(t, acp.SessionModeID("code"), after.Modes().CurrentModeID)
				newConn, err := k.Conn(t.Context())
				require.NoError(t, err)
				assert.NotSame(t, oldConn, newConn)
				assert.NoError(t, prompt(t, s, "go on"))
			})
		})
	}
}

// Each agent, also one that is started again, receives the initialize request of the options.
func TestInitializeOfTheOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{resume: true}
		k, _ := open(t, w, func(o *supervise.Options) {
			o.Initialize = &acp.InitializeRequest{ProtocolVersion: 1, ClientInfo: &acp.Implementation{Name: "mine", Version: "1"}}
		})
		for range 2 {
			require.NotNil(t, w.live.PeerInfo())
			assert.Equal(t, "mine", w.live.PeerInfo().Name)
			w.kill()
			<-k.returns
		}
	})
}

// While an agent dies, which takes a while, calls wait. So a program that prompts again after each
// failed turn does not loop at full speed.
func TestCallsWaitWhileTheAgentDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, release := &world{resume: true}, make(chan struct{})
		k, s := open(t, w, func(o *supervise.Options) {
			o.Dial = func(ctx context.Context) (stream.Stream, error) {
				wire, err := w.dial(ctx)
				return &slowEnd{wire, release}, err
			}
		})
		before, err := s.Current(t.Context())
		require.NoError(t, err)
		conn, err := k.Conn(t.Context())
		require.NoError(t, err)
		failed := 0
		w.kill()
		<-conn.Ending()
		time.AfterFunc(time.Second, func() { close(release) })
		for current := before; current == before; {
			turn, err := s.Prompt(t.Context(), acp.Text("hi"))
			require.NoError(t, err)
			if _, err = turn.Wait(); err != nil {
				failed++
				require.Less(t, failed, 1000)
			}
			current, err = s.Current(t.Context())
			require.NoError(t, err)
		}
		assert.Zero(t, failed)
	})
}

// An agent that neither answers nor ends is given up after Handshake.
func TestHandshakeIncludesTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		release := make(chan struct{})
		k := newKeeper(t, w, func(o *supervise.Options) {
			o.Handshake = time.Second
			o.Dial = func(context.Context) (stream.Stream, error) {
				_, b := stream.Pipe()
				return &slowEnd{b, release}, nil
			}
		})
		began := time.Now()
		err := k.Start(context.Background())
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "the agent has not responded to initialize in 1s, the time of Options.Handshake")
		assert.Equal(t, time.Second, time.Since(began))
		time.AfterFunc(10*time.Second, func() { close(release) })
		assert.ErrorIs(t, k.Wait(), context.DeadlineExceeded)
		assert.Equal(t, 11*time.Second, time.Since(began), "Wait waits for it")
	})
}

// slowEnd is a stream whose Close takes long.
type slowEnd struct {
	stream.Stream
	release chan struct{}
}

func (s *slowEnd) Close() error {
	<-s.release
	return s.Stream.Close()
}

func TestSettingsAreSetAgainWhereTheyDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{resume: true}
		k, s := open(t, w, nil)
		require.NoError(t, s.SetConfigOptionBool(t.Context(), "fast", true))
		require.NoError(t, s.SetConfigOption(t.Context(), "model", "big"))
		require.NoError(t, s.SetMode(t.Context(), "code"))
		w.with(func() { w.sessions["s1"].mode, w.sessions["s1"].fast = "ask", false }) // the agent has lost them
		w.take()
		w.kill()
		assert.NoError(t, (<-k.returns).Settings)
		assert.Equal(t, []string{"resume s1 " + wholeText, "fast true", "mode code"}, w.take())
	})
}

func TestLoadedThreadIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, threads := &world{load: true}, new(thread.Set)
		k := newKeeper(t, w, func(o *supervise.Options) {
			inner := o.Client
			o.Client = func(c *client.Conn) acp.Client { return threads.Client(inner(c)) }
			o.Conn.Sending = []acp.Middleware{threads.Sending}
		})
		require.NoError(t, k.Start(context.Background()))
		var told []string
		s, err := k.Open(t.Context(), &supervise.SessionOptions{Cwd: "/w", OnUpdate: func(_ context.Context, u acp.SessionUpdate) { told = append(told, fmt.Sprintf("%T", u)) }})
		require.NoError(t, err)
		require.NoError(t, prompt(t, s, "hi"))
		w.kill()
		assert.Equal(t, supervise.HowLoaded, (<-k.returns).How)
		items := threads.Thread("s1").Snapshot().Items
		require.Equal(t, 1, items.Len())
		assert.Equal(t, "history", items.At(0).(*thread.Message).Text())
		assert.Equal(t, []string{"*acp.AgentMessageChunk"}, told)
	})
}

func TestDeathInATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{resume: true}
		k, s := open(t, w, nil)
		assert.ErrorIs(t, prompt(t, s, "die"), acp.ErrClosed)
		<-k.returns
		require.NoError(t, prompt(t, s, "next"))
		assert.Equal(t, []string{"new " + wholeText, "prompt die", "resume s1 " + wholeText, "prompt next"}, w.take(), "no prompt is sent twice")
	})
}

func TestPromptWaitsWhileTheAgentIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{resume: true}
		k, s := open(t, w, nil)
		w.kill()
		<-k.downs
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := s.Prompt(ctx, acp.Text("impatient"))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NoError(t, s.Cancel(t.Context()), "there is no turn")
		require.NoError(t, prompt(t, s, "patient"))
		assert.NotContains(t, w.take(), "prompt impatient")
	})
}

func TestPromptDeadlineKeepsTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{resume: true}
		k, s := open(t, w, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		turn, err := s.Prompt(ctx, acp.Text("wait"))
		require.NoError(t, err)
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
		synctest.Wait()
		assert.Equal(t, 1, w.dials)
		assert.Empty(t, k.downs)
	})
}

// If the agent dies again while a session is being opened, the session is opened later, once.
func TestDeathDuringReopen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{resume: true, dieOnResume: 2}
		k, s := open(t, w, nil)
		w.kill()
		r := <-k.returns
		assert.Equal(t, supervise.HowResumed, r.How)
		assert.EqualValues(t, "s1", r.OldID)
		assert.EqualValues(t, "s1", r.NewID)
		for i := range 3 {
			assert.Equal(t, i+1, (<-k.downs).Failures)
		}
		require.NoError(t, prompt(t, s, "go on"))
		synctest.Wait()
		assert.Empty(t, k.returns)
		resume := "resume s1 " + wholeText
		assert.Equal(t, []string{"new " + wholeText, resume, resume, resume, "prompt go on"}, w.take(), "never as a new one")
	})
}

// Sessions are opened on one connection at a time, even if the agent dies before they begin.
func TestDeathBeforeReopen(t *testing.T) {
	const deaths, sessions = 30, 4
	w := &world{resume: true}
	k := newKeeper(t, w, func(o *supervise.Options) {
		o.Restart = supervise.Restart{Min: time.Nanosecond, Max: time.Nanosecond, Limit: -1}
		dial, n := o.Dial, 0
		o.Dial = func(ctx context.Context) (stream.Stream, error) {
			wire, err := dial(ctx)
			if n++; n > 1 && n <= deaths+1 {
				return &doomed{Stream: wire}, err
			}
			return wire, err
		}
	})
	require.NoError(t, k.Start(context.Background()))
	for range sessions {
		_, err := k.Open(t.Context(), whole)
		require.NoError(t, err)
	}
	w.kill()
	for range deaths + 1 {
		<-k.downs
	}
	for range sessions {
		r := <-k.returns
		assert.Equal(t, supervise.HowResumed, r.How)
		assert.NoError(t, prompt(t, r.Session, "go on"))
	}
	assert.Equal(t, deaths+2, w.dials)
}

// doomed ends after one message.
type doomed struct {
	stream.Stream
	read bool
}

func (d *doomed) Read() ([]byte, error) {
	if d.read {
		return nil, io.EOF
	}
	d.read = true
	return d.Stream.Read()
}

func TestStartFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := &world{dieAtOnce: 1}
		k := newKeeper(t, w, nil)
		assert.ErrorIs(t, k.Start(context.Background()), acp.ErrClosed)
		assert.Zero(t, time.Since(began))
		assert.Equal(t, 1, w.dials)
		assert.Error(t, k.Wait())

		refused := errors.New("no such program")
		k = newKeeper(t, w, func(o *supervise.Options) {
			o.Dial = func(context.Context) (stream.Stream, error) { return nil, refused }
		})
		assert.ErrorIs(t, k.Start(context.Background()), refused)
	})
}

func TestRestartStormStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		k, s := open(t, w, func(o *supervise.Options) {
			o.Restart = supervise.Restart{Min: time.Second, Max: 4 * time.Second, Limit: 4}
		})
		w.with(func() { w.dieAtOnce = 1000 })
		began := time.Now()
		w.kill()
		err := k.Wait()
		assert.ErrorIs(t, err, supervise.ErrGaveUp)
		assert.ErrorIs(t, err, acp.ErrClosed)
		assert.Equal(t, 1+4, w.dials)
		// The pauses are 1, 2, 4 and 4 seconds, half of each random.
		assert.GreaterOrEqual(t, time.Since(began), 5500*time.Millisecond)
		assert.LessOrEqual(t, time.Since(began), 12*time.Second)
		_, err = s.Prompt(t.Context(), acp.Text("x"))
		assert.ErrorIs(t, err, supervise.ErrGaveUp)
		_, err = k.Conn(t.Context())
		assert.ErrorIs(t, err, supervise.ErrGaveUp)
	})
}

func TestLongRunResetsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		k := newKeeper(t, w, func(o *supervise.Options) { o.Restart = supervise.Restart{Limit: 1} })
		require.NoError(t, k.Start(context.Background()))
		for range 5 {
			time.Sleep(2 * time.Minute) // synctest time
			w.kill()
			assert.Equal(t, 1, (<-k.downs).Failures)
		}
		time.Sleep(time.Minute / 2)
		_, err := k.Conn(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 6, w.dials)
		w.kill()
		assert.Equal(t, 2, (<-k.downs).Failures)
		assert.ErrorIs(t, k.Wait(), supervise.ErrGaveUp)
	})
}

func TestPermissionPendingAtTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{resume: true, asking: make(chan struct{})}
		k, s := open(t, w, nil)
		turn, err := s.Prompt(t.Context(), acp.Text("ask"))
		require.NoError(t, err)
		<-w.asking
		synctest.Wait() // the user has not answered yet
		w.kill()
		assert.Error(t, <-k.person.ended, "nobody waits for the answer any more")
		_, err = turn.Wait()
		assert.ErrorIs(t, err, acp.ErrClosed)
		assert.Equal(t, supervise.HowResumed, (<-k.returns).How)
		assert.Equal(t, []string{"new " + wholeText, "prompt ask", "resume s1 " + wholeText}, w.take())
	})
}

func TestSignIn(t *testing.T) {
	signIn := func(ctx context.Context, conn *client.Conn) error {
		_, err := conn.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: "login"})
		return err
	}
	t.Run("once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := &world{resume: true, auth: true}
			k := newKeeper(t, w, func(o *supervise.Options) { o.SignIn = signIn })
			require.NoError(t, k.Start(context.Background()))
			for range 3 {
				_, err := k.Open(t.Context(), whole)
				require.NoError(t, err)
			}
			assert.Equal(t, []string{"new " + wholeText, "authenticate", "new " + wholeText, "new " + wholeText, "new " + wholeText}, w.take())
			w.with(func() { w.signedIn = false })
			w.kill()
			for range 3 {
				assert.Equal(t, supervise.HowResumed, (<-k.returns).How)
			}
			n := 0
			for _, line := range w.take() {
				if line == "authenticate" {
					n++
				}
			}
			assert.Equal(t, 1, n, "three sessions, one sign-in")
		})
	})
	t.Run("no loop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			w := &world{resume: true, load: true}
			k, s := open(t, w, func(o *supervise.Options) {
				o.SignIn = func(context.Context, *client.Conn) error { calls++; return nil } // does not sign in
			})
			w.take()
			w.with(func() { w.auth = true })
			w.kill()
			r := <-k.returns
			assert.ErrorIs(t, r.Err, rpcerr.ErrAuthRequired)
			assert.Empty(t, r.How)
			assert.Equal(t, 1, calls)
			assert.Equal(t, []string{"resume s1 " + wholeText, "resume s1 " + wholeText}, w.take(), "neither loaded nor new")
			_, err := s.Prompt(t.Context(), acp.Text("x"))
			assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
			assert.ErrorIs(t, s.Retry(t.Context()), rpcerr.ErrAuthRequired)
			w.with(func() { w.signedIn = true }) // the user signed in elsewhere
			require.NoError(t, s.Retry(t.Context()))
			assert.EqualValues(t, "s1", s.ID())
			assert.Equal(t, 1, calls)
		})
	})
	t.Run("fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, refused := &world{auth: true}, errors.New("refused")
			k := newKeeper(t, w, func(o *supervise.Options) { o.SignIn = func(context.Context, *client.Conn) error { return refused } })
			require.NoError(t, k.Start(context.Background()))
			_, err := k.Open(t.Context(), whole)
			assert.ErrorIs(t, err, refused)
			assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
		})
	})
}

func TestOpenStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{load: true, sessions: map[acp.SessionID]*stored{"old": {mode: "ask", option: "small"}}}
		k := newKeeper(t, w, nil)
		require.NoError(t, k.Start(context.Background()))
		s, err := k.Open(t.Context(), &supervise.SessionOptions{ID: "old", Cwd: "/w"})
		require.NoError(t, err)
		assert.EqualValues(t, "old", s.ID())
		_, err = k.Open(t.Context(), &supervise.SessionOptions{ID: "other", Cwd: "/w"})
		assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound, "a stored session is not replaced by a new one")
		require.NoError(t, s.Close(t.Context()))
		_, err = s.Prompt(t.Context(), acp.Text("x"))
		assert.ErrorIs(t, err, client.ErrSessionClosed)
		w.take()
		w.kill()
		<-k.downs
		_, err = k.Conn(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		assert.Empty(t, w.take(), "a closed session does not return")
	})
}

// A session that is closed while it is being opened again does not stay open at the agent.
func TestCloseDuringReopen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{resume: true, hold: make(chan struct{})}
		ended := make(chan acp.SessionID, 1)
		k, s := open(t, w, func(o *supervise.Options) {
			serve := o.Client
			o.Client = func(c *client.Conn) acp.Client {
				c.OnSessionEnd(func(id acp.SessionID) { ended <- id })
				return serve(c)
			}
		})
		w.kill()
		<-k.downs
		_, err := k.Conn(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, s.Close(t.Context()))
		assert.Empty(t, ended)
		close(w.hold)
		synctest.Wait()
		assert.EqualValues(t, "s1", <-ended)
		assert.Empty(t, k.returns, "there is no one to tell")
	})
}

func TestLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		k := newKeeper(t, w, nil)
		assert.ErrorContains(t, k.Wait(), "Start first")
		_, err := k.Conn(t.Context())
		assert.ErrorContains(t, err, "Start first")
		require.NoError(t, k.Start(context.Background()))
		assert.ErrorContains(t, k.Start(context.Background()), "already started")
		s, err := k.Open(t.Context(), whole)
		require.NoError(t, err)
		k.Close()
		k.Close()
		assert.NoError(t, k.Wait())
		_, err = s.Prompt(t.Context(), acp.Text("x"))
		assert.ErrorIs(t, err, supervise.ErrClosed)
		assert.Equal(t, 1, w.dials)

		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(context.Background())
		k = newKeeper(t, w, nil)
		require.NoError(t, k.Start(ctx))
		cancel(why)
		assert.ErrorIs(t, k.Wait(), why)

		assert.ErrorContains(t, supervise.New(nil).Start(t.Context()), "must be set")
	})
}

func TestCloseWhileTheAgentIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		k := newKeeper(t, w, func(o *supervise.Options) { o.Restart.Min = time.Hour; o.Restart.Max = time.Hour })
		require.NoError(t, k.Start(context.Background()))
		w.kill()
		<-k.downs
		k.Close()
		assert.NoError(t, k.Wait())
		assert.Equal(t, 1, w.dials)
	})
}

// Wait waits for a Start in progress, because a process may already run.
func TestWaitDuringStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dialing, release := make(chan struct{}), make(chan struct{})
		k := newKeeper(t, &world{}, func(o *supervise.Options) {
			o.Dial = func(ctx context.Context) (stream.Stream, error) {
				close(dialing)
				<-ctx.Done()
				<-release // Start ends what it has started
				return nil, context.Cause(ctx)
			}
		})
		started, waited := make(chan error, 1), make(chan error, 1)
		go func() { started <- k.Start(context.Background()) }() // ends with the Supervisor
		<-dialing
		go func() { waited <- k.Wait() }() // ends with the Supervisor
		synctest.Wait()
		k.Close()
		synctest.Wait()
		assert.Empty(t, waited)
		close(release)
		assert.ErrorIs(t, <-started, supervise.ErrClosed)
		assert.NoError(t, <-waited)
	})
}

// A prompt during a turn is refused at once: nothing was sent.
func TestPromptDuringATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := open(t, &world{resume: true}, nil)
		turn, err := s.Prompt(t.Context(), acp.Text("wait"))
		require.NoError(t, err)
		_, err = s.Prompt(t.Context(), acp.Text("x"))
		assert.ErrorIs(t, err, acp.ErrTurnRunning)
		require.NoError(t, turn.Cancel(t.Context()))
		_, _ = turn.Wait() // it was cancelled
	})
}
