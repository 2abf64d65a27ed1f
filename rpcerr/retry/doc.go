// Package retry calls again when an error says that this may help, and waits as
// long as it says.
//
//	resp, err := retry.Value(ctx, func(ctx context.Context) (*acp.NewSessionResponse, error) {
//		return conn.NewSession(ctx, req)
//	}, nil)
//
// An error that carries no kind is classified first, so that a refused
// connection is tried again and a missing file is not. Without a RetryAfter the
// pauses grow exponentially with jitter. Nothing waits longer than ctx lives.
//
// Retry only what may be done twice. Tool calls with side effects, prompts among
// them, are not such calls.
package retry
