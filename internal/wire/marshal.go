package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// These functions implement encoding/json's interfaces with the codecs of a vocabulary, for users who
// store and log values. The connection calls the codecs directly.

// Marshal encodes a value.
func Marshal[T any](v *T, encode func(*Encoder, *T)) ([]byte, error) {
	e := NewEncoder(nil)
	encode(&e, v)
	return e.End()
}

// Unmarshal decodes a value that replaces *v. By the convention of encoding/json, null
// changes nothing.
func Unmarshal[T any](data []byte, v *T, decode func(*Decoder, *T) *FieldErrors) error {
	if err := Check(data); err != nil {
		return fmt.Errorf("acp: reading %T: %w", *v, err)
	}
	if string(bytes.TrimSpace(data)) == "null" {
		return nil
	}
	d := NewDecoder(data)
	var fresh T
	if _, _, err := d.End(nil, decode(&d, &fresh)); err != nil {
		return fmt.Errorf("acp: reading %T: %w", *v, err)
	}
	*v = fresh
	return nil
}

// UnmarshalUnion decodes any variant.
func UnmarshalUnion[T any](data []byte, decode func(*Decoder, *T) *FieldErrors) (v T, err error) {
	err = Unmarshal(data, &v, decode)
	return v, err
}

// UnmarshalUnknown keeps an unknown variant and its tag.
func UnmarshalUnknown(data []byte, tag string, value *string, raw *json.RawMessage) error {
	if err := Check(data); err != nil {
		return fmt.Errorf("acp: reading a variant: %w", err)
	}
	if value != nil {
		d := NewDecoder(data)
		name, _ := d.Tag(tag)
		*value = string(name)
	}
	*raw = bytes.Clone(data)
	return nil
}
