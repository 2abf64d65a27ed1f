package hub_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// shared is a store of several hubs, by name. It ends the logs of a hub that dies.
type shared struct {
	journal.Memory
	mu      sync.Mutex
	holders map[string]string
	logs    map[string]*sharedLog
	hubs    map[string]*hub.Hub
	reached int
}

// of returns the store of a hub.
func (s *shared) of(name string) journal.Store { return &sharedStore{shared: s, name: name} }

// reach is Options.Reach of all hubs.
func (s *shared) reach(_ context.Context, holder, principal string) (stream.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reached++
	h := s.hubs[holder]
	if h == nil {
		return nil, errors.New("no such hub")
	}
	near, far := stream.Pipe()
	go func() { _ = h.ServeNode(context.Background(), far, principal) }() // ends with the connection
	return near, nil
}

// take ends the log of a session, as a store does when another process has opened it.
func (s *shared) take(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.logs[id].Log.Close()
	delete(s.holders, id)
}

type sharedStore struct {
	*shared
	name string
}

type sharedLog struct{ journal.Log }

func (s *sharedStore) open(id string, open func() (journal.Log, error)) (journal.Log, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := open()
	if held, ok := errors.AsType[*journal.HeldError](err); ok {
		return nil, &journal.HeldError{ID: held.ID, Holder: s.holders[id]}
	} else if err != nil {
		return nil, err
	}
	s.holders[id], s.logs[id] = s.name, &sharedLog{l}
	return s.logs[id], nil
}

func (s *sharedStore) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	return s.open(id, func() (journal.Log, error) { return s.Memory.Create(ctx, id, m) })
}

func (s *sharedStore) Open(ctx context.Context, id string) (journal.Log, error) {
	return s.open(id, func() (journal.Log, error) { return s.Memory.Open(ctx, id) })
}

func (s *sharedStore) Delete(ctx context.Context, id string) error {
	err := s.Memory.Delete(ctx, id)
	if _, ok := errors.AsType[*journal.HeldError](err); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		return &journal.HeldError{ID: id, Holder: s.holders[id]}
	}
	return err
}

// cluster returns the hubs a and b, which share a store.
func cluster(t *testing.T, w *worker) (s *shared, a, b *hub.Hub) {
	leak.Check(t)
	s = &shared{holders: map[string]string{}, logs: map[string]*sharedLog{}, hubs: map[string]*hub.Hub{}}
	for _, name := range []string{"a", "b"} {
		s.hubs[name] = restart(t, w, &hub.Options{Store: s.of(name), Reach: s.reach, Principal: byContext})
	}
	return s, s.hubs["a"], s.hubs["b"]
}

// A client of one hub uses a session of another as its own, and as itself.
func TestSessionOfAnotherHub(t *testing.T) {
	w := &worker{turn: func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
		if acp.PlainText(p.Prompt...) == "wait" {
			<-ctx.Done()
			return acp.StopReasonCancelled, nil
		}
		return acp.StopReasonEndTurn, s.Message(ctx, "yes")
	}}
	s, a, b := cluster(t, w)
	here := join(t, a, "ann")
	session := here.open()
	here.prompt(session, "one")
	away := join(t, b, "ann")
	same := away.load(session.ID())
	assert.Equal(t, here.transcript(session.ID()), away.transcript(session.ID()))
	assert.Equal(t, acp.StopReasonEndTurn, away.prompt(same, "two"))
	want := []string{"user: one", "agent: yes", "user: two", "agent: yes"}
	full := func(s *thread.Snapshot) bool { return s.Items.Len() == len(want) }
	here.until(session.ID(), full)
	assert.Equal(t, want, here.transcript(session.ID()))

	stranger := join(t, b, "bob")
	_, err := stranger.conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: session.ID(), Cwd: "/work"})
	require.ErrorContains(t, err, "not found")

	turn := same.Prompt(t.Context(), acp.Text("wait"))
	here.until(session.ID(), func(s *thread.Snapshot) bool { return s.Items.Len() == len(want)+1 })
	require.NoError(t, turn.Cancel(t.Context()))
	res, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, res.StopReason)

	other := here.open()
	away.load(other.ID())
	assert.Equal(t, 1, s.reached, "one connection for all sessions of a hub")
	_, err = away.conn.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: other.ID()})
	require.NoError(t, err)
	_, err = here.conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: other.ID(), Cwd: "/work"})
	require.ErrorContains(t, err, "not found")
}

// A turn goes on when the client that sent its prompt from another hub leaves.
func TestSenderAtAnotherHubLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a hub waits 5 s for a client that has closed its end and may still read
		leave := make(chan struct{})
		w := &worker{turn: func(ctx context.Context, s *agent.Session, _ *acp.PromptRequest) (acp.StopReason, error) {
			select {
			case <-leave:
				return acp.StopReasonEndTurn, s.Message(ctx, "done")
			case <-ctx.Done():
				return acp.StopReasonCancelled, nil
			}
		}}
		_, a, b := cluster(t, w)
		here := join(t, a, "ann")
		session := here.open()
		away := join(t, b, "ann")
		away.load(session.ID()).Prompt(t.Context(), acp.Text("go"))
		here.until(session.ID(), func(s *thread.Snapshot) bool { return s.Items.Len() == 1 })
		away.leave()
		close(leave)
		here.until(session.ID(), func(s *thread.Snapshot) bool { return s.Items.Len() == 2 })
		assert.Equal(t, []string{"user: go", "agent: done"}, here.transcript(session.ID()))
	})
}

// A client at another hub gets the questions of a session.
func TestQuestionFromAnotherHub(t *testing.T) {
	w := &worker{turn: asks}
	_, a, b := cluster(t, w)
	session := join(t, a, "ann").open()
	away := join(t, b, "ann")
	away.answer = selects(options[0].OptionID)
	assert.Equal(t, acp.StopReasonEndTurn, away.prompt(away.load(session.ID()), "go"))
}

// When the hub that holds a session ends, a client at another one is told, loads the session again, and has it there. A load
// waits while the store does not let go of the session.
func TestHolderEnds(t *testing.T) {
	w := &worker{turn: says("yes")}
	s, a, b := cluster(t, w)
	session := join(t, a, "ann").open()
	away := join(t, b, "ann")
	away.load(session.ID())
	s.mu.Lock()
	delete(s.hubs, "a") // which nobody reaches any more
	s.mu.Unlock()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	again := join(t, b, "ann")
	ended := make(chan error, 1)
	go func() { // ends with the load
		_, err := again.conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: session.ID(), Cwd: "/work"})
		ended <- err
	}()
	select {
	case err := <-ended:
		require.Fail(t, "the load does not wait", "%v", err)
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, ignoreCancel(a.Shutdown(ctx)))
	require.NoError(t, <-ended)
	err := <-away.served
	away.served = nil
	require.ErrorIs(t, err, hub.ErrLost)
	later := join(t, b, "ann")
	assert.Equal(t, acp.StopReasonEndTurn, later.prompt(later.load(session.ID()), "two"))
}

func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// A hub whose log the store has ended refuses the prompt, and its clients are told.
func TestLogIsTaken(t *testing.T) {
	w := &worker{turn: says("yes")}
	s, a, _ := cluster(t, w)
	u := join(t, a, "ann")
	session := u.open()
	u.prompt(session, "one")
	s.take(string(session.ID()))
	_, err := session.Prompt(t.Context(), acp.Text("two")).Wait()
	require.Error(t, err)
	assert.Equal(t, []string{"one"}, w.seen())
	served := <-u.served
	u.served = nil
	require.ErrorIs(t, served, hub.ErrLost)
	v := join(t, a, "ann")
	v.prompt(v.load(session.ID()), "three")
	assert.Equal(t, []string{"one", "three"}, w.seen())
}
