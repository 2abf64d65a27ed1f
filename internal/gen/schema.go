package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// schema is one node of a JSON schema, as far as the protocol's facts use it.
type schema struct {
	Title    string          `json:"title"`
	Ref      string          `json:"$ref"`
	Type     types           `json:"type"`
	Format   string          `json:"format"`
	Const    json.RawMessage `json:"const"`
	Default  json.RawMessage `json:"default"`
	Minimum  json.Number     `json:"minimum"`
	Maximum  json.Number     `json:"maximum"`
	MinLen   int             `json:"minLength"`
	MinItems int             `json:"minItems"`
	Required []string        `json:"required"`
	Props    members         `json:"properties"`
	More     json.RawMessage `json:"additionalProperties"`
	Items    *schema         `json:"items"`
	AllOf    []*schema       `json:"allOf"`
	AnyOf    []*schema       `json:"anyOf"`
	OneOf    []*schema       `json:"oneOf"`

	Lenient     bool   `json:"x-deserialize-default-on-error"`
	SkipItems   bool   `json:"x-deserialize-skip-invalid-items"`
	NullDefault bool   `json:"x-deserialize-default-on-null"`
	Method      string `json:"x-method"`
	Side        string `json:"x-side"`
	Envelope    bool   `json:"x-docs-ignore"`
}

// types is the keyword "type": one name or several.
type types []string

func (t *types) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

func (t types) has(name string) bool { return slices.Contains(t, name) }

// member is a named schema.
type member struct {
	Name   string
	Schema *schema
}

// members keeps the order of the file, which becomes the order of Go fields and
// of members on the wire.
type members []member

func (m *members) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var s *schema
		if err := dec.Decode(&s); err != nil {
			return fmt.Errorf("reading %v: %w", name, err)
		}
		*m = append(*m, member{name.(string), s})
	}
	return nil
}

func (m members) find(name string) *schema {
	for _, x := range m {
		if x.Name == name {
			return x.Schema
		}
	}
	return nil
}

// facts is one schema file.
type facts struct {
	Defs members `json:"$defs"`
	Hash string  `json:"-"` // the first 8 bytes of the SHA-256 of the file, in hexadecimal
}

func readFacts(path string) (*facts, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	f := &facts{Hash: fmt.Sprintf("%x", sum[:8])}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return f, nil
}

// envelope reports whether a definition describes JSON-RPC messages and not their
// payloads. The three Ext definitions are any JSON at all.
func envelope(d member) bool {
	return d.Schema.Envelope || strings.HasPrefix(d.Name, "Ext") && len(d.Schema.Type) == 0
}

// refName returns the definition that a node refers to, directly or by an allOf of
// one, or "".
func (s *schema) refName() string {
	if s.Ref != "" {
		return strings.TrimPrefix(s.Ref, "#/$defs/")
	}
	if len(s.AllOf) == 1 {
		return s.AllOf[0].refName()
	}
	return ""
}

// refers lists the definitions that a node and what it consists of refer to.
func (s *schema) refers() (list []string) {
	if ref := s.refName(); ref != "" {
		return []string{ref}
	}
	parts := slices.Concat(s.AllOf, s.AnyOf, s.OneOf)
	for _, p := range s.Props {
		parts = append(parts, p.Schema)
	}
	if s.Items != nil {
		parts = append(parts, s.Items)
	}
	for _, part := range parts {
		list = append(list, part.refers()...)
	}
	return list
}

// nullable splits "X or null" into X and true.
func (s *schema) nullable() (*schema, bool) {
	if len(s.AnyOf) == 2 && s.AnyOf[1].Type.has("null") {
		return s.AnyOf[0], true
	}
	return s, s.Type.has("null")
}

// constant returns the string that the node's only value is.
func (s *schema) constant() (value string, ok bool) {
	return value, s.Const != nil && json.Unmarshal(s.Const, &value) == nil
}

// choices returns the alternatives of a oneOf or an anyOf.
func (s *schema) choices() []*schema {
	if s.OneOf != nil {
		return s.OneOf
	}
	return s.AnyOf
}
