package rpc_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// The codec of the benchmarks does no work, so that they measure the engine alone.
type blob struct{ raw []byte }

var blobCodec = &wire.Codec{
	Decode: func(raw []byte) (any, int64, error) { return &blob{raw}, int64(len(raw)), nil },
	Append: func(b []byte, v any) ([]byte, error) { return append(b, v.(*blob).raw...), nil },
	Valid:  func(any, bool) bool { return true },
	Is:     func(v any) bool { _, ok := v.(*blob); return ok },
}

var (
	blobCall   = &wire.Method{Name: "session/set_mode", Params: blobCodec, Result: blobCodec}
	blobPrompt = &wire.Method{Name: "session/prompt", Params: blobCodec, Result: blobCodec, Waits: true, Streams: true}
	blobNote   = &wire.Method{Name: "session/update", Notification: true, Params: blobCodec}

	update = &blob{[]byte(`{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` +
		string(bytes.Repeat([]byte("x"), 100)) + `"}}}`)}
	small = &blob{[]byte(`{"sessionId":"sess_0123456789abcdef","modeId":"code"}`)}
	empty = &blob{[]byte(`{}`)}
)

// pair starts two connected ends.
func pair(b *testing.B, agent, client []*rpc.Entry) (a, c *rpc.Conn) {
	near, far := stream.Pipe()
	a = newConn(rpc.Config{Stream: near, Role: "agent", Entries: agent})
	c = newConn(rpc.Config{Stream: far, Role: "client", Entries: client})
	require.NoError(b, a.Start(context.Background()))
	require.NoError(b, c.Start(context.Background()))
	b.Cleanup(func() {
		_ = c.Close()
		_ = c.Wait()
		_ = a.Wait()
	})
	return a, c
}

func BenchmarkNotifications(b *testing.B) {
	var a, c *rpc.Conn
	var seen atomic.Int64
	prompt := &rpc.Entry{Method: blobPrompt, Handle: func(ctx context.Context, p any) (any, error) {
		for range b.N {
			if err := a.Notify(ctx, blobNote, update); err != nil {
				return nil, err
			}
		}
		return empty, nil
	}}
	note := &rpc.Entry{Method: blobNote, Handle: func(context.Context, any) (any, error) { seen.Add(1); return nil, nil }}
	a, c = pair(b, []*rpc.Entry{prompt}, []*rpc.Entry{note})
	b.ReportAllocs()
	b.ResetTimer()
	_, err := c.Call(context.Background(), blobPrompt, small, nil)
	require.NoError(b, err)
	require.EqualValues(b, b.N, seen.Load())
}

func benchCalls(b *testing.B, inFlight int, answer *blob) {
	set := &rpc.Entry{Method: blobCall, Handle: func(context.Context, any) (any, error) { return answer, nil }}
	_, c := pair(b, []*rpc.Entry{set}, nil)
	b.ReportAllocs()
	b.SetBytes(int64(len(answer.raw)))
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for range inFlight {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := c.Call(context.Background(), blobCall, small, nil); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkCall(b *testing.B)    { benchCalls(b, 1, empty) }
func BenchmarkCalls64(b *testing.B) { benchCalls(b, 64, empty) }
func BenchmarkCall1MiB(b *testing.B) {
	benchCalls(b, 1, &blob{[]byte(`{"content":"` + string(bytes.Repeat([]byte("y"), 1<<20)) + `"}`)})
}
