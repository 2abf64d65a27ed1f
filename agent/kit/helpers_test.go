package kit_test

import (
	"context"
	"io/fs"
	"log/slog"
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
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/kitplay"
)

// user is a client of version 1 that keeps the threads of its sessions, and allows everything once.
type user struct {
	*client.Conn
	*peertest.Client
	t   *testing.T
	set *thread.Set
	end <-chan error // gets the result of Serve
}

// connect connects a user to the agent until the test ends.
func connect(t *testing.T, a *kit.Agent) *user {
	t.Helper()
	return connectAs(t, a, nil, func(c *peertest.Client) acp.Client { return c })
}

// connectAs is like connect, with another client around the user's and with the capabilities caps.
func connectAs(t *testing.T, a *kit.Agent, caps *acp.ClientCapabilities, around func(*peertest.Client) acp.Client) *user {
	t.Helper()
	u := &user{t: t, set: new(thread.Set), Client: new(peertest.Client)}
	ours, served := peertest.Dial(a.Serve)
	u.Conn = client.New(ours, func(*client.Conn) acp.Client { return u.set.Client(around(u.Client)) }, &client.Options{
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
