package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// network is a stream that routes messages, loses some, and may be told to drain.
type network struct {
	stream.Stream
	in    chan any // messages and errors
	drain chan struct{}

	mu  sync.Mutex // guards all below
	out []stream.Message
}

func newNetwork() (*network, stream.Stream) {
	near, far := stream.Pipe()
	return &network{Stream: near, in: make(chan any, 10), drain: make(chan struct{})}, far
}

func (n *network) Read() ([]byte, error) {
	switch v := (<-n.in).(type) {
	case error:
		return nil, v
	default:
		return []byte(v.(string)), nil
	}
}

func (n *network) Close() error {
	select {
	case n.in <- stream.ErrClosed:
	default:
	}
	return n.Stream.Close()
}

func (n *network) Features() *stream.Features {
	return &stream.Features{WriteMessage: n.writeMessage, Draining: n.drain}
}

func (n *network) writeMessage(m stream.Message) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	m.Data = append([]byte(nil), m.Data...)
	m.ID = append(json.RawMessage(nil), m.ID...)
	m.CancelID = bytes.Clone(m.CancelID)
	n.out = append(n.out, m)
	return nil
}

func (n *network) last() stream.Message {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.out[len(n.out)-1]
}

// A lost message fails its call. The calls of a lost session fail until it is opened again.
func TestLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, _ := newNetwork()
		c := startOn(t, rpc.Config{Stream: n, Reopens: func(method string) bool { return method == "t/echo" }})
		call := func(m *wire.Method, session string) chan error {
			done := calling(t.Context(), c, m, &msg{SessionID: session}, nil)
			synctest.Wait()
			return done
		}
		answer := func(id string) { n.in <- `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }
		one, two, other := call(mAsk, "a"), call(mAsk, "a"), call(mAsk, "b")
		why := errors.New("503")
		n.in <- &stream.LostError{ID: []byte("1"), Err: why}
		require.ErrorIs(t, <-one, why)
		synctest.Wait()
		assert.Empty(t, two)
		n.in <- &stream.LostError{SessionID: "a", Err: why}
		require.ErrorIs(t, <-two, why)
		require.ErrorIs(t, <-call(mAsk, "a"), why)
		n.in <- &stream.LostError{ID: []byte("99"), Err: why} // no call

		reopened := call(mEcho, "a")
		answer(string(n.last().ID))
		require.NoError(t, <-reopened)
		again := call(mAsk, "a")
		answer(string(n.last().ID))
		require.NoError(t, <-again)
		answer("3")
		require.NoError(t, <-other)
	})
}

// A session that was lost stays lost when it cannot be opened again.
func TestLostUntilReopened(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, _ := newNetwork()
		c := startOn(t, rpc.Config{Stream: n, Reopens: func(method string) bool { return method == "t/echo" }})
		why := errors.New("503")
		n.in <- &stream.LostError{SessionID: "a", Err: why}
		synctest.Wait()
		ask := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := c.Call(ctx, mAsk, &msg{SessionID: "a"}, nil)
			return err
		}
		reopen := func() chan error {
			reopened := calling(t.Context(), c, mEcho, &msg{SessionID: "a"}, nil)
			synctest.Wait()
			require.ErrorIs(t, ask(), why, "it is not open yet")
			return reopened
		}

		reopened := reopen()
		n.in <- `{"jsonrpc":"2.0","id":` + string(n.last().ID) + `,"error":{"code":-32002,"message":"gone"}}`
		require.Error(t, <-reopened)
		require.ErrorIs(t, ask(), why)

		reopened = reopen()
		n.in <- &stream.LostError{SessionID: "a", Err: why}
		require.ErrorIs(t, <-reopened, why)
		require.ErrorIs(t, ask(), why)
	})
}

// The peer opens a session again, at the end that handles such requests.
func TestLostUntilPeerReopens(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, _ := newNetwork()
		var c *rpc.Conn
		c = startOn(t, rpc.Config{Stream: n, Reopens: func(method string) bool { return method == "t/echo" }, Entries: []*rpc.Entry{
			on(mEcho, func(ctx context.Context, m *msg) (*msg, error) {
				_, err := c.Call(ctx, mAsk, m, nil)
				return m, err
			}),
		}})
		n.in <- &stream.LostError{SessionID: "a", Err: errors.New("503")}
		n.in <- `{"jsonrpc":"2.0","id":"x","method":"t/echo","params":{"sessionId":"a"}}`
		synctest.Wait()
		m := n.last()
		assert.Equal(t, "t/ask", m.Method, string(m.Data))
	})
}

// Lost sessions are remembered, however many there are.
func TestManyLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, _ := newNetwork()
		c := startOn(t, rpc.Config{Stream: n})
		why := errors.New("503")
		const many = 5000
		for i := range many {
			n.in <- &stream.LostError{SessionID: strconv.Itoa(i), Err: why}
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for i := range many {
			_, err := c.Call(ctx, mAsk, &msg{SessionID: strconv.Itoa(i)}, nil)
			require.ErrorIs(t, err, why, i)
		}
	})
}

// A stream that drains makes the connection end when its handlers have.
func TestDraining(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, _ := newNetwork()
		c := startOn(t, rpc.Config{Stream: n, Entries: []*rpc.Entry{on(mEcho, func(_ context.Context, m *msg) (*msg, error) { time.Sleep(time.Minute); return m, nil })}})
		n.in <- `{"jsonrpc":"2.0","id":1,"method":"t/echo","params":{}}`
		synctest.Wait()
		begun := time.Now()
		close(n.drain)
		require.NoError(t, c.Wait())
		assert.Equal(t, time.Minute, time.Since(begun))
		assert.Equal(t, stream.KindResponse, n.last().Kind, "it was responded to")
	})
}

// The description that a stream receives with a message equals the parsed message.
func TestDescriptionsMatchMessages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, _ := newNetwork()
		c := startOn(t, rpc.Config{Stream: n, Entries: []*rpc.Entry{
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) {
				if m.N > 0 {
					return nil, errors.New("no")
				}
				return m, nil
			}),
		}})
		ctx, cancel := context.WithCancel(t.Context())
		for _, p := range []*msg{{}, {SessionID: "a"}, {SessionID: "é\"\\"}} {
			require.NoError(t, c.Notify(ctx, mNote, p))
			go func() { _, _ = c.Call(ctx, mAsk, p, nil) }() // ends with ctx
		}
		for _, method := range []string{"x/y", `we"ird\`, "$/cancel_request"} {
			for _, params := range []json.RawMessage{nil, json.RawMessage(`{"requestId":7,"sessionId":"b"}`), json.RawMessage(`["sessionId"]`), json.RawMessage(`{}`)} {
				require.NoError(t, c.NotifyExtension(ctx, method, params))
				go func() { _, _ = c.CallExtension(ctx, method, params) }() // ends with ctx
			}
		}
		for i, id := range []string{"1", `"two"`, "null", "-3.5"} {
			for _, params := range []string{`{}`, `{"sessionId":"c"}`, `{"n":1}`, `{"n":-1}`} {
				n.in <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"t/echo","params":%s}`, id, params)
				synctest.Wait()
			}
			n.in <- []string{"oops", "[]", `{"jsonrpc":"2.0","id":9}`, `{"jsonrpc":"2.0","id":10,"method":"unknown"}`}[i]
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		n.mu.Lock()
		defer n.mu.Unlock()
		assert.Len(t, n.out, 63)
		for _, m := range n.out {
			want := stream.ParseMessage(m.Data)
			assert.Equal(t, want.Kind, m.Kind, "%s", m.Data)
			assert.Equal(t, string(want.ID), string(m.ID), "%s", m.Data)
			assert.Equal(t, want.Method, m.Method, "%s", m.Data)
			assert.Equal(t, want.SessionID, m.SessionID, "%s", m.Data)
			assert.Equal(t, string(want.CancelID), string(m.CancelID), "%s", m.Data)
		}
	})
}

// The connection uses the bytes of a message, not the description from the stream.
func TestMessagesOfAStreamThatParses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, _ := stream.Pipe()
		in := make(chan stream.Message)
		p := &fake{Stream: near}
		p.features.ReadMessage = func() (stream.Message, error) {
			if m, ok := <-in; ok {
				return m, nil
			}
			return stream.Message{}, io.EOF
		}
		var ev events
		c := startOn(t, rpc.Config{Stream: p, Entries: []*rpc.Entry{on(mNote, func(_ context.Context, m *msg) (*msg, error) { ev.add("note %d", m.N); return nil, nil })}})
		note := func(n int) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"t/note","params":{"n":%d}}`, n)
		}
		replaced := stream.ParseMessage(note(0))
		replaced.Data = note(2)
		for _, m := range []stream.Message{stream.ParseMessage(note(1)), replaced, {Data: note(3)}, {Data: note(4), Kind: stream.KindResponse, Method: "other"}} {
			in <- m
		}
		close(in)
		require.NoError(t, c.Wait())
		assert.Equal(t, []string{"note 1", "note 2", "note 3", "note 4"}, ev.list())
	})
}
