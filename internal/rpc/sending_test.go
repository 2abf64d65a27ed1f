package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Messages are sent at once even if every processor computes and the sender continues to compute,
// and a round trip does not wait for a computing goroutine.
func TestSendingWhileEverythingComputes(t *testing.T) {
	got := make(chan struct{}, 1)
	a, c := both(t,
		rpc.Config{Entries: []*rpc.Entry{echo(mEcho)}},
		rpc.Config{Entries: []*rpc.Entry{on(mNote, func(context.Context, *msg) (*msg, error) { got <- struct{}{}; return nil, nil })}})
	// With one processor, a goroutine that yields waits for a whole time slice of the computing
	// goroutine.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var over atomic.Bool
	var computing sync.WaitGroup
	computing.Go(func() {
		for n := 1; !over.Load(); n = n*31 + 7 {
		}
	})
	defer computing.Wait()
	defer over.Store(true)
	// Each slice takes 10 ms, so that with one for each message 50 rounds take a second or more. Other
	// programs of the machine slow a part of the tries.
	const rounds, enough, tries = 50, 250 * time.Millisecond, 100
	best := time.Hour
	for try := 0; try < tries && best > enough; try++ {
		begun := time.Now()
		for n := range rounds {
			_, err := c.Call(t.Context(), mEcho, &msg{N: n}, nil)
			require.NoError(t, err)
			require.NoError(t, a.Notify(t.Context(), mNote, &msg{N: n}))
			<-got
		}
		best = min(best, time.Since(begun))
	}
	assert.LessOrEqual(t, best, enough, "a call and a notification wait for no one that computes")
}

// picky is a stream that refuses messages that contain "refused".
func picky(s stream.Stream) *fake {
	return &fake{Stream: s, write: func(b []byte) error {
		if bytes.Contains(b, []byte("refused")) {
			return &stream.MessageError{Reason: "not this one"}
		}
		return s.Write(b)
	}}
}

// A message that the stream refuses fails its call, or its request, and nothing else.
func TestRefusedMessages(t *testing.T) {
	for name, wrap := range map[string]func(stream.Stream) stream.Stream{
		"single": func(s stream.Stream) stream.Stream { return picky(s) },
		"batch": func(s stream.Stream) stream.Stream {
			f := picky(s)
			f.features.WriteBatch = func(msgs [][]byte) error {
				if bytes.Contains(bytes.Join(msgs, nil), []byte("refused")) {
					return &stream.MessageError{Reason: "not this one"}
				}
				return stream.FeaturesOf(s).WriteBatch(msgs)
			}
			return f
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				near, far := stream.Pipe()
				var l logs
				gate := make(chan struct{})
				c := startOn(t, rpc.Config{Stream: wrap(near), Logger: l.logger(), Entries: []*rpc.Entry{on(mEcho, func(_ context.Context, m *msg) (*msg, error) { <-gate; return &msg{Text: m.Text}, nil })}})
				p := newPeer(t, far)
				told := make(chan error, 1)
				_, err := c.Call(t.Context(), mEcho, &msg{Text: "refused"}, &rpc.CallOptions{AtResponse: func(err error) { told <- err }})
				refusal, ok := errors.AsType[*stream.MessageError](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, "not this one", refusal.Reason)
				assert.Equal(t, err, <-told)

				require.NoError(t, c.Notify(t.Context(), mNote, &msg{Text: "refused"}))
				p.Send(`{'jsonrpc':'2.0','id':'a','method':'t/echo','params':{'text':'refused'}}`)
				p.Send(`{'jsonrpc':'2.0','id':'b','method':'t/echo','params':{'text':'taken'}}`)
				synctest.Wait()
				close(gate)
				p.ExpectJSON(`{'jsonrpc':'2.0','id':'a','error':{'code':-32603,'message':'Internal error','data':{'errorId':'ID'}}}`,
					`{'jsonrpc':'2.0','id':'b','result':{'text':'taken'}}`)
				go func() { p.Next(); p.answer(2, 1) }() // ends with the call
				_, err = c.Call(t.Context(), mEcho, &msg{Text: "taken"}, nil)
				require.NoError(t, err)
				assert.NotContains(t, l.String(), "refused\"")
			})
		})
	}
}

// A sender that gives up does not leave the queue marked as full.
func TestNoStallAfterASenderHasLeft(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _, _ := startHeld(t, rpc.Config{Limits: rpc.Limits{SendQueue: 100_000}})
		require.NoError(t, c.Notify(t.Context(), mNote, &msg{}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, c.Notify(ctx, mNote, &msg{Text: strings.Repeat("x", 200_000)}), context.DeadlineExceeded)
		time.Sleep(2 * time.Minute)
		require.NoError(t, c.Err(), "one short message waits")
		require.NoError(t, c.Notify(t.Context(), mNote, &msg{}))
	})
}

// A queue that stays full ends the connection, however often senders give up.
func TestStallWhileSendersComeAndGo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _, _ := startHeld(t, rpc.Config{Limits: rpc.Limits{SendQueue: 10_000}})
		begun := time.Now()
		for c.Err() == nil && time.Since(begun) < time.Hour {
			ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
			_ = c.Notify(ctx, mNote, &msg{N: 1}) // until the queue is full
			cancel()
		}
		require.ErrorIs(t, c.Err(), wire.ErrStalled)
		assert.InDelta(t, time.Minute, time.Since(begun), float64(10*time.Second))
	})
}

// No cancel is lost, and waiting cancels take no room of other messages.
func TestCancelsAreNeverLost(t *testing.T) {
	const calls = 20_000
	bubble(t, func(t *testing.T) {
		c, p, s := startHeld(t, rpc.Config{Limits: rpc.Limits{SendQueue: 1 << 30, SendReserve: 2000}})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range calls {
			wg.Go(func() {
				_, err := c.Call(ctx, mEcho, &msg{}, nil)
				assert.ErrorIs(t, err, context.Canceled)
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		p.Send("no") // its response has the reserve to itself
		synctest.Wait()
		require.NoError(t, c.Err())
		close(s.gate)
		called, cancelled := map[uint64]bool{}, map[uint64]bool{}
		refused := false
		for len(cancelled) < calls || !refused {
			var m struct {
				ID     json.RawMessage
				Method string
				Params struct{ RequestID uint64 }
			}
			require.NoError(t, json.Unmarshal([]byte(p.Next().Raw), &m))
			switch id := string(m.ID); m.Method {
			case "t/echo":
				var n uint64
				_, err := fmt.Sscan(id, &n)
				require.NoError(t, err)
				called[n] = true
			case "$/cancel_request":
				assert.True(t, called[m.Params.RequestID], "a cancel comes after its call")
				assert.False(t, cancelled[m.Params.RequestID], "once")
				cancelled[m.Params.RequestID] = true
			default:
				refused = true
			}
		}
	})
}

// A peer that sends faster than it gets responses, and reads, is not disconnected. The waiting
// responses stay within the reserve.
func TestReaderPausesForOwnResponses(t *testing.T) {
	const n = 20_000
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		s := &counted{Stream: &fake{Stream: near, write: func(b []byte) error { time.Sleep(time.Millisecond); return near.Write(b) }}}
		c := startOn(t, rpc.Config{Stream: s, Limits: rpc.Limits{SendReserve: 10_000}})
		p := newPeer(t, far)
		go func() { // ends when all were read
			for id := range n {
				p.Send(`{'jsonrpc':'2.0','id':%d,'method':7}`, id)
			}
		}()
		for id := range n {
			require.Contains(t, p.Next().Raw, fmt.Sprintf(`"id":%d,`, id))
			assert.Less(t, s.read.Load(), int64(id+500), "the reader is no further than the writer and the reserve")
		}
		require.NoError(t, c.Err())
	})
}

// Two ends that refuse all requests of each other do not wait for each other.
func TestBothEndsPauseForOwnResponses(t *testing.T) {
	const n = 5_000
	bubble(t, func(t *testing.T) {
		cfg := rpc.Config{Handshake: "initialize", Limits: rpc.Limits{SendReserve: 5_000}}
		a, b := both(t, cfg, cfg)
		var refused atomic.Int64
		var wg sync.WaitGroup
		for _, c := range []*rpc.Conn{a, b} {
			for range n {
				wg.Go(func() {
					_, err := c.Call(t.Context(), mEcho, &msg{}, nil)
					if errors.Is(err, rpcerr.ErrInvalidRequest) {
						refused.Add(1)
					}
				})
			}
		}
		wg.Wait()
		assert.EqualValues(t, 2*n, refused.Load())
	})
}

// A peer that never reads is disconnected when the responses to it have filled the reserve, and
// nothing could be written for StallTimeout.
func TestPeerThatNeverReadsItsResponses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		s := &counted{Stream: &held{Stream: near, gate: make(chan struct{})}}
		c := startOn(t, rpc.Config{Stream: s, Limits: rpc.Limits{SendReserve: 10_000}})
		before, begun := live(), time.Now()
		go func() { // ends with the connection
			for far.Write([]byte("no")) == nil {
			}
		}()
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		assert.Less(t, s.read.Load(), int64(200), "the reader pauses at the reserve")
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Greater(t, s.read.Load(), int64(100_000), "both ends may be pausing")
		assert.Less(t, live()-before, int64(100<<20))
		require.NoError(t, c.Err())
		require.ErrorIs(t, c.Wait(), wire.ErrStalled)
		assert.Equal(t, time.Minute, time.Since(begun))
	})
}

// All requests that wait for a failing handshake are refused, however many there are.
func TestManyRequestsAfterAFailedHandshake(t *testing.T) {
	const n = 12_000
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		c, p := start(t, rpc.Config{Handshake: "initialize", Limits: rpc.Limits{SendReserve: 10_000}, Entries: []*rpc.Entry{
			on(mInit, func(context.Context, *msg) (*msg, error) { <-gate; return nil, errors.New("no") }),
			echo(mEcho),
		}})
		p.request(0, "initialize", 1)
		for id := range n {
			p.request(id+1, "t/echo", 1)
		}
		synctest.Wait()
		close(gate)
		for id := range n + 1 {
			require.Contains(t, p.Next().Raw, fmt.Sprintf(`"id":%d,"error"`, id))
		}
		require.NoError(t, c.Err())
	})
}

// unencodable does not return where it is asked for its JSON.
type unencodable struct{ how func() }

func (u unencodable) MarshalJSON() ([]byte, error) { u.how(); return nil, nil }

// A request is answered even if its result, or the data of its error, panics or ends the goroutine
// that encodes it.
func TestResultsThatCannotBeEncoded(t *testing.T) {
	internal := `'code':-32603,'message':'Internal error','data':{'errorId':'ID'}`
	for name, tt := range map[string]struct {
		how  func()
		data string // the response when it is in the data of an error
	}{
		"panics": {func() { panic("boom") }, `'code':5,'message':'m'`},
		"exits":  {runtime.Goexit, internal},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c, p := start(t, rpc.Config{
					Limits: rpc.Limits{MaxHandlers: 1},
					Extension: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
						if method == "_data" {
							return nil, rpcerr.New(5, "m", unencodable{tt.how})
						}
						return unencodable{tt.how}, nil
					},
				})
				for id, method := range []string{"_result", "_data", "_result"} {
					want := map[string]string{"_result": internal, "_data": tt.data}[method]
					p.request(id, method, 1)
					p.ExpectJSON(fmt.Sprintf(`{'jsonrpc':'2.0','id':%d,'error':{%s}}`, id, want))
				}
				require.NoError(t, c.Shutdown(t.Context()))
			})
		})
	}
}

// Short messages count with their own size, whatever was sent before them.
func TestShortMessagesAfterLongOnes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		defer far.Close()
		s := &held{Stream: near, gate: make(chan struct{})}
		big := &msg{Text: strings.Repeat("x", 50_000)}
		first, other := stream.Pipe()
		h := &held{Stream: first, gate: make(chan struct{})}
		c := startOn(t, rpc.Config{Stream: h, Limits: rpc.Limits{SendQueue: 1 << 30}})
		for range 200 { // the buffers that they leave are used again
			require.NoError(t, c.Notify(t.Context(), mNote, big))
		}
		close(h.gate)
		for range 200 {
			newPeer(t, other).Next()
		}
		c = startOn(t, rpc.Config{Stream: s, Logger: slog.New(slog.DiscardHandler), Limits: rpc.Limits{SendQueue: 1 << 20}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		sent := 0
		for c.Notify(ctx, mNote, &msg{N: 1}) == nil {
			sent++
		}
		assert.Greater(t, sent, 1000)
	})
}

// A sender may compute for long after it has sent a message, which is sent without waiting for
// that.
func TestNotificationLeavesBeforeItsSenderGoesOn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // nothing else runs until the sender waits
	bubble(t, func(t *testing.T) {
		near, _ := stream.Pipe()
		var written atomic.Int64
		c := startOn(t, rpc.Config{Stream: &fake{Stream: near, write: func([]byte) error { written.Add(1); return nil }}})
		late := 0
		for n := range int64(100) {
			require.NoError(t, c.Notify(t.Context(), mNote, &msg{}))
			if written.Load() <= n {
				late++
			}
			time.Sleep(time.Millisecond)
		}
		assert.Less(t, late, 5, "but for an interruption of the writer")
	})
}
