package client

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/acpkit/go-sdk/internal/wire"
)

// sending watches a call from outside until its message is in the outgoing queue, so
// that the caller can go on while the answer is waited for. Two things must have
// happened: the params were encoded, and after that the call began to wait, for its
// answer or for its place in the queue, which is kept in order.
type sending struct {
	context.Context
	encoded atomic.Bool
	once    sync.Once
	done    chan struct{}
}

func watch(ctx context.Context) *sending {
	return &sending{Context: ctx, done: make(chan struct{})}
}

// Done implements context.Context. Who waits asks for it.
func (s *sending) Done() <-chan struct{} {
	if s.encoded.Load() {
		s.sent()
	}
	return s.Context.Done()
}

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
