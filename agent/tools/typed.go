package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/validate"
)

// Typed returns a tool whose input is the struct In. It panics for a mistake in the program: run is
// nil, In is not a struct, a field cannot be decoded from JSON, or a rule does not exist. The caller
// sets Kind and Effect of the tool, and Describe if the person should read more than the title.
//
// The tag json names a field, the tag description describes it for the model, and the tag validate
// has the rules of github.com/go-playground/validator. The rules required, min, max, gte, lte, len
// and oneof are also part of the schema. As in that library, a required field must not have the
// zero value; use a pointer if zero is a valid value.
//
//	type in struct {
//		Path string `json:"path" description:"absolute path" validate:"required"`
//		Line int    `json:"line,omitempty" description:"first line, from 1" validate:"min=0"`
//	}
//
// Members that In does not have are ignored, because models sometimes add members.
//
// If an input breaks a rule, the function run is not called, the person is not asked, and the model
// reads which rule it is. A Describe of the caller does the same by returning the error of
// [DecodeInput] as Summary.Err.
func Typed[In any](name, description string, run func(ctx context.Context, c *Call, in In) (Result, error)) Tool {
	schema, err := schemaOf(reflect.TypeFor[In]())
	if err != nil {
		panic(fmt.Sprintf("tools: the input of %s: %v", name, err))
	}
	if run == nil {
		panic(fmt.Sprintf("tools: %s has no function: pass the one that runs a call", name))
	}
	return Tool{
		Name: name, Description: description, Kind: acp.ToolKindOther, Schema: schema,
		Describe: func(_ context.Context, input json.RawMessage) Summary {
			_, err := DecodeInput[In](input)
			return Summary{Err: err} // nobody is asked about a call that cannot run
		},
		Run: func(ctx context.Context, c *Call) (Result, error) {
			in, err := DecodeInput[In](c.input)
			if err != nil {
				return Result{}, err
			}
			return run(ctx, c, in)
		},
	}
}

// DecodeInput decodes an input in the same way as Typed, for use in Describe. Its error is a
// [Failure] that tells the model what is wrong.
func DecodeInput[In any](input json.RawMessage) (in In, err error) {
	if err := json.Unmarshal(input, &in); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return in, Failf("The input does not fit the schema: %s must not be a JSON %s. Call the tool again.", wrong.Field, wrong.Value)
		}
		return in, Failf("The input does not fit the schema. Call the tool again.")
	}
	if broken := validate.Input(&in); broken != nil {
		var all []string
		broken.Walk(func(path []string, message string) { all = append(all, strings.Join(path, ".")+" "+message) })
		return in, Failf("The input does not fit the schema: %s. Call the tool again.", strings.Join(all, "; "))
	}
	return in, nil
}

// schema is the part of JSON Schema that models understand.
type schema struct {
	Type        string             `json:"type,omitempty"`
	Description string             `json:"description,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Values      *schema            `json:"additionalProperties,omitempty"`
	Enum        []any              `json:"enum,omitempty"`
	Minimum     *float64           `json:"minimum,omitempty"`
	Maximum     *float64           `json:"maximum,omitempty"`
	MinLength   *float64           `json:"minLength,omitempty"`
	MaxLength   *float64           `json:"maxLength,omitempty"`
	MinItems    *float64           `json:"minItems,omitempty"`
	MaxItems    *float64           `json:"maxItems,omitempty"`
}

func schemaOf(t reflect.Type) (json.RawMessage, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is not a struct", t)
	}
	s, err := typeSchema(t, nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// typeSchema returns the schema of a type. inside lists the structs that contain it.
func typeSchema(t reflect.Type, inside []reflect.Type) (s *schema, err error) {
	if t == rawMessage || t.Kind() == reflect.Interface && t.NumMethod() == 0 {
		return &schema{}, nil // any JSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem(), inside)
	case reflect.String:
		return &schema{Type: "string"}, nil
	case reflect.Bool:
		return &schema{Type: "boolean"}, nil
	case reflect.Float32, reflect.Float64:
		return &schema{Type: "number"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &schema{Type: "integer"}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &schema{Type: "integer", Minimum: new(float64)}, nil
	case reflect.Slice, reflect.Array:
		s = &schema{Type: "array"}
		s.Items, err = typeSchema(t.Elem(), inside)
		return s, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("the keys of %v are no strings", t)
		}
		s = &schema{Type: "object"}
		s.Values, err = typeSchema(t.Elem(), inside)
		return s, err
	case reflect.Struct:
		if slices.Contains(inside, t) {
			return nil, fmt.Errorf("%v contains itself", t)
		}
		s = &schema{Type: "object", Properties: make(map[string]*schema)}
		if err := s.fields(t, append(inside, t)); err != nil {
			return nil, err
		}
		validate.Input(reflect.New(t).Interface()) // panics if a rule does not exist
		return s, nil
	}
	return nil, fmt.Errorf("%v has no JSON schema", t)
}

// fields adds the fields of a struct.
func (s *schema) fields(t reflect.Type, inside []reflect.Type) error {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" || len(f.Index) > 1 && hidden(t, f.Index) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		p, err := typeSchema(f.Type, inside)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		p.Description = f.Tag.Get("description")
		required, err := p.rules(f.Tag.Get("validate"))
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if required {
			s.Required = append(s.Required, name)
		}
		s.Properties[name] = p
	}
	return nil
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
func (s *schema) rules(tag string) (required bool, err error) {
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

func (s *schema) bound(name string, n *float64) {
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
