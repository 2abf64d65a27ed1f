// Package rpcerr defines the errors of the Agent Client Protocol: those that a handler
// returns to say why a request failed, and those that a call returns if the peer
// responded with an error.
//
// In a handler:
//
//	func (a *myAgent) NewSession(ctx context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
//		if !a.loggedIn() {
//			return nil, rpcerr.AuthRequired(nil)
//		}
//		...
//	}
//
// In a caller:
//
//	if !rpcerr.FromPeer(err) {
//		return err // of this end: acp.ErrClosed, the error of ctx, what package acp refuses to send
//	}
//	if code, _ := rpcerr.CodeOf(err); code == rpcerr.CodeAuthRequired {
//		return signIn(ctx) // or errors.Is(err, rpcerr.ErrAuthRequired)
//	}
//	if e, ok := kind.From(err); ok && e.Retryable {
//		return again(ctx, e.RetryAfter) // or errors.Is(err, kind.RateLimited)
//	}
//	show(rpcerr.Explain(err)) // or client.Explain, which names the next step
//
// An error that a peer sent is a *[RequestError]. errors.As finds no *kind.Error in it: kind.From reads
// the record, and kind.AdviceFor says what to do.
//
// # Names of a failure
//
//   - [Code] is the number of the error object, such as -32002. Every error that is sent has one.
//   - kind.Kind is the category, such as not_found. It determines the Code; a Code that no kind has
//     is of kind unknown, unless the data names one.
//   - kind.Error.Number is the Code where it is not that of the kind.
//   - kind.Error.Reason is the failure mode of a tool, such as no_match. Package contract declares it.
//   - kind.Error.Code is the name that an application or package toolerr gives a failure, such as
//     CHANNEL_NOT_FOUND. It is text, and no Code.
//   - toolcode.Code is a word of a fixed list for models. It is sent as the Reason.
//
// # What reaches the peer
//
// The peer receives Code, Message and Data of a [RequestError]. It does not receive its cause,
// nor the text of any other error: [From] makes that -32603 "Internal error". An error type of
// your own defines its own conversion with a method RequestError.
//
//	func (e *QuotaError) RequestError() *rpcerr.RequestError {
//		return rpcerr.New(-31500, "quota used up", map[string]any{"limit": e.Limit})
//	}
//
// The subpackages add whether and when to try again, and what would help. A table in
// rpcerr/README.md lists when to use which.
package rpcerr
