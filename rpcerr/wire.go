package rpcerr

import (
	"encoding/json"
	"math"

	"github.com/sourcegraph/jsonrpc2"
)

// As lets errors.As find a *jsonrpc2.Error of github.com/sourcegraph/jsonrpc2, so that
// callers and middleware that were written for that library go on working. It has the code,
// the message and the data that the peer sent, or will receive. Data that cannot be encoded
// is left out.
func (e *RequestError) As(target any) bool {
	t, ok := target.(**jsonrpc2.Error)
	if !ok || e == nil {
		return false
	}
	*t, _ = e.wire()
	return true
}

// wire returns the error member of a response. If Data cannot be encoded the member has
// none, and err says why.
func (e *RequestError) wire() (w *jsonrpc2.Error, err error) {
	sent := e.ToErrorResponse()
	w = &jsonrpc2.Error{Code: int64(sent.Code), Message: sent.Message}
	raw, ok := sent.Data.(json.RawMessage)
	if !ok && sent.Data != nil {
		if raw, err = json.Marshal(sent.Data); err != nil {
			return w, err
		}
	}
	if raw != nil {
		w.Data = &raw
	}
	return w, nil
}

// fromWire returns what the error member of a response says.
func fromWire(w *jsonrpc2.Error) *RequestError {
	if w == nil || w.Code < math.MinInt32 || w.Code > math.MaxInt32 {
		return InternalError(nil)
	}
	e := &RequestError{Code: Code(w.Code), Message: w.Message}
	if w.Data != nil && string(*w.Data) != "null" {
		e.Data = *w.Data
	}
	return e
}
