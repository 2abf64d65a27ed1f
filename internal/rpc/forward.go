package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

type rawParamsKey struct{}

// RawParams returns the params of the message that is being handled as they arrived, nil
// if there are none. It reports false outside a handler, and without Config.RawParams.
func RawParams(ctx context.Context) (json.RawMessage, bool) {
	raw, ok := ctx.Value(rawParamsKey{}).(json.RawMessage)
	return raw, ok
}

type rawResultKey struct{}

// WithRawResult returns a ctx with which the first call stores its result in raw as it
// arrived.
func WithRawResult(ctx context.Context, raw *json.RawMessage) context.Context {
	return context.WithValue(ctx, rawResultKey{}, raw)
}

// TakeRawResult returns what WithRawResult was given, or nil, and a ctx without it for the calls
// of middlewares.
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

// mostResults is how many results are kept for a request: a handler may run for hours and read
// large files.
const mostResults = 4

// keep remembers the result of a call of m that a handler made, if it breaks a rule for what is sent and has
// the type of the handler's own result. A relay may return it: the mistake is that of the other peer, and is
// passed on. keep does nothing if s is not the scope of a handler.
func (s *scope) keep(m *wire.Method, result any) {
	if s == nil || s.req == nil || s.work != nil || s.req.entry == nil || m == nil || s.req.entry.Result != m.Result || result == nil || !m.Result.Is(result) || m.Result.Valid(result, true) {
		return
	}
	s.req.mu.Lock()
	defer s.req.mu.Unlock()
	k := s.req.moreLocked()
	if len(k.results) == mostResults {
		k.results = slices.Delete(k.results, 0, 1)
	}
	k.results = append(k.results, result)
}

// brought reports whether v is the result of a call that keep remembers.
func (r *request) brought(v any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.more != nil && slices.Contains(r.more.results, v)
}

// arrived reports whether v is the params of a handler that ctx descends from and broke a rule for
// what is sent when it arrived. It is then passed on, and the mistake is not this program's.
func arrived(ctx context.Context, v any) bool {
	for s := scopeOf(ctx); s != nil; s = s.up {
		if s.odd != nil && s.odd == v {
			return true
		}
	}
	return false
}
