package kit_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
)

// script is a Turn function that executes the text of the prompt.
type script struct {
	steps
	log     logged
	release chan struct{} // ends a turn that ignores its ctx
}

// agent returns an agent whose turns execute the script.
func (s *script) agent(o kit.Options) *kit.Agent {
	s.release = make(chan struct{})
	o.Logger = slog.New(&s.log)
	o.Turn = s.turn
	return kit.New(&o)
}

func (s *script) turn(ctx context.Context, session *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	text := acp.PlainText(p.Blocks...)
	s.add(text)
	defer s.add("end of " + text)
	switch text {
	case "hour", "hour of one", "hour of two":
		select {
		case <-time.After(time.Hour):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	case "slow end":
		<-ctx.Done()
		time.Sleep(time.Second)
		return "", session.Text(ctx, "last words")
	case "stuck":
		<-s.release
	case "panic":
		panic("/home/me")
	case "error":
		return "", errors.New("/home/me is full")
	}
	return "", nil
}

// TestTurns sends prompts and the requests that end them. A letter after an outcome tells the
// version in which it is expected: prompts of version 2 that wait have no stop reason.
func TestTurns(t *testing.T) {
	type request = func(w *wire) (id int)
	prompt := func(text string) request { return func(w *wire) int { return w.prompt(text) } }
	pause := func(d time.Duration) request { return func(*wire) int { time.Sleep(d); return 0 } }
	cancel := func(w *wire) int { w.cancel(); return 0 }
	quiet := pause(0)
	method := func(name string) request {
		return func(w *wire) int { return w.send(name, `{"sessionId":"SESSION"}`) }
	}
	withdraw := func(id string) request {
		return func(w *wire) int { w.Notify("$/cancel_request", `{"requestId":`+id+`}`); return 0 }
	}
	for name, tc := range map[string]struct {
		queue    int
		requests []request
		steps    []string
		v1, v2   []string // how the prompts and the other requests end
	}{
		"prompts run in the order in which they arrived": {
			requests: []request{prompt("hour"), prompt("a"), prompt("b"), prompt("c"), pause(2 * time.Hour)},
			steps:    []string{"hour", "end of hour", "a", "end of a", "b", "end of b", "c", "end of c"},
			v1:       []string{"end_turn", "end_turn", "end_turn", "end_turn"},
		},
		"a cancel ends the running turn and never starts those that wait": {
			requests: []request{prompt("hour"), prompt("a"), prompt("b"), quiet, cancel, pause(2 * time.Hour)},
			steps:    []string{"hour", "end of hour"},
			v1:       []string{"cancelled", "cancelled", "cancelled"},
			v2:       []string{"cancelled", "-32800", "-32800"},
		},
		"a prompt right behind a cancel runs": {
			requests: []request{prompt("slow end"), prompt("a"), quiet, cancel, prompt("b"), pause(time.Hour)},
			steps:    []string{"slow end", "end of slow end", "b", "end of b"},
			v1:       []string{"cancelled", "cancelled", "end_turn"},
			v2:       []string{"cancelled", "-32800", "end_turn"},
		},
		"a prompt that waits can be withdrawn": {
			requests: []request{prompt("hour"), prompt("a"), prompt("b"), quiet, withdraw("4"), pause(2 * time.Hour)},
			steps:    []string{"hour", "end of hour", "b", "end of b"},
			v1:       []string{"end_turn", "-32800", "end_turn"},
		},
		"a full queue refuses": {
			queue:    2,
			requests: []request{prompt("hour"), quiet, prompt("a"), prompt("b"), quiet, prompt("c"), pause(2 * time.Hour), prompt("d")},
			steps:    []string{"hour", "end of hour", "a", "end of a", "b", "end of b", "d", "end of d"},
			v1:       []string{"end_turn", "end_turn", "end_turn", "-32600", "end_turn"},
		},
		"a queue of one takes one more than the turn": {
			queue:    1,
			requests: []request{prompt("hour"), prompt("a"), pause(2 * time.Hour), prompt("hour"), prompt("b"), pause(2 * time.Hour)},
			steps:    []string{"hour", "end of hour", "a", "end of a", "hour", "end of hour", "b", "end of b"},
			v1:       []string{"end_turn", "end_turn", "end_turn", "end_turn"},
		},
		"no queue": {
			queue:    -1,
			requests: []request{prompt("hour"), quiet, prompt("a"), pause(2 * time.Hour), prompt("b"), quiet, prompt("c")},
			steps:    []string{"hour", "end of hour", "b", "end of b", "c", "end of c"},
			v1:       []string{"end_turn", "-32600", "end_turn", "end_turn"},
		},
		"close ends the turn and those that wait": {
			requests: []request{prompt("hour"), prompt("a"), quiet, method("session/close"), quiet, prompt("b")},
			steps:    []string{"hour", "end of hour"},
			v1:       []string{"cancelled", "cancelled", "ok", "-32002"},
			v2:       []string{"cancelled", "-32800", "ok", "-32002"},
		},
		"delete ends the turn and those that wait": {
			requests: []request{prompt("hour"), prompt("a"), quiet, method("session/delete"), quiet, prompt("b"), method("session/resume")},
			steps:    []string{"hour", "end of hour"},
			v1:       []string{"cancelled", "-32002", "ok", "-32002", "-32602"},
		},
		"a panic frees the slot": {
			requests: []request{prompt("panic"), prompt("error"), prompt("a")},
			steps:    []string{"panic", "end of panic", "error", "end of error", "a", "end of a"},
			v1:       []string{"-32603", "-32603", "end_turn"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v int) {
				var s script
				w := dial(t, s.agent(kit.Options{Queue: tc.queue}), v)
				w.open()
				var ids []int
				for _, r := range tc.requests {
					if id := r(w); id != 0 {
						ids = append(ids, id)
					} else {
						s.list() // after the response, all earlier requests have arrived
					}
				}
				var got []string
				for _, id := range ids {
					got = append(got, w.outcome(id))
				}
				want := tc.v1
				if v == 2 && tc.v2 != nil {
					want = tc.v2
				}
				assert.Equal(t, want, got)
				assert.Equal(t, tc.steps, s.list())
			})
		})
	}
}

// A client reads why a turn cannot begin or a session cannot be opened now.
func TestRefusalsSayWhy(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		var s script
		a := s.agent(kit.Options{Queue: 1})
		w := dial(t, a, v)
		other := dial(t, a, v)
		other.session = w.open()
		w.prompt("hour")
		s.list()
		w.prompt("a")
		s.list() // the prompt has arrived; handlers of requests that arrive together race
		for want, id := range map[string]int{
			"Invalid request: 1 prompts of this session wait already: wait for the end of a turn": w.prompt("b"),
			"Invalid request: a turn of this session is running: wait for its end, or cancel it":  w.resume(),
		} {
			m, _ := w.reply(id)
			if assert.NotNil(t, m.Error, want) {
				assert.Equal(t, want, m.Error.Message)
				assert.Equal(t, -32600, m.Error.Code)
			}
		}
		for _, id := range []int{other.load(), other.resume()} {
			m, _ := other.reply(id)
			if assert.NotNil(t, m.Error) {
				assert.Equal(t, "Invalid request: this session is open on another connection: close it there", m.Error.Message)
			}
		}
		assert.Equal(t, "-32600", w.outcome(w.load()), "during a turn of its own")
		assert.Equal(t, "-32002", other.outcome(other.prompt("b")))
		assert.Equal(t, []string{"hour"}, s.list())
	})
}

// A prompt that is empty, or has content that was not advertised, begins no turn.
func TestPromptsThatBeginNoTurn(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		var s script
		w := dial(t, s.agent(kit.Options{}), v)
		w.open()
		for _, blocks := range []string{`[]`, `[{"type":"text","text":"listen"},{"type":"audio","mimeType":"audio/wav","data":"AAAA"}]`} {
			id := w.send("session/prompt", `{"sessionId":"SESSION","prompt":`+blocks+`}`)
			assert.Equal(t, "-32602", w.outcome(id), blocks)
		}
		assert.Empty(t, s.list())
	})
}

// If too many prompts arrive together, the last ones are refused, whether or not a turn runs.
func TestBurst(t *testing.T) {
	for range 20 {
		eachVersion(t, func(t *testing.T, v int) {
			var s script
			w := dial(t, s.agent(kit.Options{Queue: 3}), v)
			w.open()
			burst := func(n int) (ids []int) {
				for range n {
					ids = append(ids, w.prompt("hour"))
				}
				return ids
			}
			ids := burst(2)
			s.list() // one prompt runs and one waits
			ids = append(ids, burst(10)...)
			time.Sleep(5 * time.Hour)
			ids = append(ids, burst(10)...)
			time.Sleep(5 * time.Hour)
			var got []string
			for _, id := range ids {
				got = append(got, w.outcome(id))
			}
			four, more := slices.Repeat([]string{"end_turn"}, 4), slices.Repeat([]string{"-32600"}, 8)
			assert.Equal(t, slices.Concat(four, more, four, more[:6]), got)
		})
	}
}

// A turn begins before its prompt is read, because reading may call the client.
func TestLoadWhileAPromptIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s script
		a := s.agent(kit.Options{})
		w := dialAs(t, t.Context(), a, 1, `{"fs":{"readTextFile":true}}`)
		w.open()
		id := w.send("session/prompt", `{"sessionId":"SESSION","prompt":[{"type":"resource_link","uri":"file:///w/a.go","name":"a.go"}]}`)
		s.list()
		assert.Equal(t, "-32600", w.outcome(w.load()))
		assert.NoError(t, a.Close(t.Context()))
		assert.Equal(t, "cancelled", w.outcome(id))
		assert.Empty(t, s.list())
	})
}

// A turn that does not return keeps the session busy, and this is logged for the author.
func TestTurnThatIgnoresItsEnd(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		var s script
		w := dial(t, s.agent(kit.Options{}), v)
		w.open()
		w.prompt("stuck")
		s.list()
		w.cancel()
		w.prompt("a")
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"stuck"}, s.list(), "one turn at a time")
		assert.Equal(t, 1, s.log.count("a turn goes on although it was cancelled"), "%v", s.log.lines)
		close(s.release)
		assert.Equal(t, []string{"stuck", "end of stuck", "a", "end of a"}, s.list())
	})
}

// A turn ends with its connection. After that, the session can be loaded on another connection.
func TestTurnEndsWithItsConnection(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		var s script
		a := s.agent(kit.Options{})
		w := dial(t, a, v)
		other := dial(t, a, v)
		other.session = w.open()
		w.prompt("slow end")
		s.list()
		w.prompt("a")
		w.hangUp()
		load := other.load()
		assert.Empty(t, other.outcome(load), "its last words are not stored yet")
		time.Sleep(time.Second)
		assert.Equal(t, "ok", other.outcome(load))
		assert.Contains(t, other.says(), "last words")
		assert.Equal(t, "end_turn", other.outcome(other.prompt("b")))
		assert.Equal(t, []string{"slow end", "end of slow end", "b", "end of b"}, s.list())
	})
}

// Close ends the turns of all connections. It waits no longer than its ctx.
func TestCloseOfTheAgent(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		var s script
		a := s.agent(kit.Options{})
		w := dial(t, a, v)
		w.open()
		id := w.prompt("slow end")
		s.list()
		start := time.Now()
		assert.NoError(t, a.Close(t.Context()))
		assert.Equal(t, time.Second, time.Since(start))
		assert.Equal(t, "cancelled", w.outcome(id))
		assert.Equal(t, "-32002", w.outcome(w.prompt("a")))
		assert.Equal(t, "-32603", w.outcome(w.send("session/new", `{"cwd":"/w","mcpServers":[]}`)))
		assert.Equal(t, []string{"slow end", "end of slow end"}, s.list())

		b := s.agent(kit.Options{})
		w = dial(t, b, v)
		w.open()
		id = w.prompt("stuck")
		s.list()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.ErrorIs(t, b.Close(ctx), context.DeadlineExceeded)
		close(s.release)
		assert.Equal(t, "cancelled", w.outcome(id))
		assert.NoError(t, b.Close(t.Context()))
	})
}

// An idle session has no open log. The next use opens it, and it is closed again later.
func TestIdleSessions(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		store := newWatched()
		var s script
		w := dial(t, s.agent(kit.Options{Store: store, Modes: modes}), v)
		w.open()
		open := func() int64 { s.list(); return store.open.Load() }
		assert.EqualValues(t, 1, open())
		time.Sleep(2 * time.Hour)
		assert.EqualValues(t, 0, open(), "new and idle")
		id := w.prompt("hour")
		time.Sleep(50 * time.Minute)
		assert.EqualValues(t, 1, open(), "never in a turn")
		time.Sleep(20 * time.Minute)
		assert.Equal(t, "end_turn", w.outcome(id))
		assert.EqualValues(t, 1, open(), "used ten minutes ago")
		time.Sleep(2 * time.Hour)
		assert.EqualValues(t, 0, open())
		assert.Equal(t, "ok", w.outcome(w.set("mode", "auto")))
		assert.EqualValues(t, 1, open())
		time.Sleep(2 * time.Hour)
		assert.EqualValues(t, 0, open(), "idle after a setting")
		assert.Equal(t, "ok", w.outcome(w.load()))
		assert.EqualValues(t, 1, open())
	})
}

// Text after the end of a session does not open the session again.
func TestTextAfterTheEndOfASession(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		store := newWatched()
		var late error
		w := dial(t, kit.New(&kit.Options{Store: store, Logger: slog.New(new(logged)), Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
			time.AfterFunc(time.Minute, func() { late = s.Remember("late") })
			return "", nil
		}}), v)
		w.open()
		assert.Equal(t, "end_turn", w.outcome(w.prompt("a")))
		assert.Equal(t, "ok", w.outcome(w.send("session/close", `{"sessionId":"SESSION"}`)))
		time.Sleep(time.Hour)
		synctest.Wait() // the timer late is set
		assert.Error(t, late)
		assert.Zero(t, store.open.Load(), "a log that stays open is held for ever")
		assert.Equal(t, "ok", w.outcome(w.load()))
	})
}
