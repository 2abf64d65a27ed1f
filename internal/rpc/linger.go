package rpc

import "context"

// Linger notes work that a handler began and that may go on after the handler has
// returned. Shutdown and Wait wait for it as they wait for the handler, and
// ErrHandlerStuck names it by the handler's method. The caller must call done when the
// work has ended. Outside a handler nothing is noted.
func Linger(ctx context.Context) (done func()) {
	s := scopeOf(ctx)
	if s == nil {
		return func() {}
	}
	return s.conn.in.begin(&task{method: s.method})
}
