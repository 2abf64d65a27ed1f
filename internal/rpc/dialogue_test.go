package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// playFile plays the dialogues of testdata/file with an end whose handlers do what the method says:
//
//	t/echo, t/note  return their params
//	t/held          the same, once the dialogue makes the call "go"
//	t/calls         calls t/ask before; if its text is "held", it waits for "go" first
//	t/until, t/turn wait for the end of their ctx, and return what their text says
//
// Requests and notifications of one name are handled alike. The request initialize is t/held, and
// then t/calls or an error if its text is "calls" or "fail". A t/turn belongs to the group that
// t/cancel and t/close end. The call "events" returns the handlers that were called since the last
// one, and the notifications that were dropped. Every other call is a request of this end.
func playFile(t *testing.T, file string, cfg rpc.Config) {
	rawpeer.Dialogues(t, "testdata/"+file, func(t *testing.T) (*rawpeer.Peer, func()) {
		leak.Check(t)
		s := &scripted{gate: make(chan struct{})}
		cfg := cfg
		turn := ended(on(&wire.Method{Name: "t/turn", Params: codec, Result: codec, Waits: true}, s.until("turn")))
		cfg.Entries = []*rpc.Entry{turn, on(mEcho, s.step("echo")), on(mNote, s.step("note")), on(mInit, s.initialize),
			ends(rpc.EndsForeground, on(mCancel, s.step("cancel"))), ends(rpc.EndsAll, on(request("t/close"), s.step("close"))),
			on(request("t/until"), s.until("until")),
		}
		for _, method := range []func(string) *wire.Method{request, notification} {
			cfg.Entries = append(cfg.Entries, on(method("t/held"), s.held("held")), on(method("t/calls"), s.calls("calls")))
		}
		cfg.Invalid = func(where string, f *wire.FieldErrors) error { return errors.New("invalid " + where) }
		cfg.OnDropped = func(method string, err error) { s.ev.add("dropped %s: %v", method, err) }
		var p peer
		s.c, p = start(t, cfg)
		p.Do = s.do
		return p.Peer, func() {}
	})
}

// scripted is the end that playFile makes.
type scripted struct {
	c  *rpc.Conn
	ev events

	mu   sync.Mutex // guards all below
	gate chan struct{}
	told int // how many events were returned
}

func (s *scripted) step(name string) handle {
	return func(_ context.Context, m *msg) (*msg, error) { s.ev.add("%s %d", name, m.N); return m, nil }
}

func (s *scripted) held(name string) handle {
	return func(ctx context.Context, m *msg) (*msg, error) {
		s.ev.add("%s %d", name, m.N)
		s.mu.Lock()
		gate := s.gate
		s.mu.Unlock()
		<-gate
		return m, nil
	}
}

func (s *scripted) initialize(ctx context.Context, m *msg) (*msg, error) {
	_, _ = s.held("initialize")(ctx, m) // never fails
	switch m.Text {
	case "fail":
		return nil, errors.New("no")
	case "calls":
		_, err := s.c.Call(ctx, mAsk, &msg{}, nil)
		return m, err
	}
	return m, nil
}

func (s *scripted) calls(name string) handle {
	return func(ctx context.Context, m *msg) (*msg, error) {
		if m.Text == "held" {
			_, _ = s.held(name)(ctx, m)
		} else {
			s.ev.add("%s %d", name, m.N)
		}
		_, err := s.c.Call(ctx, mAsk, &msg{N: m.N}, nil)
		s.ev.add("called %d", m.N)
		return m, err
	}
}

func (s *scripted) until(name string) handle {
	return func(ctx context.Context, m *msg) (*msg, error) {
		s.ev.add("%s %d", name, m.N)
		<-ctx.Done()
		switch m.Text {
		case "ctx error":
			return nil, ctx.Err()
		case "cause":
			return nil, context.Cause(ctx)
		case "another error":
			return nil, errors.New("x")
		case "a bad result":
			return &msg{Bad: true}, nil
		case "a panic":
			panic("whatever")
		}
		return &msg{Text: m.Text}, nil
	}
}

// do makes a call of a dialogue, and returns its outcome.
func (s *scripted) do(call string) string {
	switch call {
	case "go":
		synctest.Wait() // the handlers that wait have begun
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.gate)
		s.gate = make(chan struct{})
		return ""
	case "events":
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		all := s.ev.list()
		list := all[s.told:]
		s.told = len(all)
		return strings.Join(list, ", ")
	}
	method, text, _ := strings.Cut(call, " ")
	params := new(msg)
	_ = json.Unmarshal([]byte(text), params) // a dialogue with a mistake has another outcome
	var out any
	out, err := s.c.Call(context.Background(), request(method), params, nil)
	var fault *rpcerr.RequestError
	if errors.As(err, &fault) {
		out = fault
	} else if err != nil {
		return err.Error()
	}
	raw, _ := json.Marshal(out) // a msg or an error, which can be encoded
	return string(raw)
}
