// Package worker is a coding agent without a language model, for the commands agent and
// chat. It understands a few plain requests and carries them out for real, through the
// files, the permissions and the terminals of the client that runs it. It shows how the
// parts of an agent fit together; put a model where request.go parses.
package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/router"
	"github.com/acpkit/go-sdk/agent/router/adapter"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// worker is the agent: one for each connection.
type worker struct {
	conn  *agent.Conn
	store *store
	own   bool // files and commands are those of this machine, not of the client

	mu   sync.Mutex // guards open
	open map[acp.SessionID]*session
}

// What the agent can do beyond the baseline. The SDK derives the capabilities it
// advertises from these interfaces.
var (
	_ acp.SessionLoader             = (*worker)(nil)
	_ acp.SessionResumer            = (*worker)(nil)
	_ acp.SessionLister             = (*worker)(nil)
	_ acp.SessionCloser             = (*worker)(nil)
	_ acp.SessionDeleter            = (*worker)(nil)
	_ acp.SessionModeSetter         = (*worker)(nil)
	_ acp.SessionConfigOptionSetter = (*worker)(nil)
)

func newWorker(conn *agent.Conn, store *store, own bool) *worker {
	return &worker{conn: conn, store: store, own: own, open: make(map[acp.SessionID]*session)}
}

func (w *worker) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{
		AgentInfo: &acp.Implementation{Name: "acpkit-example-agent", Title: "Example agent", Version: "1.0.0"},
	}, nil
}

func (w *worker) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	s := &session{record: record{ID: acp.SessionID("sess_" + rand.Text()), CWD: req.Cwd, Mode: modeAsk, Detail: detailBrief}}
	if err := w.store.save(&s.record); err != nil {
		return nil, err
	}
	w.attach(ctx, s)
	return &acp.NewSessionResponse{SessionID: s.ID, Modes: s.modes(), ConfigOptions: s.configOptions()}, nil
}

// LoadSession shows the whole conversation again before it answers.
func (w *worker) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	s, err := w.reopen(ctx, req.SessionID, req.Cwd)
	if err != nil {
		return nil, err
	}
	for _, n := range s.history() {
		if err := w.conn.SessionUpdate(ctx, &n); err != nil {
			return nil, err
		}
	}
	return &acp.LoadSessionResponse{Modes: s.modes(), ConfigOptions: s.configOptions()}, nil
}

// ResumeSession goes on where the session stopped, without showing it again.
func (w *worker) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	s, err := w.reopen(ctx, req.SessionID, req.Cwd)
	if err != nil {
		return nil, err
	}
	return &acp.ResumeSessionResponse{Modes: s.modes(), ConfigOptions: s.configOptions()}, nil
}

// ListSessions returns all sessions at once, so no cursor is one of its own.
func (w *worker) ListSessions(_ context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	if req.Cursor != "" {
		return nil, rpcerr.InvalidParams(nil).WithDetail("cursor: unknown")
	}
	records, err := w.store.list()
	if err != nil {
		return nil, err
	}
	res := &acp.ListSessionsResponse{}
	for _, r := range records {
		if req.Cwd != "" && req.Cwd != r.CWD {
			continue
		}
		res.Sessions = append(res.Sessions, acp.SessionInfo{
			SessionID: r.ID, Cwd: r.CWD, Title: r.Title, UpdatedAt: r.UpdatedAt.Format(time.RFC3339),
		})
	}
	return res, nil
}

// CloseSession forgets what is held in memory. The turn that may be running has
// been cancelled by the time it is called.
func (w *worker) CloseSession(_ context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, req.SessionID)
	return nil, nil
}

func (w *worker) DeleteSession(_ context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	w.mu.Lock()
	delete(w.open, req.SessionID)
	w.mu.Unlock()
	return nil, w.store.remove(req.SessionID)
}

// Cancel has nothing to do: the ctx of Prompt has ended already.
func (w *worker) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// attach makes the session known to this connection and sends the client its
// commands as soon as the client knows the session.
func (w *worker) attach(ctx context.Context, s *session) {
	w.mu.Lock()
	w.open[s.ID] = s
	w.mu.Unlock()
	agent.AfterResponse(ctx, func(ctx context.Context) {
		w.conn.Session(s.ID).Commands(ctx, commands...)
	})
}

func (w *worker) reopen(ctx context.Context, id acp.SessionID, cwd string) (*session, error) {
	r, err := w.store.load(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, rpcerr.SessionNotFound(string(id)).WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	r.CWD = cwd
	s := &session{record: *r}
	w.attach(ctx, s)
	return s, nil
}

func (w *worker) session(id acp.SessionID) (*session, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.open[id]; s != nil {
		return s, nil
	}
	return nil, rpcerr.SessionNotFound(string(id))
}

// Serve returns the function that serves one connection over any stream. Sessions are
// kept in the folder state, which is made if need be. The function is safe for concurrent
// use. own means that the agent may use this machine where the client has no files and
// terminals.
func Serve(state string, own bool) (func(context.Context, stream.Stream) error, error) {
	sessions, err := openStore(state)
	if err != nil {
		return nil, err
	}
	// Standard output belongs to the protocol, so logs go to standard error.
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	agents := &router.Agents{
		V1: func(conn *agent.Conn) acp.Agent { return newWorker(conn, sessions, false) },
		V2: adapter.FromV1(func(conn *agent.Conn) acp.Agent { return newWorker(conn, sessions, own) }, &adapter.Options{Logger: logger}),
	}
	return func(ctx context.Context, s stream.Stream) error {
		return router.Serve(ctx, s, agents, &router.Options{Logger: logger})
	}, nil
}

// DefaultState returns the folder for the sessions of this user.
func DefaultState() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "acpkit-example-agent")
}
