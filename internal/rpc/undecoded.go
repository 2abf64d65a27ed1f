package rpc

import (
	"context"
	"encoding/json"
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
