package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// msg is the params and result type of the test methods.
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
			return b, fmt.Errorf("bad value")
		}
		raw, err := json.Marshal(m)
		return append(b, raw...), err
	},
	Valid: func(v any, strict bool) bool { return v.(*msg).N >= 0 },
	Is:    func(v any) bool { m, ok := v.(*msg); return ok && m != nil },
}

func request(name string) *wire.Method {
	return &wire.Method{Name: name, Params: codec, Result: codec}
}

func notification(name string) *wire.Method {
	return &wire.Method{Name: name, Notification: true, Params: codec}
}

func TestBasics(t *testing.T) {
	a, b := stream.Pipe()
	echo, note := request("t/echo"), notification("t/note")
	got := make(chan int, 10)
	server := rpc.New(rpc.Config{Stream: a, Role: "agent", Entries: []*rpc.Entry{
		{Method: echo, Handle: func(ctx context.Context, p any) (any, error) { return p, nil }},
		{Method: note, Handle: func(ctx context.Context, p any) (any, error) { got <- p.(*msg).N; return nil, nil }},
	}})
	client := rpc.New(rpc.Config{Stream: b, Role: "client"})
	ctx := t.Context()
	require.NoError(t, server.Start(ctx))
	require.NoError(t, client.Start(ctx))
	for i := range 5 {
		require.NoError(t, client.Notify(ctx, note, &msg{N: i}))
	}
	res, err := client.Call(ctx, echo, &msg{N: 7}, nil)
	require.NoError(t, err)
	assert.Equal(t, 7, res.(*msg).N)
	for i := range 5 {
		assert.Equal(t, i, <-got)
	}
	require.NoError(t, client.Close())
	require.NoError(t, client.Wait())
	require.NoError(t, server.Wait())
}
