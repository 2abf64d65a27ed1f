package client

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// sending watches a call from outside until its message is in the outgoing queue, so
// that the caller can go on while the answer is waited for. Two things must have
// happened: the params were encoded, and after that the call began to wait, for its
// answer or for its place in the queue, which is kept in order.
type sending struct {
	encoded atomic.Bool
	once    sync.Once
	done    chan struct{}
}

func newSending() *sending { return &sending{done: make(chan struct{})} }

func (s *sending) sent() { s.once.Do(func() { close(s.done) }) }

// method returns a copy of the row m that notes when the params are encoded.
func (s *sending) method(m *wire.Method) *wire.Method {
	watched, params := *m, *m.Params
	params.Append = func(b []byte, v any) ([]byte, error) {
		b, err := m.Params.Append(b, v)
		if err == nil {
			s.encoded.Store(true)
		}
		return b, err
	}
	watched.Params = &params
	return &watched
}

type sendingKey struct{}

// watch returns the ctx for the call.
func (s *sending) watch(ctx context.Context) context.Context {
	return watched{context.WithValue(ctx, sendingKey{}, s), s}
}

// watched tells when somebody waits for the end of a ctx.
type watched struct {
	context.Context
	s *sending
}

// Done implements context.Context. Who waits asks for it.
func (w watched) Done() <-chan struct{} {
	if w.s.encoded.Load() {
		w.s.sent()
	}
	return w.Context.Done()
}

// rewatch is the innermost of the sending middlewares: one further out may have derived
// a ctx of its own, which would hide the wait.
func rewatch(next rpc.Handler) rpc.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if s, ok := ctx.Value(sendingKey{}).(*sending); ok {
			ctx = watched{ctx, s}
		}
		return next(ctx, method, params)
	}
}
