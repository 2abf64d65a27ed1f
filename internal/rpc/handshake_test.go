package rpc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// around plays one random handshake. The peer sends notifications and responses in a random order before,
// during and after it. Calls are made by the handler of initialize and by goroutines beside it.
type around struct {
	r       *rand.Rand
	fails   bool // the handshake
	ends    bool // the input, during the handshake
	handled events

	mu      sync.Mutex   // guards all below
	sent    []string     // by the peer, in order: note 3, answer 2
	before  map[int]int  // notifications that were sent before the answer with this number, and are to be handled
	notes   int          // those so far
	beside  map[int]bool // calls that were made beside the handler
	wrong   []string
	pending []int
}

// call makes a call and looks at what was handled when it returns.
func (a *around) call(ctx context.Context, c *rpc.Conn, n int) {
	_, err := c.Call(ctx, mAsk, &msg{N: n}, nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	handled := len(a.handled.list())
	need, answered := a.before[n]
	if err == nil && !answered {
		a.wrong = append(a.wrong, fmt.Sprintf("call %d returned without an answer", n))
	}
	if !answered { // it failed with the connection
		need = a.notes
	}
	if a.beside[n] && !a.fails && handled < need {
		a.wrong = append(a.wrong, fmt.Sprintf("call %d returned (%v) with %d of %d notifications handled; %v", n, err, handled, need, a.sent))
	}
}

// peer sends n random messages, answers to the calls that it has read among them.
func (a *around) peer(p peer, n int, handshake bool) {
	for range n {
		a.mu.Lock()
		i := -1
		if len(a.pending) > 0 && a.r.IntN(2) == 0 {
			i = a.r.IntN(len(a.pending))
		}
		if i < 0 {
			if handshake {
				a.notes++
			}
			a.sent = append(a.sent, "note")
			a.mu.Unlock()
			p.note(a.notes)
			continue
		}
		id := a.pending[i]
		a.pending = slices.Delete(a.pending, i, i+1)
		a.before[id] = a.notes
		a.sent = append(a.sent, "answer "+strconv.Itoa(id))
		a.mu.Unlock()
		p.answer(id, id)
		if a.r.IntN(3) == 0 {
			synctest.Wait()
		}
	}
}

func (a *around) play(t *testing.T) {
	var c *rpc.Conn
	entered, leave := make(chan context.Context, 1), make(chan struct{})
	var calls sync.WaitGroup
	made := 0
	begin := func(ctx context.Context, beside bool) {
		a.mu.Lock()
		made++
		n := made
		a.beside[n] = beside
		a.mu.Unlock()
		calls.Go(func() { a.call(ctx, c, n) })
		synctest.Wait() // so that ids are numbers of calls
	}
	c, p := start(t, rpc.Config{Handshake: "initialize", Entries: []*rpc.Entry{
		on(mInit, func(ctx context.Context, m *msg) (*msg, error) {
			entered <- ctx
			<-leave
			if a.fails {
				return nil, assert.AnError
			}
			return m, nil
		}),
		on(mNote, func(_ context.Context, m *msg) (*msg, error) {
			time.Sleep(time.Millisecond)
			a.handled.add("%d", m.N)
			return nil, nil
		}),
	}})
	a.peer(p, a.r.IntN(3), false) // dropped
	p.request(100, "initialize", 0)
	handler := <-entered
	for range 1 + a.r.IntN(4) {
		if a.r.IntN(3) == 0 {
			begin(handler, false)
		} else {
			begin(context.Background(), true)
		}
	}
	for n := range made {
		p.ExpectJSON(fmt.Sprintf(`{'jsonrpc':'2.0','id':%d,'method':'t/ask','params':{'n':%d}}`, n+1, n+1))
		a.pending = append(a.pending, n+1)
	}
	a.peer(p, a.r.IntN(8), true)
	synctest.Wait()
	if a.ends {
		p.Close()
		synctest.Wait()
	}
	close(leave)
	if !a.ends {
		synctest.Wait()
		p.Next()
		a.peer(p, 20, true)
		p.Close()
	}
	calls.Wait()
	require.NoError(t, c.Wait())
	require.Empty(t, a.wrong)
	if !a.fails {
		var want []string
		for n := range a.notes {
			want = append(want, strconv.Itoa(n+1))
		}
		require.Equal(t, strings.Join(want, " "), strings.Join(a.handled.list(), " "))
	}
}

// A call that is made beside the handler of the handshake returns after the notifications that were read
// before its response, also while they are held. One that the handler makes does not wait for them, or it
// would wait for itself.
func TestPromisesAroundTheHandshake(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range *scripts {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		bubble(t, func(t *testing.T) {
			a := &around{r: r, fails: r.IntN(5) == 0, ends: r.IntN(4) == 0, before: map[int]int{}, beside: map[int]bool{}}
			a.play(t)
		})
	}
}

// The response to initialize is queued before the gate opens. What the peer sends once it has read it is
// still in order.
func TestResponseBehindNotificationsOfTheHandshake(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ev events
		var l logs
		in, out := make(chan struct{}), make(chan struct{})
		c, p := start(t, rpc.Config{Handshake: "initialize", Logger: l.logger(), Entries: append(recorded(&ev), on(mInit, func(context.Context, *msg) (*msg, error) {
			close(in)
			<-out
			return &msg{}, nil
		}))})
		p.request(100, "initialize", 0)
		<-in
		called := make(chan error, 1)
		go func() { // ends with the response
			_, err := c.Call(context.Background(), mAsk, &msg{}, &rpc.CallOptions{AtResponse: func(error) { ev.add("at") }})
			ev.add("returned")
			called <- err
		}()
		p.Next()
		p.note(1)
		p.answer(1, 0)
		time.Sleep(11 * time.Second)
		assert.Empty(t, ev.list())
		assert.Contains(t, l.String(), "handler=initialize waiting=t/ask", "as for a notification handler that waits for itself")
		close(out)
		require.NoError(t, <-called)
		assert.Equal(t, []string{"note 1", "at", "returned"}, ev.list())
	})
}
