// Package typed makes the JSON schema of a Go type, as encoding/json decodes it, and reads inputs of
// models as that schema means them.
package typed

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/validate"
)

// A Schema is the part of JSON Schema that models understand.
type Schema struct {
	Type        string             `json:"type,omitempty"`
	Description string             `json:"description,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	Values      *Schema            `json:"additionalProperties,omitempty"`
	Enum        []any              `json:"enum,omitempty"`
	Minimum     *float64           `json:"minimum,omitempty"`
	Maximum     *float64           `json:"maximum,omitempty"`
	MinLength   *float64           `json:"minLength,omitempty"`
	MaxLength   *float64           `json:"maxLength,omitempty"`
	MinItems    *float64           `json:"minItems,omitempty"`
	MaxItems    *float64           `json:"maxItems,omitempty"`
	Format      string             `json:"format,omitempty"`
	Encoding    string             `json:"contentEncoding,omitempty"`

	names  []string     // of Properties, in the order of the fields
	goType reflect.Type // without pointers
}

// schemas has the schemas of types that were built, because DecodeInput needs one for each call.
var schemas sync.Map // reflect.Type to *Schema

// Of returns the schema of a struct. It panics if a rule in a tag does not exist.
func Of(t reflect.Type) (*Schema, error) {
	if s, ok := schemas.Load(t); ok {
		return s.(*Schema), nil
	}
	if t.Kind() != reflect.Struct || special(t) != nil {
		return nil, fmt.Errorf("%v is not a struct", t)
	}
	s, err := typeSchema(t, nil)
	if err == nil {
		schemas.Store(t, s)
	}
	return s, err
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// special returns the schema of a type that does not decode like its kind, and nil for others.
func special(t reflect.Type) *Schema {
	pointer := reflect.PointerTo(t)
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &Schema{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[json.Number]():
		return &Schema{Type: "number"}
	case pointer.Implements(unmarshaler), t.Kind() == reflect.Interface && t.NumMethod() == 0:
		return &Schema{} // any JSON
	case pointer.Implements(textUnmarshaler):
		return &Schema{Type: "string"}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && special(t.Elem()) == nil:
		return &Schema{Type: "string", Encoding: "base64"}
	}
	return nil
}

// typeSchema returns the schema of a type, as encoding/json decodes it. inside lists the structs that
// contain it.
func typeSchema(t reflect.Type, inside []reflect.Type) (s *Schema, err error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s = special(t); s == nil {
		s, err = kindSchema(t, inside)
	}
	if err == nil {
		s.goType = t
	}
	return s, err
}

func kindSchema(t reflect.Type, inside []reflect.Type) (s *Schema, err error) {
	switch k := t.Kind(); {
	case k == reflect.String:
		return &Schema{Type: "string"}, nil
	case k == reflect.Bool:
		return &Schema{Type: "boolean"}, nil
	case k == reflect.Float32, k == reflect.Float64:
		return &Schema{Type: "number"}, nil
	case k >= reflect.Int && k <= reflect.Int64:
		return &Schema{Type: "integer"}, nil
	case k >= reflect.Uint && k <= reflect.Uint64:
		return &Schema{Type: "integer", Minimum: new(float64)}, nil
	case k == reflect.Slice, k == reflect.Array:
		s = &Schema{Type: "array"}
		if k == reflect.Array {
			s.MinItems, s.MaxItems = new(float64(t.Len())), new(float64(t.Len()))
		}
		s.Items, err = typeSchema(t.Elem(), inside)
		return s, err
	case k == reflect.Map && t.Key().Kind() != reflect.String:
		return nil, fmt.Errorf("the keys of %v are no strings", t)
	case k == reflect.Map:
		s = &Schema{Type: "object"}
		s.Values, err = typeSchema(t.Elem(), inside)
		return s, err
	case k == reflect.Struct && slices.Contains(inside, t):
		return nil, fmt.Errorf("%v contains itself", t)
	case k == reflect.Struct:
		s = &Schema{Type: "object", Properties: make(map[string]*Schema)}
		if err := s.fields(t, append(inside, t)); err != nil {
			return nil, err
		}
		validate.Input(reflect.New(t).Interface()) // panics if a rule does not exist
		return s, nil
	}
	return nil, fmt.Errorf("%v has no JSON schema", t)
}

// fields adds the fields of a struct.
func (s *Schema) fields(t reflect.Type, inside []reflect.Type) error {
	depths := make(map[string]int)
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && indirect(f.Type).Kind() == reflect.Struct {
			if f.Type.Kind() == reflect.Pointer && !f.IsExported() {
				return fmt.Errorf("field %s: a pointer to a type that is not exported cannot be decoded", f.Name)
			}
			continue // its fields follow
		}
		if !f.IsExported() || f.Tag.Get("json") == "-" || len(f.Index) > 1 && hidden(t, f.Index) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		switch depth, known := depths[name]; {
		case known && depth == len(f.Index):
			return fmt.Errorf("field %s: two fields have the name %q", f.Name, name)
		case known && depth < len(f.Index):
			continue
		case !known:
			s.names = append(s.names, name)
		}
		depths[name] = len(f.Index)
		p, err := typeSchema(f.Type, inside)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if slices.Contains(strings.Split(options, ","), "string") {
			if p.Type == "string" {
				return fmt.Errorf("field %s: the option string is for numbers and booleans", f.Name)
			} else if p.Type == "integer" || p.Type == "number" || p.Type == "boolean" {
				p = &Schema{Type: "string"} // with the number or boolean in it
			}
		}
		p.Description = f.Tag.Get("description")
		required, err := p.rules(f.Tag.Get("validate"))
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		s.Required = slices.DeleteFunc(s.Required, func(other string) bool { return other == name })
		if required {
			s.Required = append(s.Required, name)
		}
		s.Properties[name] = p
	}
	return nil
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// hidden reports whether a field belongs to an embedded struct that has a name in JSON.
func hidden(t reflect.Type, index []int) bool {
	for i := 1; i < len(index); i++ {
		name, _, _ := strings.Cut(t.FieldByIndex(index[:i]).Tag.Get("json"), ",")
		if name != "" {
			return true
		}
	}
	return false
}

// choice matches one value of the rule oneof.
var choice = regexp.MustCompile(`'[^']*'|\S+`)

// rules adds the rules of a tag that a schema can express.
func (s *Schema) rules(tag string) (required bool, err error) {
	for rule := range strings.SplitSeq(tag, ",") {
		name, param, _ := strings.Cut(rule, "=")
		switch name {
		case "dive":
			return required, nil // the rules after dive are about the items
		case "required":
			required = true
		case "oneof":
			for _, value := range choice.FindAllString(param, -1) {
				if s.Type == "integer" || s.Type == "number" {
					s.Enum = append(s.Enum, json.Number(value))
				} else {
					s.Enum = append(s.Enum, strings.Trim(value, "'"))
				}
			}
		case "min", "max", "gte", "lte", "len":
			n, err := strconv.ParseFloat(param, 64)
			if err != nil {
				return false, fmt.Errorf("the rule %s has no number", rule)
			}
			s.bound(name, &n)
		}
	}
	return required, nil
}

func (s *Schema) bound(name string, n *float64) {
	least, most := &s.Minimum, &s.Maximum
	switch s.Type {
	case "string":
		least, most = &s.MinLength, &s.MaxLength
	case "array":
		least, most = &s.MinItems, &s.MaxItems
	case "object":
		return
	}
	if name != "max" && name != "lte" {
		*least = n
	}
	if name != "min" && name != "gte" {
		*most = n
	}
}
