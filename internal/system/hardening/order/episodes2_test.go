package order_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	acp1 "github.com/acpkit/go-sdk/acp"
	agent1 "github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/serve/adapter"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// A client that sends prompts, withdraws some, and cancels and closes sessions at any time gets
// one response to each request. The prompts of a session are inserted in the order in which it
// sent them, each of them becomes idle once and before the next one is inserted, a prompt that
// nothing has ended early succeeds, and nothing of a session follows the response to its close.
func TestEpisodesOfVersion2(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d", *seed)
	for name, newAgent := range map[string]func(*agent.Conn) acp.Agent{
		"native":                     func(c *agent.Conn) acp.Agent { return &worker{conn: c, ended: map[acp.SessionID]bool{}} },
		"adapter":                    adapter.FromV1(func(c *agent1.Conn) acp1.Agent { return &worker1{conn: c} }, nil),
		"adapter of one that closes": adapter.FromV1(func(c *agent1.Conn) acp1.Agent { return &closer1{worker1{conn: c}} }, nil),
	} {
		t.Run(name, func(t *testing.T) {
			for i := range *scripts / 5 {
				r := rand.New(rand.NewPCG(*seed, uint64(i)))
				pairtest.Bubble(t, func(t *testing.T) {
					near, far := rawpeer.Pipe(t)
					conn := rawpeer.Start(t, agent.New(near, newAgent, nil))
					e := &episode{t: t, Rand: r, peer: far, begun: time.Now()}
					e.play()
					require.NoError(t, conn.Wait())
					if e.check(); t.Failed() {
						t.Fatalf("episode %d:\n%s", i, e.log)
					}
				})
			}
		})
	}
}

// job is what a prompt asks for: its number, how long the agent is busy before it accepts the
// prompt, and how long it works.
type job struct{ N, Before, Work int }

func (j job) String() string {
	text, _ := json.Marshal(j)
	return string(text)
}

func jobOf(text string) (j job) {
	_ = json.Unmarshal([]byte(text), &j)
	return j
}

// do works until the work is done or cancelled.
func (j job) do(ctx context.Context, say func(string) error) error {
	if j.Work == 0 {
		return nil
	}
	_ = say("begin")
	select {
	case <-time.After(time.Duration(j.Work) * time.Millisecond):
	case <-ctx.Done():
	}
	_ = say("end")
	return ctx.Err()
}

// worker is an agent of version 2 that does jobs.
type worker struct {
	agent.NoHistory
	conn *agent.Conn

	mu       sync.Mutex // guards all below
	sessions int
	ended    map[acp.SessionID]bool
}

func (w *worker) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{Info: acp.Implementation{Name: "worker", Version: "1"}}, nil
}

func (w *worker) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions++
	return &acp.NewSessionResponse{SessionID: acp.SessionID(fmt.Sprint("s", w.sessions))}, nil
}

func (w *worker) CloseSession(_ context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	time.Sleep(2 * time.Millisecond) // in the bubble
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended[req.SessionID] = true
	return nil, nil
}

func (w *worker) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if err := ctx.Err(); err != nil { // withdrawn before it began
		return nil, err
	}
	w.mu.Lock()
	ended := w.ended[req.SessionID]
	w.mu.Unlock()
	if ended {
		return nil, rpcerr.SessionNotFound(string(req.SessionID))
	}
	j := jobOf(acp.PlainText(req.Prompt...))
	time.Sleep(time.Duration(j.Before) * time.Millisecond) // in the bubble
	s := w.conn.Session(req.SessionID)
	return s.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
		return "", j.do(ctx, func(text string) error { return s.Message(ctx, agent.NewMessageID(), text) })
	})
}

// worker1 is an agent of version 1 that does jobs.
type worker1 struct {
	conn     *agent1.Conn
	sessions int
}

func (w *worker1) Initialize(context.Context, *acp1.InitializeRequest) (*acp1.InitializeResponse, error) {
	return nil, nil
}

func (w *worker1) NewSession(context.Context, *acp1.NewSessionRequest) (*acp1.NewSessionResponse, error) {
	w.sessions++ // one at a time
	return &acp1.NewSessionResponse{SessionID: acp1.SessionID(fmt.Sprint("s", w.sessions))}, nil
}

func (w *worker1) Prompt(ctx context.Context, req *acp1.PromptRequest) (*acp1.PromptResponse, error) {
	s := w.conn.Session(req.SessionID)
	err := jobOf(acp1.PlainText(req.Prompt...)).do(ctx, func(text string) error { return s.Message(ctx, text) })
	return &acp1.PromptResponse{StopReason: acp1.StopReasonEndTurn}, err
}

func (w *worker1) Cancel(context.Context, *acp1.CancelNotification) error { return nil }

type closer1 struct{ worker1 }

func (*closer1) CloseSession(context.Context, *acp1.CloseSessionRequest) (*acp1.CloseSessionResponse, error) {
	return nil, nil
}

// episode is one conversation, played from the wire.
type episode struct {
	*rand.Rand
	t     *testing.T
	peer  *rawpeer.Peer
	begun time.Time
	log   string // of what was sent and received

	session  string
	prompts  []*sentPrompt // by their numbers, which are their ids, less 1
	closes   map[string]string
	answers  map[string][]rawpeer.Message // by the id of the request
	received []rawpeer.Message
}

type sentPrompt struct {
	session   string
	withdrawn bool
	ended     bool // a cancel of its session was sent behind it, or a close in front of it or behind it
	closing   bool // that was a close
}

func (e *episode) send(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	e.log += fmt.Sprintf("%s > %s\n", time.Since(e.begun), line)
	e.peer.SendLines(line)
}

// receive reads what has arrived.
func (e *episode) receive(m rawpeer.Message) {
	e.log += fmt.Sprintf("%s < %s\n", time.Since(e.begun), m.Raw)
	e.received = append(e.received, m)
	if m.Method == "" {
		e.answers[string(m.ID)] = append(e.answers[string(m.ID)], m)
	}
}

// play sends what a client may send, in random order and at random times.
func (e *episode) play() {
	e.closes, e.answers = map[string]string{}, map[string][]rawpeer.Message{}
	arrived := make(chan rawpeer.Message, 10000)
	go func() { // ends with the connection
		defer close(arrived)
		for m, ok := e.peer.Recv(); ok; m, ok = e.peer.Recv() {
			arrived <- m
		}
	}()
	settle := func() {
		synctest.Wait()
		for len(arrived) > 0 {
			e.receive(<-arrived)
		}
	}
	e.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`)
	settle()
	sessions := 0
	open := func() {
		sessions++
		e.send(`{"jsonrpc":"2.0","id":"n%d","method":"session/new","params":{"cwd":"/"}}`, sessions)
		settle()
		require.Len(e.t, e.answers[fmt.Sprintf(`"n%d"`, sessions)], 1, "session/new waits for something: %s", e.log)
		e.session = fmt.Sprint("s", sessions)
	}
	open()
	for range 5 + e.IntN(30) {
		switch n := e.IntN(20); {
		case n < 9:
			j := job{N: len(e.prompts) + 1, Before: max(0, e.IntN(6)-3), Work: max(0, e.IntN(12)-3)}
			closing := e.closes[e.session] != ""
			e.prompts = append(e.prompts, &sentPrompt{session: e.session, ended: closing, closing: closing})
			e.send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`, j.N, e.session, j)
		case n < 14 && len(e.prompts) > 0:
			i := max(0, len(e.prompts)-1-e.IntN(8))
			e.prompts[i].withdrawn = true
			e.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}`, i+1)
		case n < 15:
			e.end(func(p *sentPrompt) { p.ended = true })
			e.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, e.session)
		case n < 16:
			e.end(func(p *sentPrompt) { p.ended, p.closing = true, true })
			id := fmt.Sprint("c", len(e.closes)+1)
			if e.closes[e.session] != "" {
				continue
			}
			e.closes[e.session] = id
			e.send(`{"jsonrpc":"2.0","id":%q,"method":"session/close","params":{"sessionId":%q}}`, id, e.session)
		case n < 17 && e.closes[e.session] != "":
			open()
		case n < 18:
			settle()
		default:
			time.Sleep(time.Duration(e.IntN(5)) * time.Millisecond) // in the bubble
		}
	}
	time.Sleep(time.Hour) // in the bubble: all work is done
	settle()
	e.peer.Close()
}

// end notes a message that ends the prompts of the session which were sent before.
func (e *episode) end(note func(*sentPrompt)) {
	for _, p := range e.prompts {
		if p.session == e.session {
			note(p)
		}
	}
}

// check compares what was received with what must be.
func (e *episode) check() {
	type state struct {
		newest, current int // prompts that were inserted; current is 0 while the session is idle
		running, closed bool
	}
	states := map[string]*state{}
	inserted := map[int]string{} // the ids of their messages
	for _, m := range e.received {
		if m.Method == "" {
			for session, id := range e.closes {
				if string(m.ID) == `"`+id+`"` && m.Error == nil && states[session] != nil {
					states[session].closed = true
				}
			}
			continue
		}
		var params struct {
			SessionID string
			Update    struct {
				SessionUpdate, MessageID, State, StopReason string
				Content                                     json.RawMessage
			}
		}
		require.NoError(e.t, json.Unmarshal(m.Params, &params))
		s, u := states[params.SessionID], params.Update
		if s == nil {
			s = &state{}
			states[params.SessionID] = s
		}
		assert.False(e.t, s.closed, "behind the response to session/close: %s", m.Raw)
		switch {
		case u.SessionUpdate == "user_message":
			var content []struct{ Text string }
			require.NoError(e.t, json.Unmarshal(u.Content, &content))
			n := jobOf(content[0].Text).N
			assert.Greater(e.t, n, s.newest, "prompt %d is inserted behind a later one", n)
			assert.Zero(e.t, s.current, "prompt %d is inserted while another one is worked on", n)
			s.newest, s.current, s.running = n, n, false
			inserted[n] = u.MessageID
		case u.State == "idle":
			assert.True(e.t, s.running, "%s is idle and was not running", params.SessionID)
			if s.current > 0 && !e.prompts[s.current-1].ended {
				assert.Equal(e.t, "end_turn", u.StopReason, "prompt %d", s.current)
			}
			s.current, s.running = 0, false
		case u.State == "running":
			assert.NotZero(e.t, s.current, "%s runs without a prompt", params.SessionID)
			s.running = true
		default:
			assert.True(e.t, s.running, "an update outside of the work: %s", m.Raw)
		}
	}
	for session, s := range states {
		assert.Zero(e.t, s.current, "%s works for ever", session)
	}
	for i, p := range e.prompts {
		n := i + 1
		if !assert.Len(e.t, e.answers[fmt.Sprint(n)], 1, "responses to prompt %d", n) {
			continue
		}
		message, ok := inserted[n]
		switch m := e.answers[fmt.Sprint(n)][0]; {
		case m.Error == nil:
			assert.True(e.t, ok, "prompt %d succeeds and is not inserted", n)
			assert.JSONEq(e.t, fmt.Sprintf(`{"messageId":%q}`, message), string(m.Result))
		case rpcerr.Code(m.Error.Code) == rpcerr.CodeRequestCancelled:
			assert.True(e.t, !ok && (p.withdrawn || p.ended), "prompt %d fails with -32800; inserted: %t", n, ok)
		case rpcerr.Code(m.Error.Code) == rpcerr.CodeResourceNotFound:
			assert.True(e.t, !ok && p.closing, "prompt %d fails with -32002; inserted: %t", n, ok)
		default:
			assert.Fail(e.t, m.Raw)
		}
	}
	for _, id := range e.closes {
		assert.Len(e.t, e.answers[`"`+id+`"`], 1, "responses to the close %s", id)
	}
}
