package client_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// noted is what a client notes, in order.
type noted struct {
	mu  sync.Mutex // guards the field below
	all []string
}

func (n *noted) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, fmt.Sprintf(format, args...))
}

func (n *noted) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.all, ", ")
}

func (n *noted) update(_ context.Context, u acp.SessionUpdate) {
	switch u := u.(type) {
	case *acp.UserMessage:
		n.add("%s", u.MessageID)
	case *acp.ReplayComplete:
		n.add("marker")
	}
}

// replay resumes the session with its history. name begins what it notes.
func (n *noted) replay(ctx context.Context, conn *client.Conn, name string) error {
	req := &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/", ReplayFrom: &acp.ReplayFromStart{}}
	_, err := conn.StartResumedSession(ctx, req, &client.ResumeOptions{
		OnUpdate: n.update,
		Replayed: func(err error) { n.add("%s: %v", name, err) },
	})
	n.add("%s returned", name)
	return err
}

func updateOf(p *rawpeer.Peer, session, update string) {
	p.Send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, session, update)
}

func sendMessage(p *rawpeer.Peer, id string) {
	updateOf(p, "s1", `{"sessionUpdate":"user_message","messageId":"`+id+`","content":[]}`)
}

const marker = `{"sessionUpdate":"replay_complete"}`

// The end of the history is told apart from the response, once, and at its place in the order.
func TestReplayed(t *testing.T) {
	for name, tt := range map[string]struct {
		agent func(p *rawpeer.Peer, req rawpeer.Message)
		want  string
	}{
		"a marker": {func(p *rawpeer.Peer, req rawpeer.Message) {
			sendMessage(p, "old")
			updateOf(p, "s1", marker)
			sendMessage(p, "live")
			p.Answer(req, `{}`)
		}, "old, marker, done: <nil>, live, done returned"},
		"a marker of a subagent first": {func(p *rawpeer.Peer, req rawpeer.Message) {
			updateOf(p, "child", marker)
			sendMessage(p, "old")
			updateOf(p, "s1", marker)
			p.Answer(req, `{}`)
		}, "old, marker, done: <nil>, done returned"},
		"two markers": {func(p *rawpeer.Peer, req rawpeer.Message) {
			updateOf(p, "s1", marker)
			updateOf(p, "s1", marker)
			p.Answer(req, `{}`)
		}, "marker, done: <nil>, marker, done returned"},
		"no marker": {func(p *rawpeer.Peer, req rawpeer.Message) {
			sendMessage(p, "old")
			p.Answer(req, `{}`)
			sendMessage(p, "live")
		}, "old, done: <nil>, live"},
		"an error": {func(p *rawpeer.Peer, req rawpeer.Message) {
			sendMessage(p, "old")
			p.Fail(req, -32603, "broken")
		}, "old, done: broken (-32603), done returned"},
		"an error after the marker": {func(p *rawpeer.Peer, req rawpeer.Message) {
			updateOf(p, "s1", marker)
			p.Fail(req, -32603, "broken")
		}, "marker, done: <nil>, done returned"},
		"the end of the connection": {func(p *rawpeer.Peer, req rawpeer.Message) {
			sendMessage(p, "old")
			p.Close()
		}, "old, done: acp: connection closed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n noted
				conn, peer := open(t, &viewer{}, `{"session":{}}`, nil)
				go func() { _ = n.replay(t.Context(), conn, "done") }() // ends with the call
				req := peer.Expect("session/resume")
				tt.agent(peer, req)
				synctest.Wait()
				got := n.text()
				if !strings.HasSuffix(tt.want, "returned") {
					got = strings.Replace(got, ", done returned", "", 1) // its place is that of the goroutine
				}
				assert.Contains(t, got, tt.want)
				assert.Equal(t, 1, strings.Count(got, "done:"))
			})
		})
	}
}

// What is not sent was cut off as well: the caller need not ask why.
func TestReplayedOfACallThatIsNotSent(t *testing.T) {
	var n noted
	conn, _ := open(t, &viewer{}, `{"session":{}}`, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, n.replay(ctx, conn, "r"))
	assert.Equal(t, "r: context canceled, r returned", n.text())
}

// A second replay of a session waits for the end of the first, so that each gets its own history. Replays
// of other sessions, and a resume without one, do not wait.
func TestReplaysOfOneSessionDoNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n noted
		conn, peer := open(t, &viewer{}, `{"session":{}}`, nil)
		go func() { _ = n.replay(t.Context(), conn, "a") }() // ends with the call
		first := peer.Expect("session/resume")
		go func() { _ = n.replay(t.Context(), conn, "b") }() // ends with the call
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = n.replay(ctx, conn, "c") }() // ends with its ctx
		synctest.Wait()
		cancel()
		synctest.Wait()
		assert.Equal(t, "c: context canceled, c returned", n.text())
		sendMessage(peer, "a1")
		go func() { // ends with the call
			_, err := conn.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/"})
			assert.NoError(t, err)
		}()
		plain := peer.Expect("session/resume")
		assert.NotContains(t, string(plain.Params), "replayFrom")
		peer.Answer(plain, `{}`)
		updateOf(peer, "s1", marker)
		peer.Answer(first, `{}`)
		second := peer.Expect("session/resume")
		sendMessage(peer, "b1")
		peer.Answer(second, `{}`)
		synctest.Wait()
		assert.Contains(t, n.text(), ", a1, marker, a: <nil>, a returned, b1, b: <nil>, b returned")
	})
}

// A panic of the function ends neither the call nor the connection.
func TestReplayedPanics(t *testing.T) {
	for _, marks := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			conn, peer := open(t, &viewer{}, `{"session":{}}`, nil)
			var agent sync.WaitGroup
			agent.Go(func() { // ends with the response
				req := peer.Expect("session/resume")
				if marks {
					updateOf(peer, "s1", marker)
				}
				peer.Answer(req, `{}`)
			})
			req := &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/", ReplayFrom: &acp.ReplayFromStart{}}
			_, err := conn.StartResumedSession(t.Context(), req, &client.ResumeOptions{Replayed: func(error) { panic("broken") }})
			require.NoError(t, err)
			agent.Wait()
			select {
			case <-conn.Done():
				t.Error("the connection has ended")
			default:
			}
		})
	}
}

// A replay that is cancelled ends with the response of the agent, whose history comes until then. The next one
// begins after it.
func TestACancelledReplayDoesNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n noted
		conn, peer := open(t, &viewer{}, `{"session":{}}`, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = n.replay(ctx, conn, "a") }() // ends with the call
		first := peer.Expect("session/resume")
		go func() { _ = n.replay(t.Context(), conn, "b") }() // ends with the call
		synctest.Wait()
		cancel()
		peer.Expect("$/cancel_request")
		sendMessage(peer, "a1")
		peer.Fail(first, -32800, "Request cancelled")
		second := peer.Expect("session/resume")
		sendMessage(peer, "b1")
		peer.Answer(second, `{}`)
		synctest.Wait()
		assert.Equal(t, "a1, a: Request cancelled (-32800), a returned, b1, b: <nil>, b returned", n.text())
	})
}

// In random episodes, each replay is told once, before its call returns, after its history and before what
// follows the marker; and no history is mixed with that of another replay.
func TestRandomReplays(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) { episode(t, rand.New(rand.NewPCG(seed, 33)), time.Sleep) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func episode(t *testing.T, r *rand.Rand, sleep func(time.Duration)) {
	var n noted
	conn, peer := open(t, &viewer{}, `{"session":{"delete":{}}}`, nil)
	played := make(chan struct{})
	go func() { // ends with the connection
		defer close(played)
		replays := 0
		for m, ok := peer.Recv(); ok; m, ok = peer.Recv() {
			if m.Method != "session/resume" {
				continue
			}
			replays++
			for i := range r.IntN(4) {
				sendMessage(peer, fmt.Sprintf("h%d-%d", replays, i))
				if r.IntN(3) == 0 {
					updateOf(peer, "child", marker)
				}
				sleep(time.Duration(r.IntN(10)) * time.Millisecond)
			}
			if r.IntN(3) > 0 {
				updateOf(peer, "s1", marker)
				sendMessage(peer, fmt.Sprintf("l%d-0", replays))
			}
			switch r.IntN(5) {
			case 0:
				peer.Close()
			case 1:
				peer.Fail(m, -32603, "broken")
			default:
				peer.Answer(m, `{}`)
			}
		}
	}()
	var calls sync.WaitGroup
	for i := range 3 {
		calls.Go(func() { // ends with the call
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(10+20*i)*time.Millisecond)
			defer cancel()
			_ = n.replay(ctx, conn, fmt.Sprint("r", i))
		})
		synctest.Wait()
	}
	calls.Wait()
	sleep(time.Second) // the agent has sent everything
	conn.Close()
	<-played
	story := n.text()
	for i := range 3 {
		name := fmt.Sprint("r", i)
		assert.Equal(t, 1, strings.Count(story, name+": "), story)
		assert.Less(t, strings.Index(story, name+": "), strings.Index(story, name+" returned"), story)
	}
	last, running := 0, true // of the replay whose history was read last
	for _, line := range strings.Split(story, ", ") {
		var replay, i int
		if _, err := fmt.Sscanf(line, "h%d-%d", &replay, &i); err == nil {
			assert.GreaterOrEqual(t, replay, last, "%s: mixed histories", story)
			assert.True(t, running || replay > last, "%s: history after its end", story)
			last, running = replay, true
		} else if strings.HasSuffix(line, ": <nil>") {
			running = false
		}
	}
}
