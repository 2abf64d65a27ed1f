package rpc

import (
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// outcome is what a settled call returns.
func (c *Conn) outcome(k *call) (any, error) {
	if k.decoded {
		return k.value, k.valueErr
	}
	return c.decode(k)
}

// decode reads the answer of a call.
func (c *Conn) decode(k *call) (any, error) {
	switch {
	case k.err != nil:
		return nil, k.err
	case k.fault != nil:
		if name := wire.Repeated(k.fault, "code", "message", "data"); name != "" {
			return nil, c.invalid(k.method+" result", wire.Complain("error object has two members "+name))
		}
		e := new(rpcerr.RequestError)
		if err := e.UnmarshalJSON(k.fault); err != nil {
			return nil, c.invalid(k.method+" result", wire.Complain(err.Error()))
		}
		return nil, e
	case k.m == nil:
		return json.RawMessage(k.result), nil
	}
	return c.decodeResult(k.m, k.result)
}

// decodeResult reads and checks a result. null stands for an empty object: older
// peers answer so where there is nothing to say.
func (c *Conn) decodeResult(m *wire.Method, raw []byte) (any, error) {
	if string(raw) == "null" {
		raw = emptyObject
	}
	v, err := m.Result.Decode(raw)
	if err != nil {
		return nil, c.invalid(m.Name+" result", complaints(err))
	}
	if !m.Result.Valid(v, false) {
		return nil, c.invalid(m.Name+" result", validate.Struct(v, false))
	}
	return v, nil
}

// complaints are what a codec says is wrong.
func complaints(err error) *wire.FieldErrors {
	var d *wire.DecodeError
	if errors.As(err, &d) && d.Fields != nil {
		return d.Fields
	}
	return wire.Complain(err.Error())
}
