package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// The promises of the package are checked with random scripts: two ends send each other
// notifications and calls, whose handlers send and call in turn, to any depth, with sleeps and
// cancels in between. All events are recorded, including the order of the messages on the wire, and
// checked afterwards.

var scripts = flag.Int("scripts", 300, "how many random scripts TestPromises runs")

// act is one step of a script.
type act struct {
	Kind    string `json:"kind"` // call, note, sleep, go
	Sleep   int    `json:"sleep,omitempty"`
	Timeout int    `json:"timeout,omitempty"` // of a call, in milliseconds; 0: none
	UID     int    `json:"uid,omitempty"`
	Do      []act  `json:"do,omitempty"` // what the handler does
}

type step struct {
	UID int   `json:"uid"`
	Do  []act `json:"do,omitempty"`
}

var (
	stepCodec = &wire.Codec{
		Decode: func(raw []byte) (any, int64, error) {
			s := new(step)
			return s, int64(len(raw)), json.Unmarshal(raw, s)
		},
		Append: func(b []byte, v any) ([]byte, error) {
			raw, err := json.Marshal(v)
			return append(b, raw...), err
		},
		Valid: func(any, bool) bool { return true },
		Is:    func(v any) bool { _, ok := v.(*step); return ok },
	}
	stepCall = &wire.Method{Name: "t/call", Params: stepCodec, Result: stepCodec}
	stepNote = &wire.Method{Name: "t/note", Notification: true, Params: stepCodec}
)

// script makes random steps. In a quiet one the handlers of notifications neither
// send nor call, so that no exception applies.
func script(r *rand.Rand, depth, most int, quiet bool, uid *int) []act {
	var all []act
	for range r.IntN(most + 1) {
		a := act{}
		switch n := r.IntN(10); {
		case n < 4:
			a.Kind = "note"
		case n < 8:
			a.Kind = "call"
			if r.IntN(6) == 0 {
				a.Timeout = 1 + r.IntN(20)
			}
		default:
			a.Kind, a.Sleep = "sleep", r.IntN(10)
		}
		if a.Kind != "sleep" {
			*uid++
			a.UID = *uid
			switch {
			case a.Kind == "note" && quiet:
				a.Do = []act{{Kind: "sleep", Sleep: r.IntN(10)}}
			case depth > 0:
				a.Do = script(r, depth-1, 3, quiet, uid)
			}
		}
		all = append(all, a)
	}
	return all
}

// span is one run of a handler or of a call, in ticks of the world's clock.
type span struct {
	uid, from, to int
	exempt        bool
}

// side records the actions and observations of one end.
type side struct {
	conn     *rpc.Conn
	wire     []string // what it received, in order: note 5, call 5, answer 5
	notes    []span   // handlers
	requests []span
	calls    []span // those that returned an answer

	// The exception to the order: requests start at once while a notification
	// handler is inside a Conn method.
	inside  int         // Conn methods that run with a ctx of a notification handler
	left    int         // when the last of them returned
	arrived map[int]int // when each request was written by the other side
}

// world is one run.
type world struct {
	mu    sync.Mutex // guards all
	clock int
	sides [2]*side
	errs  []error
}

func (w *world) tick() int { w.clock++; return w.clock }

// tapped records what leaves on a stream, as what the other side receives.
type tapped struct {
	stream.Stream
	w    *world
	to   int
	uids map[string]int // of the calls under way to the side that writes here, by id
	back *tapped
}

func (s *tapped) Write(b []byte) error { return s.WriteBatch([][]byte{b}) }

func (s *tapped) Features() *stream.Features { return &stream.Features{WriteBatch: s.WriteBatch} }

func (s *tapped) WriteBatch(all [][]byte) error {
	s.w.mu.Lock()
	for _, b := range all {
		var m struct {
			ID     json.RawMessage
			Method string
			Params step
		}
		if err := json.Unmarshal(b, &m); err != nil {
			s.w.errs = append(s.w.errs, err)
		}
		to := s.w.sides[s.to]
		switch {
		case m.Method == "t/note":
			to.wire = append(to.wire, fmt.Sprint("note ", m.Params.UID))
		case m.Method == "t/call":
			to.wire = append(to.wire, fmt.Sprint("call ", m.Params.UID))
			to.arrived[m.Params.UID] = s.w.tick()
			s.back.uids[string(m.ID)] = m.Params.UID
		case m.Method == "":
			to.wire = append(to.wire, fmt.Sprint("answer ", s.uids[string(m.ID)]))
		}
	}
	s.w.mu.Unlock()
	if f := stream.FeaturesOf(s.Stream); f.WriteBatch != nil {
		return f.WriteBatch(all)
	}
	for _, b := range all {
		if err := s.Stream.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// run does the steps of a script on one side.
func (w *world) run(ctx context.Context, at int, do []act, fromNote bool) {
	s := w.sides[at]
	for _, a := range do {
		if a.Kind == "sleep" {
			time.Sleep(time.Duration(a.Sleep) * time.Millisecond)
			continue
		}
		w.mu.Lock()
		if fromNote {
			s.inside++
		}
		from := w.tick()
		w.mu.Unlock()
		var err error
		if a.Kind == "note" {
			err = s.conn.Notify(ctx, stepNote, &step{UID: a.UID, Do: a.Do})
		} else {
			err = w.call(ctx, s.conn, a)
		}
		w.mu.Lock()
		if fromNote {
			s.inside--
			s.left = w.tick()
		}
		if err == nil && a.Kind == "call" {
			s.calls = append(s.calls, span{uid: a.UID, from: from, to: w.tick(), exempt: fromNote})
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
			w.errs = append(w.errs, err)
		}
		w.mu.Unlock()
	}
}

func (w *world) call(ctx context.Context, c *rpc.Conn, a act) error {
	if a.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(a.Timeout)*time.Millisecond)
		defer cancel()
	}
	res, err := c.Call(ctx, stepCall, &step{UID: a.UID, Do: a.Do}, nil)
	if err == nil && res.(*step).UID != a.UID {
		return fmt.Errorf("call %d got the answer of %d", a.UID, res.(*step).UID)
	}
	return err
}

func (w *world) entries(at int) []*rpc.Entry {
	s := w.sides[at]
	return []*rpc.Entry{
		{Method: stepNote, Handle: func(ctx context.Context, p any) (any, error) {
			w.mu.Lock()
			n := span{uid: p.(*step).UID, from: w.tick()}
			w.mu.Unlock()
			w.run(ctx, at, p.(*step).Do, true)
			w.mu.Lock()
			n.to = w.tick()
			s.notes = append(s.notes, n)
			w.mu.Unlock()
			return nil, nil
		}},
		{Method: stepCall, Handle: func(ctx context.Context, p any) (any, error) {
			w.mu.Lock()
			r := span{uid: p.(*step).UID, from: w.tick()}
			r.exempt = s.inside > 0 || s.left > s.arrived[r.uid]
			w.mu.Unlock()
			w.run(ctx, at, p.(*step).Do, r.exempt)
			w.mu.Lock()
			r.to = w.tick()
			s.requests = append(s.requests, r)
			w.mu.Unlock()
			return &step{UID: r.uid}, nil
		}},
	}
}

// check compares the events on one side with the promises.
func (s *side) check() error {
	ended := map[int]int{} // notification -> when its handler returned
	for _, n := range s.notes {
		ended[n.uid] = n.to
	}
	var wireNotes []int
	behind := map[string][]int{} // what was read -> the notifications read before it
	answers := map[string]int{}
	for _, e := range s.wire {
		var kind string
		var uid int
		_, _ = fmt.Sscan(e, &kind, &uid)
		if kind == "note" {
			wireNotes = append(wireNotes, uid)
			continue
		}
		behind[e] = slices.Clone(wireNotes)
		if kind == "answer" {
			answers[e]++
		}
	}
	for e, n := range answers {
		if n > 1 {
			return fmt.Errorf("%s was written %d times", e, n)
		}
	}
	if len(s.notes) != len(wireNotes) {
		return fmt.Errorf("%d notifications arrived, %d were handled", len(wireNotes), len(s.notes))
	}
	for i, n := range s.notes {
		if n.uid != wireNotes[i] {
			return fmt.Errorf("notification %d was handled in place of %d", n.uid, wireNotes[i])
		}
		if i > 0 && s.notes[i-1].to > n.from {
			return fmt.Errorf("notification %d overlaps the one before", n.uid)
		}
	}
	for _, r := range s.requests {
		for _, n := range behind[fmt.Sprint("call ", r.uid)] {
			if ended[n] > r.from && !r.exempt {
				return fmt.Errorf("request %d started before notification %d was handled", r.uid, n)
			}
		}
	}
	for _, k := range s.calls {
		for _, n := range behind[fmt.Sprint("answer ", k.uid)] {
			if ended[n] > k.to && !k.exempt {
				return fmt.Errorf("call %d returned before notification %d was handled", k.uid, n)
			}
		}
	}
	return nil
}

func TestPromises(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range *scripts {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		synctest.Test(t, func(t *testing.T) {
			leak.Check(t)
			near, far := stream.Pipe()
			require.NoError(t, play(r, near, far), "script %d", i)
		})
	}
}

// play runs one script and checks it.
func play(r *rand.Rand, s0, s1 stream.Stream) error {
	w := &world{sides: [2]*side{{arrived: map[int]int{}}, {arrived: map[int]int{}}}}
	t0 := &tapped{Stream: s0, w: w, to: 1, uids: map[string]int{}}
	t1 := &tapped{Stream: s1, w: w, to: 0, uids: map[string]int{}, back: t0}
	t0.back = t1
	for i, s := range []stream.Stream{t0, t1} {
		w.sides[i].conn = newConn(rpc.Config{
			Stream: s, Entries: w.entries(i), Logger: slog.New(slog.DiscardHandler),
			Limits: rpc.Limits{MaxHandlers: 1 + r.IntN(8), SendQueue: 1 + r.Int64N(2000), Backlog: 1 + r.Int64N(2000)},
		})
	}
	for _, s := range w.sides {
		if err := s.conn.Start(context.Background()); err != nil {
			return err
		}
	}
	uid, quiet := 0, r.IntN(2) == 0
	var wg sync.WaitGroup
	for range 1 + r.IntN(4) {
		do, at := script(r, 4, 6, quiet, &uid), r.IntN(2)
		wg.Go(func() { w.run(context.Background(), at, do, false) })
	}
	wg.Wait()
	time.Sleep(time.Minute)
	if err := w.sides[0].conn.Shutdown(context.Background()); err != nil {
		return err
	}
	for _, s := range w.sides {
		if err := s.conn.Wait(); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(w.errs...); err != nil {
		return err
	}
	for _, s := range w.sides {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}
