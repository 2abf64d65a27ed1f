package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
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
	Decode: func(raw []byte) (any, int64, error) {
		m := new(msg)
		if err := json.Unmarshal(raw, m); err != nil {
			return nil, 0, &wire.DecodeError{Fields: wire.Violation("not a msg")}
		}
		return m, int64(len(raw)), nil
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

// echo is an entry whose handler returns its params.
func echo(m *wire.Method) *rpc.Entry {
	return on(m, func(_ context.Context, m *msg) (*msg, error) { return m, nil })
}

// echoAfter is an entry whose handler waits for gate and returns its params.
func echoAfter(gate <-chan struct{}, m *wire.Method) *rpc.Entry {
	return on(m, func(_ context.Context, m *msg) (*msg, error) { <-gate; return m, nil })
}

// ignore is an entry whose handler does nothing.
func ignore(m *wire.Method) *rpc.Entry {
	return on(m, func(context.Context, *msg) (*msg, error) { return nil, nil })
}

// ends is an entry whose message ends a group.
func ends(which rpc.Ending, e *rpc.Entry) *rpc.Entry {
	e.Ends = which
	return e
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

// peer is the other end of a connection, played by the test, with the methods above.
type peer struct{ *rawpeer.Peer }

func newPeer(t *testing.T, s stream.Stream) peer { return peer{rawpeer.New(t, s)} }

func newConn(cfg rpc.Config) *rpc.Conn {
	c := new(rpc.Conn)
	c.Configure(cfg)
	return c
}

// start runs a connection with a peer by hand. It is closed when the test ends.
func start(t *testing.T, cfg rpc.Config) (*rpc.Conn, peer) {
	t.Helper()
	near, far := stream.Pipe()
	cfg.Stream = near
	return startOn(t, cfg), newPeer(t, far)
}

func startOn(t *testing.T, cfg rpc.Config) *rpc.Conn {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := newConn(cfg)
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

func (p peer) note(n int) {
	p.Notify("t/note", fmt.Sprintf(`{"n":%d}`, n))
}

func (p peer) request(id int, method string, n int) {
	p.Call(strconv.Itoa(id), method, fmt.Sprintf(`{"n":%d}`, n))
}

func (p peer) answer(id, n int) {
	p.Send(`{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}`, id, n)
}

// held is a stream whose writes wait, and may fail.
type held struct {
	stream.Stream
	gate   chan struct{}
	closed sync.Once

	mu  sync.Mutex // guards err
	err error
}

func (s *held) Write(b []byte) error {
	<-s.gate
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.Stream.Write(b)
}

func (s *held) Close() error {
	s.closed.Do(func() {
		select {
		case <-s.gate:
		default:
			s.fail(errors.New("closed"))
			close(s.gate)
		}
	})
	return s.Stream.Close()
}

// fail makes all writes fail from now on.
func (s *held) fail(err error) {
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
}

// startHeld starts a connection whose writes wait until the gate is closed.
func startHeld(t *testing.T, cfg rpc.Config) (*rpc.Conn, peer, *held) {
	t.Helper()
	near, far := stream.Pipe()
	s := &held{Stream: near, gate: make(chan struct{})}
	cfg.Stream = s
	return startOn(t, cfg), newPeer(t, far), s
}

// calling starts a call and returns where its error goes.
func calling(ctx context.Context, c *rpc.Conn, m *wire.Method, params *msg, opts *rpc.CallOptions) chan error {
	done := make(chan error, 1)
	go func() { // ends with the call
		_, err := c.Call(ctx, m, params, opts)
		done <- err
	}()
	return done
}

// fake is a stream with other functions in place of those that are set.
type fake struct {
	stream.Stream
	read     func() ([]byte, error)
	write    func([]byte) error
	close    func() error
	features stream.Features
}

func (f *fake) Features() *stream.Features { return &f.features }

func (f *fake) Read() ([]byte, error) {
	if f.read != nil {
		return f.read()
	}
	return f.Stream.Read()
}

func (f *fake) Write(b []byte) error {
	if f.write != nil {
		return f.write(b)
	}
	return f.Stream.Write(b)
}

func (f *fake) Close() error {
	if f.close != nil {
		return f.close()
	}
	return f.Stream.Close()
}
