package kit_test

import (
	"context"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/kitplay"
	"github.com/acpkit/go-sdk/stream"
)

// user is a client of version 1 that keeps the threads of its sessions.
type user struct {
	*client.Conn
	*screen
	t   *testing.T
	set *thread.Set
	end <-chan error // gets the result of Serve
}

// screen is the part of a client that a user sees and answers.
type screen struct {
	answer func(req *acp.RequestPermissionRequest) acp.RequestPermissionOutcome // nil: allow once

	mu      sync.Mutex
	updates []acp.SessionUpdate
}

func (u *screen) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.updates = append(u.updates, n.Update)
	return nil
}

func (u *screen) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if u.answer == nil {
		return &acp.RequestPermissionResponse{Outcome: &acp.SelectedPermissionOutcome{OptionID: req.Options[0].OptionID}}, nil
	}
	return &acp.RequestPermissionResponse{Outcome: u.answer(req)}, nil
}

// received returns the updates since the last call.
func (u *screen) received() []acp.SessionUpdate {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := slices.Clone(u.updates)
	u.updates = nil
	return all
}

// connect connects a user to the agent until the test ends.
func connect(t *testing.T, a *kit.Agent) *user {
	t.Helper()
	return connectAs(t, a, nil, func(s *screen) acp.Client { return s })
}

// connectAs is like connect, with another client around the screen and with the capabilities caps.
func connectAs(t *testing.T, a *kit.Agent, caps *acp.ClientCapabilities, around func(*screen) acp.Client) *user {
	t.Helper()
	u := &user{t: t, set: new(thread.Set), screen: new(screen)}
	ours, theirs := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- a.Serve(context.Background(), theirs) }() // ends with the connection
	u.Conn = client.New(ours, func(*client.Conn) acp.Client { return u.set.Client(around(u.screen)) }, &client.Options{
		Unstable: true, // for a client that offers everything
		Sending:  []acp.Middleware{u.set.Sending}, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, u.Start(t.Context()))
	_, err := u.Initialize(t.Context(), &acp.InitializeRequest{ClientCapabilities: caps})
	require.NoError(t, err)
	u.end = served
	t.Cleanup(u.leave)
	return u
}

// leave ends the connection and waits until the agent has noticed it.
func (u *user) leave() {
	u.Close()
	if u.end != nil {
		<-u.end
		u.end = nil
	}
}

// open opens a new session.
func (u *user) open() acp.SessionID {
	u.t.Helper()
	res, err := u.NewSession(u.t.Context(), &acp.NewSessionRequest{Cwd: u.t.TempDir()})
	require.NoError(u.t, err)
	return res.SessionID
}

// load loads a session.
func (u *user) load(id acp.SessionID) {
	u.t.Helper()
	_, err := u.LoadSession(u.t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: u.t.TempDir()})
	require.NoError(u.t, err)
}

// ask sends a prompt and returns the stop reason.
func (u *user) ask(id acp.SessionID, text string) acp.StopReason {
	u.t.Helper()
	res, err := u.Prompt(u.t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text(text)}})
	require.NoError(u.t, err)
	return res.StopReason
}

var echo = kitplay.Echo

// disk is a store whose logs are slow or full.
type disk struct {
	journal.Store
	slow time.Duration // the duration of an fsync
	room atomic.Int64  // number of calls of Append that will still succeed
}

func newDisk() *disk {
	d := new(disk)
	d.Store = kitplay.Store{Store: new(journal.Memory), Log: func(l journal.Log) journal.Log { return diskLog{l, d} }}
	d.room.Store(1 << 40)
	return d
}

type diskLog struct {
	journal.Log
	d *disk
}

func (l diskLog) Append(recs ...journal.Record) (int64, error) {
	if l.d.room.Add(-1) < 0 {
		return 0, &fs.PathError{Op: "write", Path: "/sessions/log.jsonl", Err: syscall.ENOSPC}
	}
	return l.Log.Append(recs...)
}

func (l diskLog) Sync(ctx context.Context) error {
	time.Sleep(l.d.slow) // in the bubble of its caller
	return l.Log.Sync(ctx)
}

func (l diskLog) SetMeta(change func(*journal.Meta)) error {
	time.Sleep(l.d.slow) // in the bubble of its caller
	return l.Log.SetMeta(change)
}
