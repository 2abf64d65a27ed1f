package hub_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/schema/schematest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// A prompt that is longer than a message may be is refused, and one that is not works, for the other clients and in the
// store too. No connection ends.
func TestLongPrompts(t *testing.T) {
	w := &worker{turn: says("read")}
	store, err := journal.OpenFiles(t.TempDir(), nil)
	require.NoError(t, err)
	h := start(t, w, &hub.Options{Store: store})
	near, far := net.Pipe()
	var served sync.WaitGroup
	served.Go(func() { _ = h.Serve(context.Background(), stream.Lines(far, far, nil)) }) // ends with the connection
	conn, err := client.Connect(t.Context(), schematest.Client(t, 1, stream.Lines(near, near, nil)), func(*client.Conn) acp.Client { return &user{} }, &client.Options{Logger: quiet})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(); _ = conn.Wait(); served.Wait() })
	s, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
	require.NoError(t, err)
	other := join(t, h, "")
	other.load(s.ID())

	_, err = s.Prompt(t.Context(), acp.Text(strings.Repeat("x", 64<<20))).Wait()
	require.ErrorIs(t, err, rpcerr.ErrInvalidRequest)
	t.Log(err)
	long := strings.Repeat("x", 31<<20)
	res, err := s.Prompt(t.Context(), acp.Text(long)).Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
	want := []string{"user: " + long, "agent: read"}
	same := func(u *user) bool {
		lines := u.transcript(s.ID())
		return len(lines) == 2 && lines[0] == want[0] && lines[1] == want[1]
	}
	other.until(s.ID(), func(*thread.Snapshot) bool { return same(other) })
	require.NoError(t, h.Shutdown(t.Context()))
	h = restart(t, w, &hub.Options{Store: store})
	late := join(t, h, "")
	late.load(s.ID())
	assert.True(t, same(late))
	assert.Len(t, w.seen(), 1)
}

// faulty is a store each of whose calls may fail or take time.
type faulty struct {
	journal.Store
	mu    sync.Mutex
	fails map[string]bool // by method
	slow  func(id string)
}

// hangsIn makes every call about a session wait until goOn is called, and tells each on hangs.
func (f *faulty) hangsIn(t *testing.T, session acp.SessionID) (hangs <-chan struct{}, goOn func()) {
	told, goesOn := make(chan struct{}, 99), make(chan struct{})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slow = func(id string) {
		if id == string(session) {
			told <- struct{}{}
			<-goesOn
		}
	}
	goOn = sync.OnceFunc(func() { close(goesOn) })
	t.Cleanup(goOn)
	return told, goOn
}

func (f *faulty) call(method, id string) error {
	f.mu.Lock()
	fails, slow := f.fails[method], f.slow
	f.mu.Unlock()
	if slow != nil {
		slow(id)
	}
	if fails {
		return fmt.Errorf("%s: %w", method, errBroken)
	}
	return nil
}

var errBroken = errors.New("secret of the store")

func (f *faulty) log(id string, log journal.Log, err error) (journal.Log, error) {
	if err != nil {
		return nil, err
	}
	return &faultyLog{log, f, id}, nil
}

func (f *faulty) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	if err := f.call("Create", id); err != nil {
		return nil, err
	}
	log, err := f.Store.Create(ctx, id, m)
	return f.log(id, log, err)
}

func (f *faulty) Open(ctx context.Context, id string) (journal.Log, error) {
	if err := f.call("Open", id); err != nil {
		return nil, err
	}
	log, err := f.Store.Open(ctx, id)
	return f.log(id, log, err)
}

func (f *faulty) Meta(ctx context.Context, id string) (journal.Meta, error) {
	if err := f.call("Meta", id); err != nil {
		return journal.Meta{}, err
	}
	return f.Store.Meta(ctx, id)
}

func (f *faulty) List(ctx context.Context, q journal.Query) ([]journal.Meta, string, error) {
	if err := f.call("List", ""); err != nil {
		return nil, "", err
	}
	return f.Store.List(ctx, q)
}

func (f *faulty) Delete(ctx context.Context, id string) error {
	if err := f.call("Delete", id); err != nil {
		return err
	}
	return f.Store.Delete(ctx, id)
}

type faultyLog struct {
	journal.Log
	store *faulty
	id    string
}

func (l *faultyLog) Append(recs ...journal.Record) (int64, error) {
	if err := l.store.call("Append", l.id); err != nil {
		return 0, err
	}
	return l.Log.Append(recs...)
}

// A store that fails for good refuses what needs it, with an error that does not show its own. Nothing reaches the agent
// that cannot be stored, and the hub ends.
func TestStoreFailsForGood(t *testing.T) {
	for method, c := range map[string]struct {
		failing []string // what is refused then
		created bool     // the session is made before the store fails
	}{
		"Create": {[]string{acp.MethodSessionNew}, true},
		"Append": {[]string{acp.MethodSessionPrompt}, true},
		"Open":   {[]string{acp.MethodSessionLoad, acp.MethodSessionResume}, false},
		"Meta":   {[]string{acp.MethodSessionLoad, acp.MethodSessionResume, acp.MethodSessionDelete}, false},
		"List":   {[]string{acp.MethodSessionList}, true},
		"Delete": {[]string{acp.MethodSessionDelete}, true},
	} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worker{turn: says("hello")}
				store := &faulty{Store: new(journal.Memory)}
				h := start(t, w, &hub.Options{Store: store})
				s := join(t, h, "").open()
				if !c.created {
					require.NoError(t, h.Shutdown(t.Context()))
					h = restart(t, w, &hub.Options{Store: store})
				}
				a := connect(t, h, "")
				a.call(t, 1, acp.MethodInitialize, `{"protocolVersion":1}`)
				load := fmt.Sprintf(methods[acp.MethodSessionLoad].params, string(s.ID()))
				if c.created {
					a.call(t, 2, acp.MethodSessionLoad, load)
				}
				store.mu.Lock()
				store.fails = map[string]bool{method: true}
				store.mu.Unlock()
				for i, failing := range c.failing {
					params := methods[failing].params
					if strings.Contains(params, "%") {
						params = fmt.Sprintf(params, string(s.ID()))
					}
					for n := range 3 {
						res := a.call(t, 10*i+n+3, failing, params)
						assert.Contains(t, res, `"error":{"code":-32603,"message":"`, failing)
						assert.Contains(t, res, "the sessions cannot be stored or read", failing)
						assert.NotContains(t, res, "secret", failing)
					}
				}
				assert.Empty(t, w.seen())
				for info := range h.Sessions() {
					assert.False(t, info.Running)
				}
				require.NoError(t, h.Shutdown(t.Context()), "nothing that was shown is lost")
			})
		})
	}
}

// A store that hangs in one session keeps no other one from going on, and nothing is lost.
func TestStoreHangs(t *testing.T) { // without synctest, whose clock stands still while a mutex is waited for
	w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
		for i := range 10 {
			if err := s.Update(ctx, &acp.ToolCall{ToolCallID: acp.ToolCallID(fmt.Sprint(i)), Title: "x", Status: acp.ToolCallStatusCompleted}); err != nil {
				return "", err
			}
		}
		return acp.StopReasonEndTurn, nil
	}}
	store := &faulty{Store: new(journal.Memory)}
	var revoked atomic.Bool // bob is
	reviewed := make(chan struct{}, 99)
	access := func(_ context.Context, principal string, s hub.Info) hub.Role {
		if principal == "bob" && revoked.Load() {
			reviewed <- struct{}{}
			return hub.None
		}
		return hub.Control
	}
	h := start(t, w, &hub.Options{Store: store, Principal: byContext, Access: access})
	a, b := join(t, h, "ann"), join(t, h, "bob")
	stuck, goes := a.open(), b.open()
	hangs, goOn := store.hangsIn(t, stuck.ID())
	turn := stuck.Prompt(t.Context(), acp.Text("hangs"))
	<-hangs
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	_, err := goes.Prompt(ctx, acp.Text("go")).Wait()
	require.NoError(t, err, "an open session")
	_, err = b.conn.ListSessions(ctx, &acp.ListSessionsRequest{})
	require.NoError(t, err, "the list")
	_, err = a.conn.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: goes.ID(), Cwd: "/work"})
	require.NoError(t, err, "a load")
	_, err = b.conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
	require.NoError(t, err, "a new session")
	assert.Len(t, slices.Collect(h.Sessions()), 3)
	for range 8 {
		b.open()
	}
	revoked.Store(true)
	var revoking sync.WaitGroup
	revoking.Go(func() { h.Revoke(t.Context(), "bob") }) // ends when the store goes on
	for range 11 {                                       // Access is asked for all of them
		select {
		case <-reviewed:
		case <-ctx.Done():
			require.Fail(t, "a revocation waits for the session whose store hangs")
		}
	}
	goOn()
	revoking.Wait()
	_, err = turn.Wait()
	require.NoError(t, err)
	late := join(t, h, "ann")
	late.load(stuck.ID())
	assert.Len(t, late.transcript(stuck.ID()), 11)
	assert.Equal(t, late.transcript(stuck.ID()), a.transcript(stuck.ID()))
}

// The agent is started again, and sessions go on, while the store hangs in another one. That one goes on with the store.
func TestAgentReturnsWhileTheStoreHangs(t *testing.T) { // without synctest, whose clock stands still while a mutex is waited for
	w := &worker{turn: says("hello")}
	store := &faulty{Store: new(journal.Memory)}
	down := make(chan struct{}, 9)
	o := &hub.Options{Store: store}
	o.Agent.OnDown = func(supervise.Down) { down <- struct{}{} }
	h := start(t, w, o)
	a, b := join(t, h, ""), join(t, h, "")
	stuck, goes := a.open(), b.open()
	hangs, goOn := store.hangsIn(t, stuck.ID())
	turn := stuck.Prompt(t.Context(), acp.Text("hangs"))
	<-hangs
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	for range 3 {
		w.crash()
		<-down
		_, err := goes.Prompt(ctx, acp.Text("go")).Wait()
		require.NoError(t, err)
	}
	goOn()
	_, err := turn.Wait()
	require.NoError(t, err)
	want := []string{"user: hangs", "agent: The agent was started again and does not remember this conversation.", "agent: hello"}
	assert.Equal(t, want, a.transcript(stuck.ID()))
	assert.Equal(t, []string{"go", "go", "go", "hangs"}, w.seen())
}
