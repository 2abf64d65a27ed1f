package rpc

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/rpcerr"
)

type rawParamsKey struct{}

// RawParams returns the params of the message that is being handled as they arrived, nil
// if there are none. It reports false outside a handler, and without Config.RawParams.
func RawParams(ctx context.Context) (json.RawMessage, bool) {
	raw, ok := ctx.Value(rawParamsKey{}).(json.RawMessage)
	return raw, ok
}

// keepRaw returns the ctx for the handler of a message with these params.
func (h *handlers) keepRaw(ctx context.Context, raw []byte) context.Context {
	if !h.cfg.RawParams {
		return ctx
	}
	return context.WithValue(ctx, rawParamsKey{}, json.RawMessage(raw))
}

// kept returns what the handler of a message with these params keeps of them.
func (h *handlers) kept(raw []byte) []byte {
	if !h.cfg.RawParams {
		return nil
	}
	return raw
}

type rawResultKey struct{}

// WithRawResult returns a ctx with which the first call stores its result in raw as it
// arrived.
func WithRawResult(ctx context.Context, raw *json.RawMessage) context.Context {
	return context.WithValue(ctx, rawResultKey{}, raw)
}

// TakeRawResult returns where the result of the call that is made with ctx goes, or nil.
// Calls that middlewares make with the ctx that is returned do not find it.
func TakeRawResult(ctx context.Context) (context.Context, *json.RawMessage) {
	raw, _ := ctx.Value(rawResultKey{}).(*json.RawMessage)
	if raw != nil {
		*raw = nil
		ctx = WithRawResult(ctx, nil)
	}
	return ctx, raw
}

// RawError is the error of a response to [Conn.CallExtension]. A handler of extensions
// that returns it responds with the same bytes.
type RawError struct {
	Raw json.RawMessage
	err *rpcerr.RequestError
}

// Error returns the text of the error.
func (e *RawError) Error() string { return e.err.Error() }

// Unwrap returns the error as an *rpcerr.RequestError.
func (e *RawError) Unwrap() error { return e.err }

// RequestError is the form in which other handlers pass the error on.
func (e *RawError) RequestError() *rpcerr.RequestError { return e.err }

// appendRawFault encodes err unchanged, if a handler of extensions passes it on.
func appendRawFault(b []byte, r *request, err error) ([]byte, bool) {
	raw, ok := errors.AsType[*RawError](err)
	if !ok || r.entry != nil {
		return b, false
	}
	if end, err := envelope.Skip(raw.Raw, 0, envelope.MaxDepth-1); err != nil || end != len(raw.Raw) {
		return b, false
	}
	b = append(appendHead(b, []byte(r.ID)), `,"error":`...)
	return append(append(b, raw.Raw...), '}'), true
}
