package typed

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reading converts an input to what the schema means.
type reading struct{ wrong []string }

const maxWrong = 20 // sentences about one input; the model needs no more to call again

func (r *reading) add(path, message string) {
	subject := strconv.Quote(path)
	if path == "" {
		subject = "it"
	}
	if len(r.wrong) < maxWrong {
		r.wrong = append(r.wrong, subject+" "+message)
	}
}

// Fit returns the input as the schema means it, for encoding/json, or what is wrong with it.
func (s *Schema) Fit(input []byte) (fitted []byte, wrong []string) {
	r := reading{}
	fitted, _ = json.Marshal(r.value(s, decoded(input), "")) // what was decoded can be encoded
	return fitted, r.wrong
}

// cut cuts a text between runes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// decoded decodes JSON without changing numbers. It returns nil for what is not JSON.
func decoded(data []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	if _, err := d.Token(); err != io.EOF {
		return nil
	}
	return v
}

// value returns v as the schema means it.
func (r *reading) value(s *Schema, v any, path string) any {
	if text, ok := v.(string); ok && (s.Type == "array" || s.Type == "object") {
		switch inner := decoded([]byte(text)).(type) { // models write JSON in JSON
		case []any, map[string]any:
			v = inner
		}
	}
	switch s.Type {
	case "array":
		list, ok := v.([]any)
		if object, single := v.(map[string]any); single && s.Items.Type == "object" {
			list, ok = []any{object}, true
		}
		if !ok {
			break
		}
		if n := s.goType.Kind(); n == reflect.Array && len(list) != s.goType.Len() {
			r.add(path, fmt.Sprintf("must have exactly %d items", s.goType.Len()))
		}
		for i, item := range list {
			list[i] = r.value(s.Items, item, fmt.Sprintf("%s.%d", path, i))
		}
		return list
	case "object":
		if object, ok := v.(map[string]any); ok {
			return r.object(s, object, path)
		}
	case "integer", "number":
		if n, ok := number(s, v); ok {
			return n
		}
	case "boolean":
		switch t, _ := v.(string); {
		case strings.EqualFold(t, "true"):
			return true
		case strings.EqualFold(t, "false"):
			return false
		}
		if b, ok := v.(bool); ok {
			return b
		}
	case "string":
		if text, ok := str(s, v); ok {
			return text
		}
	default:
		u, ok := reflect.New(s.goType).Interface().(json.Unmarshaler)
		if data, _ := json.Marshal(v); ok && u.UnmarshalJSON(data) != nil {
			r.add(path, "has a value that is not valid here")
		}
		return v
	}
	r.add(path, "must be "+s.want()+", and it is "+describe(v))
	return nil
}

// object reads the members that the schema has. If one that is required is missing, the error also
// names the members that are not known, because the model may have meant one of them.
func (r *reading) object(s *Schema, object map[string]any, path string) any {
	if path != "" {
		path += "."
	}
	if s.Values != nil {
		for name, v := range object {
			object[name] = r.value(s.Values, v, path+name)
		}
		return object
	}
	fitted := make(map[string]any, len(object))
	missing := false
	for _, name := range s.names {
		v, given := object[name]
		required := slices.Contains(s.Required, name)
		anything := s.Properties[name].Type == "" && given // null may be a value
		switch {
		case v != nil || anything:
			fitted[name] = r.value(s.Properties[name], v, path+name)
		case required && given:
			r.add(path+name, "must be "+s.Properties[name].want()+", and it is null")
		case required:
			missing = true
			r.add(path+name, "is missing")
		}
	}
	if missing {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if s.Properties[name] == nil {
				r.add(cut(path+name, 100), "is not known, the members are "+strings.Join(s.names, ", "))
			}
		}
	}
	return fitted
}

// number returns a number in the range of the type.
func number(s *Schema, v any) (json.Number, bool) {
	n, ok := v.(json.Number)
	if text, isText := v.(string); isText {
		n, ok = decoded([]byte(strings.TrimSpace(text))).(json.Number)
	}
	kind := s.goType.Kind()
	if !ok || kind == reflect.String { // of json.Number
		return n, ok
	}
	f, err := n.Float64()
	if s.Type == "number" {
		return n, err == nil && (kind != reflect.Float32 || !reflect.Zero(s.goType).OverflowFloat(f))
	}
	if err != nil || math.Abs(f) > 1e20 { // an exponent could make the exact number very long
		return n, false
	}
	exact, ok := new(big.Rat).SetString(n.String())
	if !ok || !exact.IsInt() {
		return n, false
	}
	whole := exact.Num()
	if kind >= reflect.Uint && kind <= reflect.Uint64 {
		ok = whole.IsUint64() && !reflect.Zero(s.goType).OverflowUint(whole.Uint64())
	} else {
		ok = whole.IsInt64() && !reflect.Zero(s.goType).OverflowInt(whole.Int64())
	}
	return json.Number(whole.String()), ok
}

// str returns a text in the form that the type needs.
func str(s *Schema, v any) (string, bool) {
	text, ok := v.(string)
	switch v := v.(type) {
	case json.Number:
		text, ok = v.String(), true
	case bool:
		text, ok = fmt.Sprint(v), true
	}
	var err error
	switch {
	case !ok || s.goType == nil: // the option string, whose value the decoder reads
	case s.Format == "date-time":
		_, err = time.Parse(time.RFC3339, text)
	case s.Encoding == "base64":
		_, err = base64.StdEncoding.DecodeString(text)
	default:
		if u, special := reflect.New(s.goType).Interface().(encoding.TextUnmarshaler); special {
			err = u.UnmarshalText([]byte(text))
		}
	}
	return text, ok && err == nil
}

// want describes the values of a schema.
func (s *Schema) want() string {
	switch {
	case s.Format == "date-time":
		return "a string with a time as in RFC 3339"
	case s.Encoding == "base64":
		return "a string in base64"
	case s.Type == "string" && s.goType != nil && reflect.PointerTo(s.goType).Implements(textUnmarshaler):
		return "a string that is valid here"
	case s.Type == "integer" && s.goType.Kind() == reflect.Uint64, s.Type == "integer" && s.goType.Kind() == reflect.Uint:
		return "an integer from 0"
	case s.Type == "integer" && s.goType.Bits() < 64:
		least, most := 0, 1<<s.goType.Bits()-1
		if s.goType.Kind() <= reflect.Int64 {
			least, most = -(most+1)/2, most/2
		}
		return fmt.Sprintf("an integer from %d to %d", least, most)
	case s.Type == "":
		return "present"
	case strings.ContainsRune("aio", rune(s.Type[0])):
		return "an " + s.Type
	}
	return "a " + s.Type
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the string %q", cut(v, 100))
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return cut(fmt.Sprint(v), 100)
}
