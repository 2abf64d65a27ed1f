package hub_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
)

// failing is a store of which some calls of Append fail.
type failing struct {
	journal.Store
	mu     sync.Mutex
	fails  func(call int) error // of the calls from then on
	calls  int
	stores bool // what fails is stored all the same, as in a cluster that has lost its leader
}

func (f *failing) set(stores bool, fails func(call int) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stores, f.fails, f.calls = stores, fails, 0
}

func (f *failing) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	log, err := f.Store.Create(ctx, id, m)
	return &failingLog{log, f}, err
}

func (f *failing) Open(ctx context.Context, id string) (journal.Log, error) {
	log, err := f.Store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return &failingLog{log, f}, nil
}

type failingLog struct {
	journal.Log
	store *failing
}

func (l *failingLog) Append(recs ...journal.Record) (int64, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.store.fails != nil {
		l.store.calls++
		if err := l.store.fails(l.store.calls); err != nil {
			if l.store.stores {
				_, _ = l.Log.Append(recs...)
			}
			if errors.Is(err, journal.ErrClosed) {
				_ = l.Log.Close()
			}
			return 0, err
		}
	}
	return l.Log.Append(recs...)
}

// Nobody sees anything of a prompt that the store refuses: neither the agent, nor a client that is attached, one that comes later, or
// one of a later hub. What was shown before, and what is shown after, is there. The session goes on.
func TestRefusedPromptLeavesNothing(t *testing.T) {
	full := fmt.Errorf("append: %w", syscall.ENOSPC)
	unknown := fmt.Errorf("no leader: %w", journal.ErrClosed)
	for name, c := range map[string]struct {
		fails  func(call int) error
		stores bool
		lost   bool // the log has ended, so the clients load the session again
	}{
		"no room":                     {fails: func(int) error { return full }},
		"no room for the prompt":      {fails: func(n int) error { return map[int]error{1: full}[n] }},
		"room for the prompt alone":   {fails: func(n int) error { return map[int]error{2: full}[n] }},
		"outcome unknown, not stored": {fails: func(int) error { return unknown }, lost: true},
		"outcome unknown, and stored": {fails: func(int) error { return unknown }, stores: true, lost: true},
		"ended after it was stored":   {fails: func(n int) error { return map[int]error{2: unknown}[n] }, lost: true},
	} {
		for kind, store := range map[string]func(t *testing.T) journal.Store{
			"memory": func(*testing.T) journal.Store { return new(journal.Memory) },
			"files": func(t *testing.T) journal.Store {
				files, err := journal.OpenFiles(t.TempDir(), nil)
				require.NoError(t, err)
				return files
			},
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { refusePrompts(t, &failing{Store: store(t)}, c.fails, c.stores, c.lost) })
			})
		}
	}
}

func refusePrompts(t *testing.T, store *failing, fails func(int) error, stores, lost bool) {
	w := &worker{turn: says("yes")}
	h := start(t, w, &hub.Options{Store: store})
	a, b := join(t, h, ""), join(t, h, "")
	s := a.open()
	b.load(s.ID())
	a.prompt(s, "goes on")
	want := []string{"user: goes on", "agent: yes"}
	synctest.Wait()
	for _, text := range []string{"short", strings.Repeat("x", 9<<20)} { // the latter is more than may wait for room
		store.set(stores, fails)
		_, err := s.Prompt(t.Context(), acp.Text(text), acp.Text("of two blocks")).Wait()
		require.ErrorContains(t, err, "cannot be stored")
		store.set(false, nil)
		synctest.Wait()
		assert.Equal(t, want, b.transcript(s.ID()))
		if lost {
			require.ErrorIs(t, <-a.served, hub.ErrLost)
			require.ErrorIs(t, <-b.served, hub.ErrLost)
			a.served, b.served = nil, nil
			a, b = join(t, h, ""), join(t, h, "")
			s = a.load(s.ID())
			b.load(s.ID())
			assert.Equal(t, want, b.transcript(s.ID()))
			want = append(want, "agent: The agent was started again and does not remember this conversation.")
		}
		a.prompt(s, "goes on")
		want = append(want, "user: goes on", "agent: yes")
		synctest.Wait()
		assert.Equal(t, want, b.transcript(s.ID()))
	}
	require.NoError(t, h.Shutdown(t.Context()))
	late := join(t, restart(t, w, &hub.Options{Store: store.Store}), "")
	late.load(s.ID())
	assert.Equal(t, want, late.transcript(s.ID()))
	assert.Equal(t, []string{"goes on", "goes on", "goes on"}, w.seen())
}
