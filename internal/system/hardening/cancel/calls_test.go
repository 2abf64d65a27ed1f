// Package cancel holds tests of calls, turns and questions that are given up: before
// they begin, while they run, at the moment of their answer and after it, at either
// end and through proxies. It has no code of its own.
package cancel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// callee is the side that handles the calls of a test.
type callee struct {
	mu     sync.Mutex // guards all
	called int
	wait   bool  // handlers wait for the end of their ctx
	cause  error // what ended it
}

func (c *callee) do(ctx context.Context, method string, _ any) (any, error) {
	if method == acp.MethodSessionCancel {
		return nil, nil
	}
	c.mu.Lock()
	c.called++
	wait := c.wait
	c.mu.Unlock()
	if !wait {
		return nil, nil
	}
	<-ctx.Done()
	c.mu.Lock()
	c.cause = context.Cause(ctx)
	c.mu.Unlock()
	return nil, ctx.Err()
}

func (c *callee) arm(wait bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called, c.wait, c.cause = 0, wait, nil
}

func (c *callee) seen() (called int, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.called, c.cause
}

// caller makes a call by the method's name.
type caller func(ctx context.Context, method string, params, result any) error

// ways are both directions of a connection, in a version of the protocol: the caller's end
// and its peer, which calls far.
type ways struct {
	version  int
	params   map[string]string
	requests func(t testing.TB, side wire.Side) []string
	connect  func(t *testing.T, side wire.Side, proxied bool, far *callee) caller
	// cancelled checks the outcome of a prompt whose ctx has ended.
	cancelled func(t *testing.T, res json.RawMessage, err, cause error)
}

var versions = []ways{
	{
		version: 1, params: peertest.Params, requests: peertest.Requests,
		connect: func(t *testing.T, side wire.Side, proxied bool, far *callee) caller {
			s := pairtest.Setup{ClientOptions: client.Options{CancelGrace: time.Minute}}
			if proxied {
				s.Streams = pairtest.Proxied(t, s)
			}
			if side == wire.Client {
				s.Client = func(*client.Conn) acp.Client { return &peertest.FullClient{Do: far.do} }
				return pairtest.Connect(t, s).Agent.Call
			}
			s.Agent = func(*agent.Conn) acp.Agent { return &peertest.FullAgent{Do: far.do} }
			return pairtest.Connect(t, s).Client.Call
		},
		cancelled: func(t *testing.T, res json.RawMessage, err, cause error) {
			require.NoError(t, err)
			assert.JSONEq(t, `{"stopReason":"cancelled"}`, string(res))
			assert.Equal(t, acp.ErrTurnCancelled, cause)
		},
	},
	{
		version: 2, params: peertest2.Params,
		requests: func(t testing.TB, side wire.Side) []string {
			// It must not be repeated after another request.
			return slices.DeleteFunc(peertest2.Requests(t, side), func(name string) bool { return name == acp2.MethodInitialize })
		},
		connect: func(t *testing.T, side wire.Side, proxied bool, far *callee) caller {
			s := pairtest2.Setup{ClientOptions: client2.Options{CancelGrace: time.Minute}}
			if proxied {
				s.Streams = pairtest2.Proxied(t, s)
			}
			if side == wire.Client {
				s.Client = func(*client2.Conn) acp2.Client { return &peertest2.FullClient{Do: far.do} }
				return pairtest2.Connect(t, s).Agent.Call
			}
			s.Agent = func(*agent2.Conn) acp2.Agent { return &peertest2.FullAgent{Do: far.do} }
			return pairtest2.Connect(t, s).Client.Call
		},
		// A prompt that is held ends with -32800, and nothing else of its session ends.
		cancelled: func(t *testing.T, _ json.RawMessage, err, cause error) {
			require.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
			assert.NotErrorIs(t, cause, acp.ErrTurnCancelled)
		},
	},
}

// sides runs a test for every request of the protocol in its direction, directly and
// through a proxy.
func sides(t *testing.T, test func(t *testing.T, v ways, method string, call caller, far *callee)) {
	for _, v := range versions {
		for _, side := range []wire.Side{wire.Agent, wire.Client} {
			for _, proxied := range []bool{false, true} {
				for _, method := range v.requests(t, side) {
					if proxied && method == acp.MethodInitialize {
						continue // a proxy is initialized already
					}
					name := fmt.Sprintf("%s of version %d", method, v.version)
					if proxied {
						name += " through a proxy"
					}
					t.Run(name, func(t *testing.T) {
						pairtest.Bubble(t, func(t *testing.T) {
							far := &callee{}
							test(t, v, method, v.connect(t, side, proxied, far), far)
						})
					})
				}
			}
		}
	}
}

// Every call of both ends, whose ctx ends before, during and after it.
func TestCtxOfEveryCall(t *testing.T) {
	sides(t, func(t *testing.T, v ways, method string, call caller, far *callee) {
		params := json.RawMessage(v.params[method])

		// Before: nothing is sent.
		far.arm(true)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, call(ctx, method, params, nil), context.Canceled)
		synctest.Wait()
		called, _ := far.seen()
		require.Zero(t, called)

		// During: the call returns at once, and the ctx of the handler ends. A turn ends
		// as the protocol wants it, with an answer.
		for _, way := range []error{context.Canceled, context.DeadlineExceeded} {
			far.arm(true)
			begun := time.Now()
			ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			if way == context.Canceled {
				cancel()
				ctx, cancel = context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
			}
			var res json.RawMessage
			err := call(ctx, method, params, &res)
			assert.Equal(t, time.Second, time.Since(begun))
			if method != acp.MethodSessionPrompt {
				require.ErrorIs(t, err, way)
			}
			synctest.Wait()
			called, cause := far.seen()
			assert.Equal(t, 1, called)
			assert.Error(t, cause, "the handler's ctx has ended")
			if method == acp.MethodSessionPrompt {
				v.cancelled(t, res, err, cause)
			}
			cancel()
		}

		// After the response: cancelling has no effect.
		far.arm(false)
		ctx, cancel = context.WithCancel(t.Context())
		require.NoError(t, call(ctx, method, params, nil))
		cancel()
		synctest.Wait()
		called, cause := far.seen()
		assert.Equal(t, 1, called)
		assert.NoError(t, cause)
		require.NoError(t, call(t.Context(), method, params, nil), "the connection is as before")
	})
}

// The ctx ends at the very moment of the answer: the caller gets one or the other, and
// the next call gets its own answer.
func TestCtxEndsWithTheAnswer(t *testing.T) {
	sides(t, func(t *testing.T, v ways, method string, call caller, far *callee) {
		answered := 0
		for i := range 30 {
			// The other end may still handle the message before, whose id is then in use.
			params := json.RawMessage(strings.Replace(v.params[method], `"requestId":"r"`, fmt.Sprintf(`"requestId":"%d"`, i), 1))
			ctx, cancel := context.WithCancel(t.Context())
			go cancel() // ends at once
			if err := call(ctx, method, params, nil); err == nil {
				answered++
			} else if method != acp.MethodSessionPrompt || !errors.Is(err, rpcerr.ErrRequestCancelled) { // a held prompt has an answer
				require.ErrorIs(t, err, context.Canceled)
			}
			var back int
			require.NoError(t, call(t.Context(), "_extension", answered, &back))
			require.Equal(t, answered, back)
		}
		synctest.Wait()
	})
}

// Very many calls are cancelled while the peer sends no responses. The connection keeps
// nothing of them. The late responses to all of them have no effect on other calls, and
// no warning is logged.
func TestPeerNeverAnswersCancelledCalls(t *testing.T) {
	n := 20_000
	if pairtest.Race {
		n = 10_000
	}
	pairtest.Bubble(t, func(t *testing.T) {
		var log pairtest.Log
		near, far := stream.Pipe()
		c := pairtest.StartClient(t, near, pairtest.Setup{ClientOptions: client.Options{Logger: log.Logger(), CancelGrace: -1}})
		var ids []json.RawMessage
		var cancels atomic.Int64
		read := make(chan struct{})
		go func() { // ends with the last message
			defer close(read)
			for len(ids) < n || int(cancels.Load()) < n {
				b, err := far.Read()
				if !assert.NoError(t, err) {
					return
				}
				var m struct {
					ID     json.RawMessage
					Method string
				}
				assert.NoError(t, json.Unmarshal(b, &m))
				if m.ID == nil {
					cancels.Add(1)
				} else {
					ids = append(ids, m.ID)
				}
			}
		}()
		round := func(n int) {
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					defer cancel()
					var err error
					switch i % 3 {
					case 0:
						err = c.Call(ctx, "_x", nil, nil)
					case 1:
						_, err = c.ListSessions(ctx, nil)
					case 2:
						_, err = c.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text("go")}})
					}
					assert.Equal(t, context.DeadlineExceeded, err)
				})
			}
			wg.Wait()
		}
		round(n / 10)
		synctest.Wait()
		memory := pairtest.Watch(t)
		for range 9 {
			round(n / 10)
		}
		<-read
		kept := cap(ids) * 64
		synctest.Wait()
		memory.Look()
		memory.Within(int64(kept) + 2<<20)

		for i, id := range ids {
			result := `{"stopReason":"end_turn"}`
			if i%2 == 0 {
				require.NoError(t, far.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32800,"message":"Request cancelled"}}`, id)))
			} else {
				require.NoError(t, far.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)))
			}
		}
		go func() { // ends with the answer
			b, err := far.Read()
			assert.NoError(t, err)
			var m struct{ ID json.RawMessage }
			assert.NoError(t, json.Unmarshal(b, &m))
			assert.NoError(t, far.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":7}`, m.ID)))
		}()
		var seven int
		require.NoError(t, c.Call(t.Context(), "_y", nil, &seven))
		assert.Equal(t, 7, seven)
		assert.NotContains(t, log.String(), "level=WARN")
		assert.NotContains(t, log.String(), "level=ERROR")
		begun := time.Now()
		require.NoError(t, c.Shutdown(t.Context()), "no call is pending")
		assert.Zero(t, time.Since(begun))
	})
}

func TestMain(m *testing.M) { pairtest.Main(m) }
