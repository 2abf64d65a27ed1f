package agent

import (
	"context"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// respondToCloseLast makes the response to session/close wait until the work of the session
// has ended, because nothing of the session may follow the response.
func (c *Conn) respondToCloseLast(e *rpc.Entry) {
	handle := e.Handle
	e.Handle = func(ctx context.Context, params any) (any, error) {
		req, ok := params.(*acp.CloseSessionRequest)
		if !ok {
			return handle(ctx, params)
		}
		s := c.Session(req.SessionID)
		defer s.closing(ctx)()
		res, err := handle(ctx, params)
		if err == nil {
			err = s.settle(ctx)
		}
		if err == nil {
			rpc.EndAgain(ctx) // prompts that have arrived since and have not begun
		}
		return res, err
	}
}

// closing lets no more work begin until done is called, and ends the work that has begun since
// session/close was read.
func (s *Session) closing(ctx context.Context) (done func()) {
	add := func(n int) {
		_ = s.conn.states.with(s.id, func(st *state) error { // never fails
			st.closing += n
			return nil
		})
	}
	add(1)
	rpc.EndAgain(ctx)
	return func() { add(-1) }
}

// settle waits until no work of the session is in progress.
func (s *Session) settle(ctx context.Context) error {
	defer rpc.Waits(ctx)()
	for {
		var fewer chan struct{}
		_ = s.conn.states.with(s.id, func(st *state) error { // never fails
			if st.working || len(st.background) > 0 {
				if st.fewer == nil {
					st.fewer = make(chan struct{})
				}
				fewer = st.fewer
			}
			return nil
		})
		if fewer == nil {
			return nil
		}
		select {
		case <-fewer:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
