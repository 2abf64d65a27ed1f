package rpcerr

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"
)

// ErrorResponse is the error object of a JSON-RPC response.
type ErrorResponse struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Result is the outcome of a failed request: the member "error" of a JSON-RPC response.
type Result struct {
	Error ErrorResponse `json:"error"`
}

// ToErrorResponse returns the parts of the error that are sent: all but the cause.
func (e *RequestError) ToErrorResponse() ErrorResponse {
	if e == nil {
		e = InternalError(nil)
	}
	message := e.Message
	if message == "" {
		message = e.Code.String()
	}
	return ErrorResponse{Code: e.Code, Message: message, Data: e.Data}
}

// ToResult returns the error as the outcome of a request: {"error": {...}}.
func (e *RequestError) ToResult() Result { return Result{Error: e.ToErrorResponse()} }

// DecodeData stores Data in the value that v points to, by the rules of encoding/json. It
// returns an error if there is none.
func (e *RequestError) DecodeData(v any) error {
	if e == nil || e.Data == nil {
		return errors.New("rpcerr: the error carries no data")
	}
	raw, ok := e.Data.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(e.Data); err != nil {
			return fmt.Errorf("encoding error data: %w", err)
		}
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("decoding error data: %w", err)
	}
	return nil
}

// As lets errors.As find a *jsonrpc2.Error of github.com/sourcegraph/jsonrpc2, so that callers and
// middleware that were written for that library still work.
func (e *RequestError) As(target any) bool {
	t, ok := target.(**jsonrpc2.Error)
	if !ok || e == nil {
		return false
	}
	*t, _ = e.wire()
	return true
}

// wire returns the error member of a response, without Data if that cannot be encoded.
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

// fromWire converts the error member of a response.
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

// MarshalJSON writes the error object of JSON-RPC. It fails when Data cannot be
// encoded.
func (e RequestError) MarshalJSON() ([]byte, error) {
	w, err := e.wire()
	if err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the error object of JSON-RPC. Data becomes a json.RawMessage, or nil for
// null. The code must be a 32-bit integer and the message a string.
func (e *RequestError) UnmarshalJSON(b []byte) error {
	var members map[string]json.RawMessage // keeps the names case sensitive
	if err := json.Unmarshal(b, &members); err != nil {
		return fmt.Errorf("decoding error object: %w", err)
	}
	code, err := parseCode(members["code"])
	if err != nil {
		return err
	}
	var message *string
	if json.Unmarshal(members["message"], &message) != nil || message == nil {
		return errors.New("decoding error object: message is not a string")
	}
	w := &jsonrpc2.Error{Code: int64(code), Message: *message}
	if data, ok := members["data"]; ok {
		w.Data = &data
	}
	*e = *fromWire(w)
	e.received = true
	return nil
}

// parseCode accepts every spelling of an integer that JSON has, 1e3 among them.
func parseCode(raw json.RawMessage) (Code, error) {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || f < math.MinInt32 || f > math.MaxInt32 {
		return 0, errors.New("decoding error object: code is not a 32-bit integer")
	}
	return Code(f), nil
}
