// Package rpcerr holds the errors of the Agent Client Protocol: what a handler
// returns to say why a request failed, and what a caller catches.
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
//	switch code, _ := rpcerr.CodeOf(err); code {
//	case rpcerr.CodeAuthRequired:   // authenticate, then call again
//	case rpcerr.CodeMethodNotFound: // the peer cannot do this
//	}
//
// or errors.Is(err, rpcerr.ErrAuthRequired), or errors.As for the message and
// the data.
//
// # What reaches the peer
//
// Code, Message and Data of a [RequestError] do. The cause given to
// [RequestError.WithCause] does not, nor does the text of any other error: an
// unexpected one leaves as -32603 "Internal error". [From] is the only place where that
// is decided, and an error type of your own takes part in it with one method:
//
//	func (e *QuotaError) RequestError() *rpcerr.RequestError {
//		return rpcerr.New(-31000, "quota used up", map[string]any{"limit": e.Limit})
//	}
//
// # More than a code
//
// The subpackages add what a program needs to decide what comes next (may it be
// retried, when, what would help); README.md beside this file tells which to
// use when. This package needs nothing but the standard library.
package rpcerr
