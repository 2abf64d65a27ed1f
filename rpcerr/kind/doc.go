// Package kind says what went wrong in a form that programs and models can act
// on: a [Kind], and an [Error] that carries beside it whether and when to try
// again, what would help, and further facts.
//
//	return kind.NotFound.Errorf("no template %q: %w", name, err).
//		WithHint("Call list_templates to see what exists.").
//		With("template", name)
//
// On the wire this is the error object of JSON-RPC with a code of the protocol
// where there is one (not found is -32002) and the rest in its data; a failed tool call
// carries the same object in its raw output. The receiver reads it back with
// [From], or asks for no more than the kind, which works on both ends:
//
//	if errors.Is(err, kind.RateLimited) { ... }
//	switch kind.Of(err) { ... }
//
// The operand of %w, the cause, the text given to WithDebug and the attributes given
// to WithAttrs stay in the process. Everything else reaches the peer.
//
// An Error is the record that all packages below rpcerr share: contract, toolerr,
// envelope and advice build it and read it, classify makes one of any Go error,
// retry obeys it. A constructor that cannot build what it is asked for returns an
// internal error that wraps [ErrBadUse] and names the mistake.
package kind
