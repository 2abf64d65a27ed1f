package rpc

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/rpcerr"
)

// appendResponse encodes what the handler of a request returned. It reports whether the response
// has a result.
func (h *handlers) appendResponse(f *outbox.Frame, r *request, res any, err error, ended order.Ended) (ok bool) {
	encode := func() error {
		return safely(func() (err error) { f.Data, err = h.appendResult(f.Data[:0], r, res); return err })
	}
	if err == nil {
		err = encode()
	}
	if err != nil && ended == order.ByGroup && r.entry != nil && r.entry.Ended != nil {
		r.conn.Look(r.Method, err, func() {
			h.log.Info("acp: handler of a cancelled turn failed", "method", shown(r.Method), errorAttr(err))
		})
		res = r.entry.Ended()
		err = encode()
	}
	if err == nil {
		return true
	}
	unsound := r.conn.Leave(r, r.Method, err, func(err error) { f.Data = h.appendError(f.Data[:0], r, err, ended != order.ByNone) })
	if unsound != nil {
		f.Data = appendFault(f.Data[:0], []byte(r.ID), unsound)
	}
	return false
}

func (h *handlers) appendError(b []byte, r *request, err error, cancelled bool) []byte {
	if raw, ok := appendRawFault(b, r, err); ok {
		return raw
	}
	fault, _ := r.conn.fault(err, cancelled, "acp: a request handler failed", "method", shown(r.Method))
	if fault.Code == rpcerr.CodeRequestCancelled && cancelled && fault.Data == nil {
		fault = cancelledResponse(r)
	}
	return appendFault(b, []byte(r.ID), fault)
}

func (h *handlers) appendResult(b []byte, r *request, res any) ([]byte, error) {
	b = append(appendHead(b, []byte(r.ID)), `,"result":`...)
	b, err := h.appendValue(b, r.entry, r.Method, res, r.brought)
	if err != nil {
		return b, err
	}
	return append(b, '}'), nil
}

// appendValue checks and encodes the result of a handler. e is nil for an extension. brought reports
// whether the result came from another peer.
func (c *codec) appendValue(b []byte, e *Entry, method string, res any, brought func(any) bool) ([]byte, error) {
	if e == nil {
		raw, err := encodeRaw(res)
		if err != nil {
			return b, encodingError(method+" result", err)
		}
		if raw == nil {
			raw = json.RawMessage("null")
		}
		return append(b, raw...), nil
	}
	codec := e.Result
	if !codec.Is(res) {
		if res != nil {
			return b, fmt.Errorf("acp: %s: the result is a %T: return a pointer to the result type of the method", method, res)
		}
		var err error
		if res, _, err = codec.Decode(emptyObject); err != nil {
			return b, fmt.Errorf("acp: %s: the handler returned no result: return a response or an error", method)
		}
	}
	if !codec.Valid(res, true) {
		if strict := !brought(res); strict || !codec.Valid(res, false) {
			return b, c.invalid(method+" result", validate.Struct(res, strict))
		}
	}
	b, err := codec.Append(b, res)
	if err != nil {
		return b, c.unencodable(method+" result", err)
	}
	return b, nil
}

// appendFault encodes an error response, whose error member is that of jsonrpc2. Data that is not
// JSON, or that nests deeper than a message may, is left out.
func appendFault(b []byte, id []byte, e *rpcerr.RequestError) []byte {
	var out *jsonrpc2.Error
	e.As(&out)
	if out.Data != nil {
		if _, err := encodeRaw(*out.Data); err != nil {
			out.Data = nil
		}
	}
	raw, _ := json.Marshal(out) // cannot fail: its data is JSON
	return append(append(append(appendHead(b, id), `,"error":`...), raw...), '}')
}

func cancelledResponse(r *request) *rpcerr.RequestError {
	return rpcerr.RequestCancelled(map[string]json.RawMessage{"requestId": json.RawMessage(r.ID)})
}

var errNoResponse = errors.New("response cannot be used")

// responseError returns the error of a call whose response cannot be used.
func responseError(k *call, why error) error {
	return fmt.Errorf("acp: %s: %w: %w", k.method, errNoResponse, why)
}

// peerMistake is the error for an invalid request. It is not a failure of this end, so OnError
// need not log it.
type peerMistake struct{ response *rpcerr.RequestError }

func (e *peerMistake) Error() string                      { return e.response.Error() }
func (e *peerMistake) Is(target error) bool               { return e.response.Is(target) }
func (e *peerMistake) RequestError() *rpcerr.RequestError { return e.response }
func (*peerMistake) Logged() bool                         { return true }

func (e *peerMistake) As(target any) bool {
	r, ok := target.(**rpcerr.RequestError)
	if ok {
		*r = e.response
	}
	return ok
}
