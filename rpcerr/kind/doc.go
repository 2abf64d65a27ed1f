// Package kind describes failures in a form that programs and models can act on: a [Kind],
// and an [Error] that has a kind, whether and when to try again, a hint, and further data.
//
//	return kind.NotFound.Errorf("no template %q: %w", name, err).
//		WithHint("Call list_templates to see what exists.").
//		With("template", name)
//
// The failure of another service is built from its HTTP status:
//
//	return kind.Upstream("The tracker refused the query.", resp.StatusCode).WithCause(err)
//
// On the wire an Error is the error object of JSON-RPC, with a code of the protocol
// where there is one (not found is -32002) and the other facts in its data. A failed tool
// call carries the same object in its raw output. The receiver reads it back with [From],
// asks for the kind, or asks what to do:
//
//	if errors.Is(err, kind.RateLimited) { ... }
//	switch kind.Of(err) { ... }
//	switch a := kind.AdviceFor(err); a.Action {
//	case kind.ActionWait:    // wait for a.After, then call again; package retry does both
//	case kind.ActionLogIn:   // authenticate, then call again
//	case kind.ActionAskUser: // a.Hint is what to ask
//	}
//
// The operand of %w, the cause, the text given to WithDebug and the attributes given to
// WithAttrs stay in the process. Everything else reaches the peer.
//
// An Error is the record that the packages below rpcerr share: contract, toolerr and
// toolcode build it and read it, classify makes one of any Go error, retry obeys it. A
// constructor that cannot build what it is asked for returns an internal error that wraps
// [ErrBadUse] and names the mistake.
package kind
