// Package retry makes a call again if its error is retryable, and waits as long as the
// error requires.
//
//	resp, err := retry.Value(ctx, func(ctx context.Context) (*acp.NewSessionResponse, error) {
//		return conn.NewSession(ctx, req)
//	}, nil)
//
// An error that carries no kind is classified first, so that a refused connection is tried
// again and a missing file is not. A classification that is based on words in the text is a
// guess, and no reason to call again. If the error does not contain a time to wait, the
// pauses grow exponentially, with jitter. No pause outlasts ctx.
//
// Retry only what may be done twice. Tool calls with side effects, and so prompts, are not
// such calls.
package retry
