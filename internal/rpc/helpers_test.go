package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// msg is the params and result type of the methods in these tests.
type msg struct {
	SessionID string `json:"sessionId,omitempty"`
	N         int    `json:"n,omitempty"`
	Text      string `json:"text,omitempty"`
	Bad       bool   `json:"-"` // cannot be encoded
}

var codec = &wire.Codec{
	Decode: func(raw []byte) (any, error) {
		m := new(msg)
		if err := json.Unmarshal(raw, m); err != nil {
			return nil, &wire.DecodeError{Fields: wire.Complain("not a msg")}
		}
		return m, nil
	},
	Append: func(b []byte, v any) ([]byte, error) {
		m := v.(*msg)
		if m.Bad {
			return b, errors.New("bad value")
		}
		raw, err := json.Marshal(m)
		return append(b, raw...), err
	},
	Valid: func(v any, strict bool) bool {
		return v.(*msg).N >= 0 && !(strict && v.(*msg).Text == "relative")
	},
	Is: func(v any) bool { m, ok := v.(*msg); return ok && m != nil },
}

func request(name string) *wire.Method {
	return &wire.Method{Name: name, Params: codec, Result: codec}
}

func notification(name string) *wire.Method {
	return &wire.Method{Name: name, Notification: true, Params: codec}
}

// Methods of these tests. The names are not the protocol's, except where the
// engine knows them.
var (
	mEcho   = request("t/echo")
	mAsk    = request("t/ask")
	mInit   = request("initialize")
	mPrompt = &wire.Method{Name: "t/prompt", Params: codec, Result: codec, Waits: true, Streams: true}
	mWaits  = &wire.Method{Name: "t/waits", Params: codec, Result: codec, Waits: true}
	mNote   = notification("t/note")
	mOther  = notification("t/other")
	mCancel = notification("t/cancel")
)

type handle = func(ctx context.Context, p *msg) (*msg, error)

// on is an entry with a typed handler.
func on(m *wire.Method, h handle) *rpc.Entry {
	return &rpc.Entry{Method: m, Handle: func(ctx context.Context, p any) (any, error) {
		res, err := h(ctx, p.(*msg))
		if res == nil {
			return nil, err
		}
		return res, err
	}}
}

// ended is an entry for a group's request, as the agent has it for prompts.
func ended(e *rpc.Entry) *rpc.Entry {
	e.Group = true
	e.Ended = func() any { return &msg{Text: "cancelled"} }
	return e
}

// events collects what happened, in order.
type events struct {
	mu  sync.Mutex // guards all
	all []string
}

func (e *events) add(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, fmt.Sprintf(format, args...))
}

func (e *events) list() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.all...)
}

// logs is a buffer for slog.
type logs struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logs) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// bubble runs a test in a synctest bubble and fails it when a goroutine is left.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		f(t)
	})
}

// peer is the other end of a connection, by hand.
type peer struct {
	t *testing.T
	stream.Stream
}

// start runs a connection with a peer by hand. It is closed when the test ends.
func start(t *testing.T, cfg rpc.Config) (*rpc.Conn, *peer) {
	t.Helper()
	near, far := stream.Pipe()
	cfg.Stream = near
	return startOn(t, cfg), &peer{t: t, Stream: far}
}

func startOn(t *testing.T, cfg rpc.Config) *rpc.Conn {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := rpc.New(cfg)
	require.NoError(t, c.Start(context.Background()))
	t.Cleanup(func() {
		_ = c.Close()
		_ = c.Wait()
	})
	return c
}

// both connects two ends.
func both(t *testing.T, a, b rpc.Config) (ca, cb *rpc.Conn) {
	t.Helper()
	near, far := stream.Pipe()
	a.Stream, b.Stream = near, far
	a.Role, b.Role = "agent", "client"
	return startOn(t, a), startOn(t, b)
}

func (p *peer) send(format string, args ...any) {
	p.t.Helper()
	frame := format
	if len(args) > 0 {
		frame = fmt.Sprintf(format, args...)
	}
	require.NoError(p.t, p.Write([]byte(strings.ReplaceAll(frame, "'", `"`))))
}

func (p *peer) note(n int) {
	p.t.Helper()
	p.send(`{'jsonrpc':'2.0','method':'t/note','params':{'n':%d}}`, n)
}

func (p *peer) request(id int, method string, n int) {
	p.t.Helper()
	p.send(`{'jsonrpc':'2.0','id':%d,'method':'%s','params':{'n':%d}}`, id, method, n)
}

func (p *peer) answer(id, n int) {
	p.t.Helper()
	p.send(`{'jsonrpc':'2.0','id':%d,'result':{'n':%d}}`, id, n)
}

// recv waits for the next message.
func (p *peer) recv() string {
	p.t.Helper()
	b, err := p.Read()
	if errors.Is(err, io.EOF) {
		return "EOF"
	}
	require.NoError(p.t, err)
	return string(b)
}

func (p *peer) expect(want string) {
	p.t.Helper()
	assert.JSONEq(p.t, strings.ReplaceAll(want, "'", `"`), p.recv())
}

// eof closes the peer's end.
func (p *peer) eof() { _ = p.Close() }

// expectAll waits for messages that may come in any order.
func (p *peer) expectAll(want ...string) {
	p.t.Helper()
	got := map[string]bool{}
	for range want {
		got[canonical(p.t, p.recv())] = true
	}
	for _, w := range want {
		w = canonical(p.t, strings.ReplaceAll(w, "'", `"`))
		assert.True(p.t, got[w], "%s is not in %v", w, got)
	}
}

func canonical(t *testing.T, s string) string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(s), &v), s)
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
