package remote_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// secondAgent is an agent of version 2. It numbers the messages that it sends.
type secondAgent struct {
	conn *agent.Conn

	mu       sync.Mutex // guards the fields below
	sessions int
	sent     map[acp.SessionID]int
}

func (a *secondAgent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{
		Info:         acp.Implementation{Name: "a", Version: "1"},
		Capabilities: &acp.AgentCapabilities{Session: &acp.SessionCapabilities{}},
	}, nil
}

func (a *secondAgent) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions++
	return &acp.NewSessionResponse{SessionID: acp.SessionID(fmt.Sprint("s", a.sessions))}, nil
}

func (a *secondAgent) ListSessions(context.Context, *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	return &acp.ListSessionsResponse{}, nil
}

func (a *secondAgent) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	a.mu.Lock()
	sent := a.sent[req.SessionID]
	a.mu.Unlock()
	s := a.conn.Session(req.SessionID)
	for n := range sent {
		if err := s.Message(ctx, "m", fmt.Sprint(n)); err != nil {
			return nil, err
		}
	}
	return &acp.ResumeSessionResponse{}, s.State(ctx)
}

func (a *secondAgent) CloseSession(ctx context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return &acp.CloseSessionResponse{}, a.conn.Session(req.SessionID).Message(ctx, "m", "closed")
}

func (a *secondAgent) Cancel(context.Context, *acp.CancelSessionNotification) error { return nil }

// Prompt continues after its response: it sends messages, a request, and more messages.
func (a *secondAgent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := a.conn.Session(req.SessionID)
	return s.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
		for i := range 100 {
			if i == 50 {
				_, err := s.RequestPermission(ctx, &acp.RequestPermissionRequest{
					Title: "May I?", Options: []acp.PermissionOption{{OptionID: "y", Name: "y", Kind: "allow_once"}},
				})
				if err != nil {
					return "", err
				}
			}
			a.mu.Lock()
			n := a.sent[req.SessionID]
			a.sent[req.SessionID]++
			a.mu.Unlock()
			if err := s.Message(ctx, "m", fmt.Sprint(n)); err != nil {
				return "", err
			}
		}
		return acp.StopReasonEndTurn, nil
	})
}

// secondClient checks the order of what it receives.
type secondClient struct {
	t   *testing.T
	ask func(context.Context) error // nil: everything is allowed

	mu    sync.Mutex // guards the fields below
	next  map[acp.SessionID]int
	state map[acp.SessionID]string
}

func (c *secondClient) SessionUpdate(_ context.Context, n *acp.UpdateSessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		text := acp.PlainText(u.Content)
		if text == "closed" {
			c.state[n.SessionID] = "closed"
			break
		}
		assert.Equal(c.t, fmt.Sprint(c.next[n.SessionID]), text, "in order, none is lost or doubled")
		c.next[n.SessionID]++
	case *acp.SessionStateUpdate:
		c.state[n.SessionID] = fmt.Sprintf("%T", u.StateUpdate)
	}
	return nil
}

func (c *secondClient) RequestPermission(ctx context.Context, r *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	c.mu.Lock()
	assert.Equal(c.t, 50, c.next[r.SessionID]%100, "a question does not overtake a message")
	assert.Equal(c.t, "*acp.RequiresActionStateUpdate", c.state[r.SessionID], "the state is there before the question")
	c.mu.Unlock()
	if c.ask != nil {
		if err := c.ask(ctx); err != nil {
			return nil, err
		}
	}
	return acp.Selected("y"), nil
}

// Version 2 works over both transports: updates belong to sessions, prompts end with a state, and a
// replay comes before the response to session/resume.
func TestVersion2(t *testing.T) {
	for name, tt := range map[string]struct{ ws, resume bool }{"HTTP": {}, "HTTP with resume": {resume: true}, "WebSocket": {ws: true}} {
		t.Run(name, func(t *testing.T) {
			h := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
				return agent.Serve(ctx, s, func(c *agent.Conn) acp.Agent {
					return &secondAgent{conn: c, sent: map[acp.SessionID]int{}}
				}, &agent.Options{Logger: quiet})
			}, &remote.Options{Logger: quiet, Resume: tt.resume})
			s := httptest.NewServer(h)
			t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				assert.NoError(t, h.Shutdown(ctx))
				s.Close()
			})
			url := s.URL
			if tt.ws {
				url = wsURL(s)
			}
			wire, err := remote.Dial(t.Context(), url, nil)
			require.NoError(t, err)
			c := &secondClient{t: t, next: map[acp.SessionID]int{}, state: map[acp.SessionID]string{}}
			conn := client.New(wire, func(*client.Conn) acp.Client { return c }, &client.Options{Logger: quiet})
			require.NoError(t, conn.Start(context.WithoutCancel(t.Context())))
			t.Cleanup(func() { conn.Close(); conn.Wait() })
			_, err = conn.Initialize(t.Context(), nil)
			require.NoError(t, err)

			var sessions []*client.Session
			for range 2 {
				session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
				require.NoError(t, err)
				sessions = append(sessions, session)
			}
			var both sync.WaitGroup
			for _, session := range sessions {
				both.Go(func() { // ends with its turns
					for range 5 {
						turn := session.Prompt(t.Context(), acp.Text("go"))
						idle, err := turn.Wait()
						if assert.NoError(t, err) {
							assert.Equal(t, acp.StopReasonEndTurn, idle.StopReason)
						}
					}
				})
			}
			both.Wait()
			c.mu.Lock()
			assert.Equal(t, map[acp.SessionID]int{"s1": 500, "s2": 500}, c.next)
			clear(c.next)
			c.mu.Unlock()
			for range 5 {
				_, err = conn.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/", ReplayFrom: &acp.ReplayFromStart{}})
				require.NoError(t, err)
				c.mu.Lock()
				assert.Equal(t, 500, c.next["s1"], "the replay is handled when the call returns")
				assert.Equal(t, "*acp.IdleStateUpdate", c.state["s1"])
				c.next["s1"], c.state["s1"] = 0, ""
				c.mu.Unlock()
			}

			// The agent withdraws its request when the work is cancelled.
			withdrawn := make(chan struct{})
			c.ask = func(ctx context.Context) error {
				assert.NoError(t, sessions[1].Cancel(context.WithoutCancel(ctx)))
				<-ctx.Done()
				close(withdrawn)
				return ctx.Err()
			}
			c.mu.Lock()
			c.next["s2"] = 500
			c.mu.Unlock()
			idle, err := sessions[1].Prompt(t.Context(), acp.Text("go")).Wait()
			if err != nil {
				assert.ErrorIs(t, err, acp.ErrTurnCancelled)
			} else {
				assert.Equal(t, acp.StopReasonCancelled, idle.StopReason)
			}
			<-withdrawn
			require.NoError(t, sessions[1].Close(t.Context()))
			c.mu.Lock()
			assert.Equal(t, "closed", c.state["s2"], "the last message is handled when Close returns")
			c.mu.Unlock()
		})
	}
}
