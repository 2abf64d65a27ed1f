package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/schema/schematest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// worker is an agent whose turns are a function of the test. It can load no session unless loads is set.
type worker struct {
	loads bool
	id    func() acp.SessionID // of a new session; nil: no two sessions have the same
	turn  func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error)

	mu       sync.Mutex
	started  int // connections
	sessions int
	prompts  []string
	conn     *agent.Conn   // the newest
	wire     stream.Stream // its stream, for what no agent of this library sends
}

// dial starts a connection to the agent.
func (w *worker) dial(context.Context) (stream.Stream, error) {
	near, far := stream.Pipe()
	w.mu.Lock()
	w.started++
	w.wire = far
	w.mu.Unlock()
	go func() { // ends with the connection
		_ = agent.Serve(context.Background(), far, func(c *agent.Conn) acp.Agent {
			w.mu.Lock()
			w.conn = c
			w.mu.Unlock()
			return &working{w: w, c: c}
		}, &agent.Options{Logger: quiet})
	}()
	return near, nil
}

// crash ends the connection as the death of the agent does.
func (w *worker) crash() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.conn.Close()
}

func (w *worker) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.prompts...)
}

type working struct {
	w     *worker
	c     *agent.Conn
	named []acp.SessionID // by worker.id
}

func (a *working) Handles(string) bool { return a.w.loads }

func (a *working) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentCapabilities: &acp.AgentCapabilities{LoadSession: a.w.loads, PromptCapabilities: &acp.PromptCapabilities{Image: true}}}, nil
}

func (a *working) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	a.w.sessions++
	if a.w.id != nil {
		a.named = append(a.named, a.w.id())
		return &acp.NewSessionResponse{SessionID: a.named[len(a.named)-1]}, nil
	}
	return &acp.NewSessionResponse{SessionID: acp.SessionID(fmt.Sprint("agent-", a.w.sessions))}, nil
}

// LoadSession replays what no client may see again.
func (a *working) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if a.w.id != nil && !slices.Contains(a.named, req.SessionID) {
		return nil, rpcerr.SessionNotFound(string(req.SessionID))
	}
	err := a.c.Session(req.SessionID).Message(ctx, "replayed by the agent")
	return &acp.LoadSessionResponse{}, err
}

func (a *working) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	a.w.mu.Lock()
	a.w.prompts = append(a.w.prompts, acp.PlainText(req.Prompt...))
	a.w.mu.Unlock()
	reason, err := a.w.turn(ctx, a.c.Session(req.SessionID), req)
	return &acp.PromptResponse{StopReason: reason}, err
}

func (a *working) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// says is a turn that answers with a text.
func says(text string) func(context.Context, *agent.Session, *acp.PromptRequest) (acp.StopReason, error) {
	return func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
		return acp.StopReasonEndTurn, s.Message(ctx, text)
	}
}

// start returns a hub around the agent, which ends with the test.
func start(t *testing.T, w *worker, opts *hub.Options) *hub.Hub {
	t.Helper()
	leak.Check(t)
	return restart(t, w, opts)
}

func restart(t *testing.T, w *worker, opts *hub.Options) *hub.Hub {
	t.Helper()
	o := hub.Options{}
	if opts != nil {
		o = *opts
	}
	o.Agent.Dial = w.dial
	o.Agent.Restart = supervise.Restart{Min: 1, Max: 1, Limit: -1}
	if o.Logger == nil {
		o.Logger = quiet
	}
	h := hub.New(&o)
	t.Cleanup(func() { _ = h.Shutdown(context.Background()) })
	return h
}

// user is a client of the hub with threads.
type user struct {
	t       *testing.T
	conn    *client.Conn
	threads *thread.Set
	served  chan error
	answer  func(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error)
}

func (u *user) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (u *user) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if u.answer == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return u.answer(ctx, req)
}

type principalKey struct{}

// join connects a client of a principal.
func join(t *testing.T, h *hub.Hub, principal string) *user {
	t.Helper()
	u := &user{t: t}
	near, far := stream.Pipe()
	u.connect(schematest.Client(t, 1, near), far, h, principal)
	return u
}

// connect connects the client, whose stream is near, to the hub.
func (u *user) connect(near, far stream.Stream, h *hub.Hub, principal string) {
	u.t.Helper()
	u.threads, u.served = new(thread.Set), make(chan error, 1)
	ctx := context.WithValue(context.Background(), principalKey{}, principal)
	go func() { u.served <- h.Serve(ctx, far) }() // ends with the connection
	var err error
	u.conn, err = client.Connect(u.t.Context(), near, func(*client.Conn) acp.Client { return u.threads.Client(u) },
		&client.Options{Sending: []acp.Middleware{u.threads.Sending}, Logger: quiet})
	require.NoError(u.t, err)
	u.t.Cleanup(u.leave)
}

func byContext(ctx context.Context) (string, error) {
	p, _ := ctx.Value(principalKey{}).(string)
	if p == "" {
		return "", errors.New("nobody")
	}
	return p, nil
}

// leave ends the connection and waits for its end.
func (u *user) leave() {
	_ = u.conn.Close()
	_ = u.conn.Wait()
	if u.served != nil {
		<-u.served
		u.served = nil
	}
}

func (u *user) open() *client.Session {
	u.t.Helper()
	s, err := u.conn.StartSession(u.t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
	require.NoError(u.t, err)
	s.OnUpdate(func(context.Context, acp.SessionUpdate) {})
	return s
}

func (u *user) load(id acp.SessionID) *client.Session {
	u.t.Helper()
	s, err := u.conn.StartLoadedSession(u.t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: "/work"}, func(context.Context, acp.SessionUpdate) {})
	require.NoError(u.t, err)
	return s
}

func (u *user) prompt(s *client.Session, text string) acp.StopReason {
	u.t.Helper()
	res, err := s.Prompt(u.t.Context(), acp.Text(text)).Wait()
	require.NoError(u.t, err)
	return res.StopReason
}

// transcript returns what the client shows of the conversation.
func (u *user) transcript(id acp.SessionID) []string {
	var lines []string
	for _, item := range u.threads.Thread(id).Snapshot().Items.All() {
		switch x := item.(type) {
		case *thread.Message:
			lines = append(lines, fmt.Sprintf("%s: %s", x.Role, x.Text()))
		case *thread.ToolCall:
			line := fmt.Sprintf("tool %s %q %s", x.ID, x.Title, x.Status)
			for _, c := range x.Content.All() {
				line += fmt.Sprintf(" [%s]", c.Block.Text)
			}
			lines = append(lines, line)
		default:
			lines = append(lines, fmt.Sprintf("%T", item))
		}
	}
	return lines
}

// until waits until the client shows a conversation that fulfils the condition.
func (u *user) until(id acp.SessionID, ok func(*thread.Snapshot) bool) *thread.Snapshot {
	u.t.Helper()
	ctx, stop := context.WithTimeout(u.t.Context(), 30*time.Second)
	defer stop()
	for s := range u.threads.Thread(id).Watch(ctx) {
		if ok(s) {
			return s
		}
	}
	require.Fail(u.t, "the conversation never becomes so", "%q", u.transcript(id))
	return nil
}
