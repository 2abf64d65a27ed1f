package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
)

// codec checks, encodes and decodes params and results. It has no state.
type codec struct {
	cfg *Config
	log *slog.Logger
}

func (c *codec) encodeParams(f *outbox.Frame, m *wire.Method, method string, params any, strict bool) error {
	return c.encode(method, func() (err error) {
		f.Data, err = c.appendParams(f.Data, m, method, params, strict)
		return err
	})
}

// rawParams encodes the params of an extension.
func (c *codec) rawParams(method string, params any) (raw json.RawMessage, err error) {
	err = c.encode(method, func() (err error) {
		if raw, err = encodeRaw(params); err != nil {
			return encodingError(method+" params", err)
		}
		return nil
	})
	return raw, err
}

// encode calls f, which encodes params. The user's encoding methods may panic.
func (c *codec) encode(method string, f func() error) error {
	err := safely(f)
	if p, ok := err.(*panicError); ok {
		c.log.Error("acp: panic while encoding params", "method", shown(method), errorAttr(p))
		return encodingError(shown(method)+" params", p)
	}
	return err
}

// appendParams checks and encodes params and closes the message. Forwarded params are checked
// like those that arrive, because a proxy must not be stricter than the ends.
func (c *codec) appendParams(b []byte, m *wire.Method, method string, params any, strict bool) ([]byte, error) {
	if m == nil {
		raw, err := encodeRaw(params)
		if err != nil {
			return b, encodingError(method+" params", err)
		}
		if raw != nil {
			b = append(append(b, `,"params":`...), raw...)
		}
		return append(b, '}'), nil
	}
	b, err := c.appendTyped(append(b, `,"params":`...), m, params, strict)
	if err != nil {
		return b, err
	}
	return append(b, '}'), nil
}

// appendTyped checks and encodes params of the protocol.
func (c *codec) appendTyped(b []byte, m *wire.Method, params any, strict bool) ([]byte, error) {
	if !m.Params.Is(params) {
		return b, fmt.Errorf("acp: %s: params are a %T: pass a pointer to the params type of the method", m.Name, params)
	}
	if !m.Params.Valid(params, strict) {
		return b, c.invalid(m.Name+" params", validate.Struct(params, strict))
	}
	b, err := m.Params.Append(b, params)
	if err != nil {
		return b, c.unencodable(m.Name+" params", err)
	}
	return b, nil
}

// encodeRaw encodes a value of an extension, on one line; nil stays nil.
func encodeRaw(v any) (json.RawMessage, error) {
	switch raw := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		if raw == nil {
			return nil, nil
		}
		end, err := envelope.Skip(raw, 0, envelope.MaxDepth-1)
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(raw[end:])) > 0 {
			return nil, errors.New("something follows the value")
		}
		if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
			return raw, nil
		}
		var line bytes.Buffer
		if err := json.Compact(&line, raw); err != nil {
			return nil, err
		}
		return line.Bytes(), nil
	}
	return json.Marshal(v)
}

// unencodable is the error for a typed value that cannot be encoded. The checks let some of them
// pass, such as a nil variant of a union, because encoding finds them.
func (c *codec) unencodable(what string, err error) error {
	if bad, ok := errors.AsType[*wire.EncodeError](err); ok {
		return c.invalid(what, bad.Fields())
	}
	return encodingError(what, err)
}

func encodingError(what string, err error) error {
	return fmt.Errorf("acp: encoding %s: %w", what, err)
}

// decodeParams decodes and checks params, and returns the memory that they occupy. Absent
// params are an empty object. odd is v if it breaks a rule that holds only for what is
// sent, and nil otherwise.
func (c *codec) decodeParams(e *Entry, raw []byte) (v, odd any, held int64, fields *wire.FieldErrors) {
	if raw == nil || string(raw) == "null" {
		raw = emptyObject
	}
	v, held, err := e.Params.Decode(raw)
	if err != nil {
		return nil, nil, 0, violations(err)
	}
	if e.Params.Valid(v, true) {
		return v, nil, held, nil
	}
	strict := e.StrictParams && !c.cfg.LenientPaths
	if !strict && e.Params.Valid(v, false) {
		return v, v, held, nil
	}
	if fields = validate.Struct(v, strict); fields == nil {
		fields = wire.Violation("invalid")
	}
	return nil, nil, 0, fields
}

// decodeResult decodes and checks a result. null stands for an empty object: older peers respond
// so to methods without a result.
func (c *codec) decodeResult(m *wire.Method, raw []byte) (any, error) {
	if string(raw) == "null" {
		raw = emptyObject
	}
	v, _, err := m.Result.Decode(raw)
	if err != nil {
		return nil, c.invalid(m.Name+" result", violations(err))
	}
	if !m.Result.Valid(v, false) {
		return nil, c.invalid(m.Name+" result", validate.Struct(v, false))
	}
	return v, nil
}

func violations(err error) *wire.FieldErrors {
	var d *wire.DecodeError
	if errors.As(err, &d) && d.Fields != nil {
		return d.Fields
	}
	return wire.Violation(err.Error())
}

func (c *codec) invalid(where string, fields *wire.FieldErrors) error {
	if fields == nil {
		fields = wire.Violation("invalid")
	}
	if c.cfg.Invalid != nil {
		return c.cfg.Invalid(where, fields)
	}
	return fmt.Errorf("acp: invalid %s: %s", where, fields)
}
