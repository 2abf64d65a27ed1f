package rpc_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/stream"
)

// telling is a stream that can tell its peer why it is closed.
type telling struct {
	*held

	mu  sync.Mutex // guards why
	why []stream.Reason
}

func (s *telling) Features() *stream.Features {
	return &stream.Features{CloseFor: func(why stream.Reason) error {
		s.mu.Lock()
		s.why = append(s.why, why)
		s.mu.Unlock()
		return s.Close()
	}}
}

// A stream with Features.CloseFor receives the reason why the connection
// ends.
func TestReasonOfClose(t *testing.T) {
	blocked := []*rpc.Entry{on(mNote, func(ctx context.Context, _ *msg) (*msg, error) { <-ctx.Done(); return nil, nil })}
	for name, tt := range map[string]struct {
		limits  rpc.Limits
		blocked bool // writes wait
		end     func(t *testing.T, c *rpc.Conn, s *telling, far peer, stop context.CancelFunc)
		want    []stream.Reason // none: the stream is closed without one
	}{
		"Close": {end: func(_ *testing.T, c *rpc.Conn, _ *telling, _ peer, _ context.CancelFunc) { _ = c.Close() }},
		"Shutdown": {end: func(t *testing.T, c *rpc.Conn, _ *telling, _ peer, _ context.CancelFunc) {
			_ = c.Shutdown(t.Context())
		}},
		"ctx": {end: func(_ *testing.T, _ *rpc.Conn, _ *telling, _ peer, stop context.CancelFunc) { stop() }},
		"end of input": {end: func(_ *testing.T, _ *rpc.Conn, _ *telling, far peer, _ context.CancelFunc) {
			far.Close()
		}},
		"too much is unhandled": {
			limits: rpc.Limits{Backlog: 10_000, MaxBacklog: 20_000},
			end: func(t *testing.T, c *rpc.Conn, _ *telling, far peer, _ context.CancelFunc) {
				go func() { _, _ = c.Call(t.Context(), mEcho, &msg{}, nil) }() // ends with the connection
				far.Next()
				for range 50 {
					if far.Write([]byte(bigNote)) != nil {
						break
					}
				}
			},
			want: []stream.Reason{stream.ReasonLimit},
		},
		"the peer does not read": {
			limits: rpc.Limits{SendQueue: 1000}, blocked: true,
			end: func(t *testing.T, c *rpc.Conn, _ *telling, _ peer, _ context.CancelFunc) {
				for c.Notify(t.Context(), mNote, &msg{N: 1}) == nil {
				}
			},
			want: []stream.Reason{stream.ReasonLimit},
		},
		"writing fails": {
			end: func(t *testing.T, c *rpc.Conn, s *telling, _ peer, _ context.CancelFunc) {
				s.fail(errors.New("broken"))
				_ = c.Notify(t.Context(), mNote, &msg{N: 1})
			},
			want: []stream.Reason{stream.ReasonFailure},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				near, far := stream.Pipe()
				s := &telling{held: &held{Stream: near, gate: make(chan struct{})}}
				if !tt.blocked {
					close(s.gate)
				}
				c := rpc.New(rpc.Config{Stream: s, Entries: blocked, Limits: tt.limits, Logger: new(logs).logger()})
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				assert.NoError(t, c.Start(ctx))
				tt.end(t, c, s, newPeer(t, far), stop)
				_ = c.Wait()
				synctest.Wait()
				s.mu.Lock()
				defer s.mu.Unlock()
				assert.Equal(t, tt.want, s.why)
				_ = far.Close()
			})
		})
	}
}
