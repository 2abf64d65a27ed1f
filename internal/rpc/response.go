package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/rpc/order"
	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
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
	if r.entry == nil {
		raw, err := encodeRaw(res)
		if err != nil {
			return b, encodingError(r.Method+" result", err)
		}
		if raw == nil {
			raw = json.RawMessage("null")
		}
		return append(append(b, raw...), '}'), nil
	}
	codec := r.entry.Result
	if !codec.Is(res) {
		if res != nil {
			return b, fmt.Errorf("acp: %s: the result is a %T: return a pointer to the result type of the method", r.Method, res)
		}
		var err error
		if res, _, err = codec.Decode(emptyObject); err != nil {
			return b, fmt.Errorf("acp: %s: the handler returned no result: return a response or an error", r.Method)
		}
	}
	if !codec.Valid(res, true) {
		if strict := !r.brought(res); strict || !codec.Valid(res, false) {
			return b, h.invalid(r.Method+" result", validate.Struct(res, strict))
		}
	}
	b, err := codec.Append(b, res)
	if err != nil {
		return b, h.unencodable(r.Method+" result", err)
	}
	return append(b, '}'), nil
}

// appendFault encodes an error response. Data that cannot be encoded is left out.
func appendFault(b []byte, id []byte, e *rpcerr.RequestError) []byte {
	var out *jsonrpc2.Error
	e.As(&out)
	b = append(appendHead(b, id), `,"error":{"code":`...)
	b = strconv.AppendInt(b, out.Code, 10)
	b = append(b, `,"message":`...)
	b = wire.AppendString(b, out.Message)
	if out.Data != nil {
		if raw, err := encodeRaw(*out.Data); err == nil {
			b = append(append(b, `,"data":`...), raw...)
		}
	}
	return append(b, "}}"...)
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
