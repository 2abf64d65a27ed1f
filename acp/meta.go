package acp

// Meta is the `_meta` member that almost every object of the protocol may carry:
// data that both ends have agreed on. The SDK passes it on and does not interpret it.
//
// Prefix keys of your own with a domain, such as "example.com/trace". The keys
// traceparent, tracestate and baggage are reserved for W3C trace context.
//
// Values have the types that encoding/json uses for an any: an object is a map[string]any,
// an array a []any, a number a float64. An integer that a float64 cannot represent exactly
// is a json.Number. A nil Meta is omitted.
//
// A decoded message occupies at most about ten times its length in memory, or 16 KiB if it
// is short. Objects and arrays in a Meta that would exceed this limit remain
// json.RawMessage.
type Meta map[string]any
