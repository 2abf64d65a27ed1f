package acp

//go:generate go -C .. run ./internal/gen

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/acpkit/go-sdk/internal/wire"
)

// marshal and unmarshal put the generated codecs under encoding/json, which users
// store and log values with. The connection calls the codecs directly.

func marshal[T any](v *T, encode func(*wire.Encoder, *T)) ([]byte, error) {
	e := wire.NewEncoder(nil)
	encode(&e, v)
	return e.End()
}

// unmarshal reads a value that replaces *v. As the convention of encoding/json has
// it, null changes nothing.
func unmarshal[T any](data []byte, v *T, decode func(*wire.Decoder, *T) *wire.FieldErrors) error {
	if err := wire.Check(data); err != nil {
		return fmt.Errorf("acp: reading %T: %w", *v, err)
	}
	if string(bytes.TrimSpace(data)) == "null" {
		return nil
	}
	d := wire.NewDecoder(data)
	var fresh T
	if _, err := d.End(nil, decode(&d, &fresh)); err != nil {
		return fmt.Errorf("acp: reading %T: %w", *v, err)
	}
	*v = fresh
	return nil
}

// unmarshalUnknown keeps a variant that is not known, and its tag.
func unmarshalUnknown(data []byte, tag string, value *string, raw *json.RawMessage) error {
	if err := wire.Check(data); err != nil {
		return fmt.Errorf("acp: reading a variant: %w", err)
	}
	if value != nil {
		d := wire.NewDecoder(data)
		name, _ := d.Tag(tag)
		*value = string(name)
	}
	*raw = bytes.Clone(data)
	return nil
}

// wrongType is the failure of a codec that was given another type than its own.
func wrongType[T any](v any) error {
	return &wire.EncodeError{Msg: fmt.Sprintf("expected a non-nil *%T, got %T", *new(T), v)}
}

func is[T any](v any) bool {
	x, ok := v.(*T)
	return ok && x != nil
}

// codecRaw carries values that the protocol does not look into.
var codecRaw = wire.Codec{
	Decode: func(raw []byte) (any, error) {
		v := json.RawMessage(bytes.Clone(raw))
		return &v, nil
	},
	Append: func(b []byte, v any) ([]byte, error) {
		x, ok := v.(*json.RawMessage)
		if !ok || x == nil {
			return b, wrongType[json.RawMessage](v)
		}
		e := wire.NewEncoder(b)
		e.RawValue(*x)
		return e.End()
	},
	Valid: func(any, bool) bool { return true },
	Is:    is[json.RawMessage],
}
