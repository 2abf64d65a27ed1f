package remote_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream/remote"
)

// orderAgent sends numbered updates with requests in between, and can replay what it has sent.
type orderAgent struct {
	peertest.Agent
	conn    *agent.Conn
	updates int              // of a turn
	asks    func(n int) bool // reports whether a request follows update n
	prompts *atomic.Int64    // how many turns there were

	mu   sync.Mutex // guards sent
	sent map[acp.SessionID]int
	hold chan struct{} // a turn waits in its middle until this is closed; nil: it does not wait
}

func (a *orderAgent) say(ctx context.Context, id acp.SessionID, n int) error {
	return a.conn.Session(id).Message(ctx, fmt.Sprint(n))
}

func (a *orderAgent) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	a.prompts.Add(1)
	for range a.updates {
		a.mu.Lock()
		n := a.sent[p.SessionID]
		a.sent[p.SessionID]++
		a.mu.Unlock()
		if err := a.say(ctx, p.SessionID, n); err != nil {
			return nil, err
		}
		if n == 30 && a.hold != nil {
			<-a.hold
		}
		if a.asks(n) {
			_, err := a.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{
				SessionID: p.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(fmt.Sprint(n + 1))},
				Options: []acp.PermissionOption{{OptionID: "y", Name: "y", Kind: acp.PermissionOptionKindAllowOnce}},
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (a *orderAgent) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	a.mu.Lock()
	sent := a.sent[req.SessionID]
	a.mu.Unlock()
	for n := range sent {
		if err := a.say(ctx, req.SessionID, n); err != nil {
			return nil, err
		}
	}
	return &acp.LoadSessionResponse{}, nil
}

// orderClient counts the updates that it has handled.
type orderClient struct {
	t         *testing.T
	handled   atomic.Int64
	questions atomic.Int64 // requests of the agent
	gets      atomic.Int64 // requests for an event stream
}

func (c *orderClient) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	text := n.Update.(*acp.AgentMessageChunk).Content.(*acp.TextContent).Text
	assert.Equal(c.t, fmt.Sprint(c.handled.Load()), text, "the updates are in order, none is lost or doubled")
	if rand.IntN(20) == 0 {
		runtime.Gosched()
	}
	c.handled.Add(1)
	return nil
}

func (c *orderClient) RequestPermission(_ context.Context, r *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	c.questions.Add(1)
	assert.Equal(c.t, string(r.ToolCall.ToolCallID), fmt.Sprint(c.handled.Load()), "a question does not overtake an update")
	return &acp.RequestPermissionResponse{Outcome: &acp.SelectedPermissionOutcome{OptionID: "y"}}, nil
}

// postCounter counts the POSTs that wait for their response.
type postCounter struct {
	*http.Transport
	waiting atomic.Int64
}

func (p *postCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		p.waiting.Add(1)
		defer p.waiting.Add(-1)
	}
	return p.Transport.RoundTrip(r)
}

// ordered serves an orderAgent and connects to it.
func ordered(t *testing.T, urlOf func(*httptest.Server) string, resume bool, hold chan struct{}, opts *remote.DialOptions) (*client.Conn, *orderClient, *httptest.Server) {
	t.Helper()
	c := &orderClient{t: t}
	_, s := startServing(t, peertest.Serving(func(c *agent.Conn) acp.Agent {
		return &orderAgent{conn: c, sent: map[acp.SessionID]int{}, prompts: new(atomic.Int64), hold: hold,
			updates: 60, asks: func(int) bool { return rand.IntN(10) == 0 }}
	}, nil), &remote.Options{Resume: resume}, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				c.gets.Add(1)
			}
			h.ServeHTTP(w, r)
		})
	})
	return connectTo(t, urlOf(s), opts, c), c, s
}

// Messages keep their order over every transport.
func TestOrder(t *testing.T) {
	for _, p := range []struct {
		url    string
		resume bool
	}{{"HTTP", false}, {"HTTP", true}, {"WebSocket", false}} {
		t.Run(fmt.Sprintf("%s, resume %t", p.url, p.resume), func(t *testing.T) {
			conn, c, _ := ordered(t, urls[p.url], p.resume, nil, nil)
			_, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
			require.NoError(t, err)
			for range 20 {
				before := c.handled.Load()
				_, err := conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text("go")}})
				require.NoError(t, err)
				require.Equal(t, before+60, c.handled.Load(), "every update of a turn is handled when Prompt returns")
			}
			for range 10 {
				c.handled.Store(0)
				_, err := conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: "s1", Cwd: "/"})
				require.NoError(t, err)
				require.Equal(t, int64(1200), c.handled.Load(), "the replay is handled when LoadSession returns")
			}
		})
	}
}

// With resume, a turn survives the loss of all its network connections while no POST is under way:
// what became of a POST without a response cannot be known.
func TestTurnSurvivesCuts(t *testing.T) {
	hold := make(chan struct{})
	posts := &postCounter{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	defer posts.CloseIdleConnections()
	conn, c, s := ordered(t, urls["HTTP"], true, hold, &remote.DialOptions{Client: &http.Client{Transport: posts}})
	_, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { // ends with the turn
		_, err := conn.Prompt(context.WithoutCancel(t.Context()), &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text("go")}})
		done <- err
	}()
	require.Eventually(t, func() bool { return c.handled.Load() == 31 && posts.waiting.Load() == 0 }, 10*time.Second, time.Millisecond)
	for range 5 {
		before := c.gets.Load()
		s.CloseClientConnections()
		require.Eventually(t, func() bool { return c.gets.Load() >= before+2 }, 10*time.Second, time.Millisecond, "both event streams are continued")
	}
	posts.CloseIdleConnections() // a POST on one of the lost connections fails
	close(hold)
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		t.Fatal("the turn does not end")
	}
	assert.Equal(t, int64(60), c.handled.Load())
}
