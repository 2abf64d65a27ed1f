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
//	switch code, _ := rpcerr.CodeOf(err); code {
//	case rpcerr.CodeAuthRequired:   // authenticate, then call again
//	case rpcerr.CodeMethodNotFound: // the peer cannot do this
//	}
//
// or errors.Is(err, rpcerr.ErrAuthRequired). [Explain] returns the text to show to a person.
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
