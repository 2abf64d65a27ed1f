package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// replaying is an agent whose replays are those of a script.
type replaying struct {
	scripted
	replay func(ctx context.Context, id acp.SessionID) error
}

func (a *replaying) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return nil, a.replay(ctx, req.SessionID)
}

func (a *replaying) CloseSession(context.Context, *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return nil, nil
}

// The marker comes once for each replay, after it and before the state of the session and the response.
func TestTheEndOfAReplayIsMarked(t *testing.T) {
	for name, tt := range map[string]struct {
		params string
		replay func(ctx context.Context, s *agent.Session) error
		want   []string
	}{
		"history": {`,"replayFrom":{"type":"start"}`, func(ctx context.Context, s *agent.Session) error {
			return errors.Join(s.UserMessage(ctx, "u"), s.SendState(ctx))
		}, []string{"user_message", "replay_complete", "idle", "response 1"}},
		"nothing to replay":   {`,"replayFrom":{"type":"start"}`, func(context.Context, *agent.Session) error { return nil }, []string{"replay_complete", "response 1"}},
		"a place of a vendor": {`,"replayFrom":{"type":"_x"}`, func(context.Context, *agent.Session) error { return nil }, []string{"replay_complete", "response 1"}},
		"the state twice": {`,"replayFrom":{"type":"start"}`, func(ctx context.Context, s *agent.Session) error {
			return errors.Join(s.SendState(ctx), s.SendState(ctx))
		}, []string{"replay_complete", "idle", "idle", "response 1"}},
		"no replay": {``, func(ctx context.Context, s *agent.Session) error { return s.SendState(ctx) }, []string{"idle", "response 1"}},
		"null":      {`,"replayFrom":null`, func(ctx context.Context, s *agent.Session) error { return s.SendState(ctx) }, []string{"idle", "response 1"}},
		"a replay that fails": {`,"replayFrom":{"type":"start"}`, func(ctx context.Context, s *agent.Session) error {
			return errors.Join(s.UserMessage(ctx, "u"), errors.New("broken"))
		}, []string{"user_message", "error 1 -32603"}},
		"a replay that panics": {`,"replayFrom":{"type":"start"}`, func(context.Context, *agent.Session) error { panic("broken") }, []string{"error 1 -32603"}},
		"the agent's own marker": {`,"replayFrom":{"type":"start"}`, func(ctx context.Context, s *agent.Session) error {
			assert.ErrorContains(t, s.Update(ctx, &acp.ReplayComplete{}), "replay_complete is sent by the Conn")
			return nil
		}, []string{"replay_complete", "response 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &replaying{}
				r, end := initialized(t, func(c *agent.Conn) acp.Agent { a.conn = c; return a }, nil)
				a.replay = func(ctx context.Context, id acp.SessionID) error { return tt.replay(ctx, a.conn.Session(id)) }
				r.Call("1", "session/resume", `{"sessionId":"s1","cwd":"/"`+tt.params+`}`)
				r.want(tt.want...)
				require.NoError(t, a.conn.Session("s1").UserMessage(t.Context(), "later"), "nothing is kept back any more")
				r.want("user_message")
				end()
			})
		})
	}
}

// A session that a replay announces has one marker of its own, also without a history. There is none if the replay
// fails, or if none was requested.
func TestTheEndOfTheReplayOfAChildIsMarked(t *testing.T) {
	announce := func(ctx context.Context, s *agent.Session) error {
		return errors.Join(s.Update(ctx, &acp.SubagentUpdate{SessionID: "child"}), s.Update(ctx, &acp.SubagentUpdate{SessionID: "child"}))
	}
	for name, tt := range map[string]struct {
		from string
		err  error
		want []string
	}{
		"history":             {`,"replayFrom":{"type":"start"}`, nil, []string{"s1 subagent_update", "s1 subagent_update", "child replay_complete", "s1 replay_complete", "response"}},
		"a replay that fails": {`,"replayFrom":{"type":"start"}`, errors.New("broken"), []string{"s1 subagent_update", "s1 subagent_update", "error"}},
		"no replay":           {``, nil, []string{"s1 subagent_update", "s1 subagent_update", "response"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &replaying{}
				r, end := initialized(t, func(c *agent.Conn) acp.Agent { a.conn = c; return a }, nil)
				a.replay = func(ctx context.Context, id acp.SessionID) error {
					return errors.Join(announce(ctx, a.conn.Session(id)), tt.err)
				}
				r.Call("1", "session/resume", `{"sessionId":"s1","cwd":"/"`+tt.from+`}`)
				var got []string
				for range tt.want {
					got = append(got, line(r.Next()))
				}
				assert.Equal(t, tt.want, got)
				end()
			})
		})
	}
}

// line is what a message tells, and of which session.
func line(m rawpeer.Message) string {
	if m.Method == "" {
		if m.Error != nil {
			return "error"
		}
		return "response"
	}
	var p struct {
		SessionID string
		Update    struct{ SessionUpdate string }
	}
	_ = json.Unmarshal(m.Params, &p) // it is JSON that the agent has written
	return p.SessionID + " " + p.Update.SessionUpdate
}

// Updates are kept back as they were, without the caller waiting: it may be a part of what the replay
// waits for. Those above the limit wait, but neither for longer than their ctx nor than the connection.
func TestKeptBackUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &replaying{}
		r, _ := initialized(t, func(c *agent.Conn) acp.Agent { a.conn = c; return a }, nil)
		a.replay = func(ctx context.Context, _ acp.SessionID) error { <-ctx.Done(); return ctx.Err() }
		r.Call("1", "session/resume", `{"sessionId":"s1","cwd":"/","replayFrom":{"type":"start"}}`)
		synctest.Wait()
		for range 1000 {
			require.NoError(t, a.conn.Session("s1").UserMessage(t.Context(), "m"))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := a.conn.SessionUpdate(ctx, &acp.UpdateSessionNotification{SessionID: "s1", Update: &acp.UserMessage{MessageID: "m"}})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		failed := make(chan error)
		go func() { failed <- a.conn.Session("s1").UserMessage(context.Background(), "m") }() // ends with the connection
		synctest.Wait()
		r.Close()
		assert.Error(t, <-failed)
		assert.NoError(t, a.conn.Wait())
	})
}

// What was sent in a session during its replay comes before the response, also what was above the limit.
func TestKeptBackUpdatesComeBeforeTheResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		a := &replaying{}
		r, end := initialized(t, func(c *agent.Conn) acp.Agent { a.conn = c; return a }, &agent.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		over := make(chan struct{})
		a.replay = func(context.Context, acp.SessionID) error { <-over; return nil }
		r.Call("1", "session/resume", `{"sessionId":"s1","cwd":"/","replayFrom":{"type":"start"}}`)
		synctest.Wait()
		want := []string{"replay_complete"}
		for range 1003 {
			go func() { assert.NoError(t, a.conn.Session("s1").UserMessage(context.Background(), "m")) }() // ends with the replay
			synctest.Wait()
			want = append(want, "user_message")
		}
		assert.Equal(t, 1, strings.Count(log.String(), "many updates wait for the end of a replay"), log.String())
		close(over)
		r.want(append(want, "response 1")...)
		end()
	})
}

// A second replay of a session begins when the first has ended, with all that was kept back: a client
// could not tell their histories apart. The replay of another session does not wait.
func TestReplaysOfOneSessionDoNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &replaying{}
		r, end := initialized(t, func(c *agent.Conn) acp.Agent { a.conn = c; return a }, nil)
		over := make(chan struct{})
		a.replay = func(ctx context.Context, id acp.SessionID) error {
			if err := a.conn.Session(id).UserMessage(ctx, "u"); id == "s2" || err != nil {
				return err
			}
			<-over
			return a.conn.Session(id).Message(ctx, "m", "text")
		}
		resume := func(id, session string) {
			r.Call(id, "session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/","replayFrom":{"type":"start"}}`, session))
		}
		resume("1", "s1")
		r.want("user_message")
		resume("2", "s1")
		resume("3", "s1")
		resume("4", "s2")
		r.want("user_message", "replay_complete", "response 4")
		r.Notify("$/cancel_request", `{"requestId":3}`)
		r.want("error 3 -32800")
		require.NoError(t, a.conn.Session("s1").Update(t.Context(), &acp.AgentThought{MessageID: "live"}))
		close(over)
		r.want("agent_message_chunk", "replay_complete", "agent_thought", "response 1")
		r.want("user_message", "agent_message_chunk", "replay_complete", "response 2")
		end()
	})
}

// In random episodes, the client gets nothing but history from the first replayed update to the marker,
// exactly one marker for each session of a replay that succeeded, before the response, and every other update in
// the end.
func TestRandomReplays(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) { episode(t, rand.New(rand.NewPCG(seed, 33)), time.Sleep) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func episode(t *testing.T, random *rand.Rand, sleep func(time.Duration)) {
	var mu sync.Mutex // guards random
	n := func(n int) int { mu.Lock(); defer mu.Unlock(); return random.IntN(n) }
	pause := func() { sleep(time.Duration(n(5)) * time.Millisecond) }
	a := &replaying{}
	near, far := rawpeer.Pipe(t)
	conn := agent.New(near, func(c *agent.Conn) acp.Agent { a.conn = c; return a }, nil)
	require.NoError(t, conn.Start(context.WithoutCancel(t.Context())))
	far.Call("0", "initialize", `{"protocolVersion":2,"info":{"name":"c","version":"1"}}`)
	far.Next()
	replays := 0
	failed, children := map[string]bool{}, map[string]bool{} // by replay; children: it has announced one
	a.replay = func(ctx context.Context, id acp.SessionID) (err error) {
		mu.Lock()
		replays++
		name := fmt.Sprint("h", replays, "-")
		mu.Unlock()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			failed[name] = err != nil
		}()
		for i := range n(4) {
			pause()
			session := id
			if i > 0 && n(3) == 0 {
				session = "child"
				if err := conn.Session(id).Update(ctx, &acp.SubagentUpdate{SessionID: session, Meta: acp.Meta{"by": name}}); err != nil {
					return err
				}
				mu.Lock()
				children[name] = true
				mu.Unlock()
			}
			if err := conn.Session(session).UserMessage(ctx, acp.MessageID(name+fmt.Sprint(i))); err != nil {
				return err
			}
		}
		if n(4) == 0 {
			return errors.New("broken")
		}
		if n(2) == 0 {
			return conn.Session(id).SendState(ctx)
		}
		return ctx.Err()
	}
	sent := map[string]bool{}
	var live sync.WaitGroup
	for i := range n(12) {
		live.Go(func() { // ends with the update
			pause()
			pause()
			name := fmt.Sprint("l", i)
			if conn.Session([]acp.SessionID{"s1", "child", "s2"}[n(3)]).UserMessage(context.Background(), acp.MessageID(name)) == nil {
				mu.Lock()
				sent[name] = true
				mu.Unlock()
			}
		})
	}
	resumed := map[string]string{}
	for i := range 1 + n(3) {
		session := []string{"s1", "s2"}[n(2)]
		resumed[fmt.Sprint(i+1)] = session
		far.Call(fmt.Sprint(i+1), "session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/","replayFrom":{"type":"start"}}`, session))
		switch n(6) {
		case 0:
			pause()
			far.Notify("$/cancel_request", fmt.Sprintf(`{"requestId":%d}`, i+1))
		case 1:
			pause()
			far.Call(fmt.Sprint(100+i), "session/close", `{"sessionId":"s1"}`)
		}
	}
	live.Wait()
	synctest.Wait()
	sleep(time.Second) // all replays are over
	require.NoError(t, conn.Shutdown(t.Context()))
	check(t, far, failed, children, resumed, sent)
}

// check reads what an agent has sent, and checks the order. What
// follows a replay that failed is not history. resumed has the session of each request.
func check(t *testing.T, far *rawpeer.Peer, failed, children map[string]bool, resumed map[string]string, sent map[string]bool) {
	within := map[string]string{} // the replay in which a session is
	last := map[string]int{}      // the replay of a session that was read last
	markers, story := map[string]int{}, ""
	waiting := map[string]int{} // requests without a response, by session
	for _, session := range resumed {
		waiting[session]++
	}
	for m, ok := far.Recv(); ok; m, ok = far.Recv() {
		story += string(m.Raw) + "\n"
		var p struct {
			SessionID string
			Update    struct{ SessionUpdate, MessageID string }
		}
		if m.Params != nil {
			require.NoError(t, json.Unmarshal(m.Params, &p))
		}
		id := p.Update.MessageID
		switch {
		case m.Method == "":
			if session := resumed[string(m.ID)]; session != "" {
				waiting[session]--
				delete(within, session) // another replay may go on
			}
		case p.Update.SessionUpdate == "replay_complete":
			delete(within, p.SessionID)
			markers[p.SessionID]++
			assert.True(t, p.SessionID == "child" || waiting[p.SessionID] > 0, "%s: a marker behind the response", story)
		case strings.HasPrefix(id, "h"):
			replay, _, _ := strings.Cut(id, "-")
			if !failed[replay+"-"] {
				within[p.SessionID] = id
			}
			n, err := strconv.Atoi(replay[1:])
			require.NoError(t, err)
			if p.SessionID != "child" {
				assert.GreaterOrEqual(t, n, last[p.SessionID], "%s: the history of an earlier replay", story)
				last[p.SessionID] = n
			}
		case strings.HasPrefix(id, "l"):
			if p.SessionID != "child" { // two sessions may announce it
				assert.Empty(t, within[p.SessionID], "%s: an update in the history", story)
			}
			delete(sent, id)
		}
	}
	ended, announced := 0, 0
	for replay, broken := range failed {
		if !broken {
			ended++
			if children[replay] {
				announced++
			}
		}
	}
	assert.Equal(t, ended, markers["s1"]+markers["s2"], story)
	assert.Equal(t, announced, markers["child"], story)
	assert.Empty(t, sent, "%s: updates that were lost", story)
}
