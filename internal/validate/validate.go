// Package validate explains why a value breaks the rules of the protocol, as the
// tree of field errors that is the data of -32602.
//
// It is the slow half of checking. Generated code decides without reflection whether a
// value is valid. Only if it is not does [Struct] run, which finds the violations with
// go-playground/validator. A test of package acp verifies with random values that both
// agree, except for a nil pointer in a union: Struct and the encoder refuse it.
//
// The rules are in struct tags with the key acp, so that other validators, which read the
// key validate, do not find them. Rules of the schema always apply:
//
//	required    an interface that holds a union, or a pointer, is not nil
//	min=N       a text has at least N characters, a list at least N items
//	max=N       the same for at most
//
// Rules of the protocol's prose apply only if the check is strict:
//
//	id          an id is not empty
//	filled      any other text is not empty: a command, a value of an enumeration
//	abspath     a text is an absolute path: POSIX, drive or UNC
//	uri         a text is a URI with a scheme
//
// As in validator, omitempty before a rule excuses the zero value, the rules after dive
// apply to the elements of a list or map, and - skips a field. Structs, pointers and unions
// are checked without a rule.
//
// Paths in the tree consist of the names of the json tags. A field with the json name "-"
// adds no step to the path: its members are in the JSON object that contains it.
package validate

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"

	"github.com/acpkit/go-sdk/internal/wire"
)

// Struct checks v, a pointer to a struct, and returns its violations, at most 100, or nil. Strict
// adds the rules of the protocol's prose to those of the schema. It is safe for concurrent use. It
// panics if the validator does not know a rule; tests of the vocabulary prevent that.
func Struct(v any, strict bool) *wire.FieldErrors {
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return wire.Violation("must be present")
		}
		value = value.Elem()
	}
	if value.Kind() != reflect.Struct {
		return nil // a union or a text; its codec has reported everything
	}
	w := walk{strict: strict}
	w.structure(value)
	return w.found
}

// IsValidation reports whether err itself is an error of a validator. Handlers may use validators
// of their own, so such an error does not mean that the params of the peer are wrong.
func IsValidation(err error) bool {
	switch err.(type) {
	case validator.ValidationErrors, validator.FieldError, *validator.InvalidValidationError:
		return true
	}
	return false
}

// maxViolations is how many violations of one value are listed. A peer may send a list of a million
// relative paths.
const maxViolations = 100

// prose are the rules of the protocol's prose.
var prose = map[string]func(string) bool{
	"id": isFilled, "filled": isFilled, "abspath": wire.IsAbsPath, "uri": wire.IsURI,
}

func isFilled(s string) bool { return s != "" }

// instance is created on first use, so programs without invalid values pay nothing.
var instance = sync.OnceValue(func() *validator.Validate {
	v := validator.New()
	for tag, holds := range prose {
		err := v.RegisterValidation(tag, func(f validator.FieldLevel) bool { return holds(f.Field().String()) })
		if err != nil {
			panic(err) // unreachable: neither name nor function is empty
		}
	}
	return v
})

// walk is one check. It visits the fields itself, because the validator cannot be stopped.
type walk struct {
	strict bool
	path   []step
	found  *wire.FieldErrors
	count  int // of violations
}

// step is the name of a member, or the index of an element.
type step struct {
	name  string
	index int
}

func (w *walk) add(message string) {
	var path []string
	for _, s := range w.path {
		if s.index >= 0 {
			s.name = strconv.Itoa(s.index)
		}
		if s.name != "" {
			path = append(path, s.name)
		}
	}
	if w.found == nil {
		w.found = &wire.FieldErrors{}
	}
	w.found.Add(path, message)
	w.count++
}

// structure checks the fields of a struct.
func (w *walk) structure(v reflect.Value) {
	fields := fieldsOf(v.Type())
	for i := range fields {
		w.value(step{fields[i].name, -1}, v.Field(fields[i].index), &fields[i].rules)
	}
}

// value checks a value and everything in it.
func (w *walk) value(at step, v reflect.Value, r *rules) {
	if w.count >= maxViolations {
		return
	}
	w.path = append(w.path, at)
	w.check(v, r)
	w.path = w.path[:len(w.path)-1]
}

func (w *walk) check(v reflect.Value, r *rules) {
	if r.opt {
		v = present(v)
	}
	if r.own != "" && v.IsValid() && (w.strict || !r.strict) {
		var broken validator.ValidationErrors
		if err := instance().Var(v.Interface(), r.own); errors.As(err, &broken) {
			w.add(messageOf(broken[0]))
		}
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			if r.required {
				w.add("must be present")
			}
			return
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Struct:
		w.structure(v)
	case r.items == nil:
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			w.value(step{"", i}, v.Index(i), r.items)
		}
	case v.Kind() == reflect.Map:
		for key, element := range v.Seq2() {
			w.value(step{key.String(), -1}, element, r.items)
		}
	}
}

// field is an exported field of a struct.
type field struct {
	index int
	name  string // in JSON; empty if the members are in the object of the struct
	rules
}

// rules are what a tag says.
type rules struct {
	required bool
	opt      bool   // the value is optional
	own      string // the rules for the value itself that the validator checks
	strict   bool   // own is a rule of the prose
	items    *rules // for the elements; nil if they have none
}

// isOptional reports whether values of type t have a method Get() (T, bool), as optional values do.
func isOptional(t reflect.Type) bool {
	m, ok := t.MethodByName("Get")
	if !ok || t.Kind() != reflect.Struct {
		return false
	}
	get := m.Type // of the receiver too
	return get.NumIn() == 1 && get.NumOut() == 2 && get.Out(1) == reflect.TypeFor[bool]()
}

// present returns what is in an optional value, or the zero Value if there is nothing in it.
func present(opt reflect.Value) reflect.Value {
	if opt.IsZero() { // absent, as most are: Call allocates
		return reflect.Value{}
	}
	got := opt.MethodByName("Get").Call(nil)
	if !got[1].Bool() {
		return reflect.Value{}
	}
	return reflect.ValueOf(got[0].Interface())
}

var types sync.Map // from reflect.Type to []field

func fieldsOf(t reflect.Type) []field {
	if list, ok := types.Load(t); ok {
		return list.([]field)
	}
	var list []field
	for f := range t.Fields() {
		tag := f.Tag.Get("acp")
		if tag == "-" || !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch name {
		case "":
			name = f.Name
		case "-":
			name = ""
		}
		r := parse(tag)
		r.opt = isOptional(f.Type)
		list = append(list, field{f.Index[0], name, r})
	}
	types.Store(t, list)
	return list
}

func parse(tag string) (r rules) {
	own, items, dive := strings.Cut(tag, "dive")
	if dive {
		below := parse(strings.TrimPrefix(items, ","))
		r.items = &below
	}
	words := strings.FieldsFunc(own, func(c rune) bool { return c == ',' })
	if n := len(words); n > 0 {
		words = slices.DeleteFunc(words, func(word string) bool { return word == "required" })
		r.required = len(words) < n
	}
	if len(words) > 0 && words[len(words)-1] != "omitempty" {
		r.own = strings.Join(words, ",")
		_, r.strict = prose[words[len(words)-1]]
	}
	return r
}

// messageOf returns a sentence that says which rule is broken. It never repeats the value, which
// may be secret.
func messageOf(e validator.FieldError) string {
	switch e.Tag() {
	case "required":
		return "must be present"
	case "id", "filled":
		return "must not be empty"
	case "abspath":
		return "must be an absolute path"
	case "uri":
		return wire.WrongURI(reflect.Indirect(reflect.ValueOf(e.Value())).String())
	case "min":
		if e.Param() == "1" && unit(e.Kind()) != "" {
			return "must not be empty"
		}
		return limit(e, "at least ")
	case "gte":
		return limit(e, "at least ")
	case "max", "lte":
		return limit(e, "at most ")
	case "len":
		return limit(e, "exactly ")
	case "oneof":
		return "must be one of " + e.Param()
	}
	return fmt.Sprintf("must keep the rule %s", e.Tag())
}

// limit describes the bound of a size or of a number.
func limit(e validator.FieldError, bound string) string {
	if u := unit(e.Kind()); u != "" {
		return "must have " + bound + e.Param() + u
	}
	return "must be " + bound + e.Param()
}

func unit(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return " characters"
	case reflect.Slice, reflect.Array, reflect.Map:
		return " items"
	}
	return ""
}
