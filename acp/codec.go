// Copied to draft2/acp by go generate.

package acp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/acpkit/go-sdk/internal/wire"
)

// marshal and unmarshal implement encoding/json's interfaces with the generated codecs, for
// users who store and log values. The connection calls the codecs directly.

func marshal[T any](v *T, encode func(*wire.Encoder, *T)) ([]byte, error) {
	e := wire.NewEncoder(nil)
	encode(&e, v)
	return e.End()
}

// unmarshal decodes a value that replaces *v. By the convention of encoding/json, null
// changes nothing.
func unmarshal[T any](data []byte, v *T, decode func(*wire.Decoder, *T) *wire.FieldErrors) error {
	if err := wire.Check(data); err != nil {
		return fmt.Errorf("acp: reading %T: %w", *v, err)
	}
	if string(bytes.TrimSpace(data)) == "null" {
		return nil
	}
	d := wire.NewDecoder(data)
	var fresh T
	if _, _, err := d.End(nil, decode(&d, &fresh)); err != nil {
		return fmt.Errorf("acp: reading %T: %w", *v, err)
	}
	*v = fresh
	return nil
}

// union decodes any variant.
func union[T any](data []byte, decode func(*wire.Decoder, *T) *wire.FieldErrors) (v T, err error) {
	err = unmarshal(data, &v, decode)
	return v, err
}

// unmarshalUnknown keeps an unknown variant and its tag.
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
