package validate

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"

	"github.com/acpkit/go-sdk/internal/wire"
)

// Input checks v, a pointer to a struct that a user of the module has defined, by the rules in its
// struct tags with the key validate. The caller has checked which members are present: the rule
// required accepts a zero value, such as 0 or "", and refuses only nil. Input is safe for concurrent
// use. It panics if the validator cannot handle a tag.
func Input(v any) *wire.FieldErrors {
	err := inputs().Struct(v)
	if err == nil {
		return nil
	}
	var broken validator.ValidationErrors
	if !errors.As(err, &broken) {
		panic(fmt.Sprintf("validate: %T: %v", v, err)) // unreachable: v is a struct
	}
	fields, found := &wire.FieldErrors{}, false
	for _, e := range broken[:min(len(broken), maxViolations)] {
		if rule, ok := violation(reflect.TypeOf(v), e); ok {
			fields.Add(pathOf(e.Namespace()), messageOf(rule))
			found = true
		}
	}
	if !found {
		return nil
	}
	return fields
}

// violation returns the rule that the value of e breaks, if the rule required accepts zero values. The validator
// does not let that rule be replaced, and stops at it: the rules after it are checked here.
func violation(of reflect.Type, e validator.FieldError) (validator.FieldError, bool) {
	if e.Tag() != "required" || nilable(e.Kind()) {
		return e, true
	}
	var rest validator.ValidationErrors
	if !errors.As(inputs().Var(e.Value(), rulesAfter(of, e.StructNamespace())), &rest) {
		return nil, false
	}
	return rest[0], true
}

// nilable reports whether the zero value of a kind means that there is none.
func nilable(k reflect.Kind) bool {
	switch k {
	case reflect.Invalid, reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return true
	}
	return false
}

// rulesAfter returns the rules after required for a field, or for an element of it. The namespace of the
// validator, such as "input.Edits[0].Path", leads from the struct that t points to.
func rulesAfter(t reflect.Type, namespace string) string {
	t = t.Elem()
	if t.Name() != "" { // the namespace begins with it
		_, namespace, _ = strings.Cut(namespace, ".")
	}
	var rules string
	for step := range strings.SplitSeq(namespace, ".") {
		for t.Kind() != reflect.Struct {
			t = t.Elem() // of a pointer, or of a list or map whose element the step before names
		}
		name, keys, _ := strings.Cut(step, "[")
		f, ok := t.FieldByName(name)
		if !ok { // the key of a map contains a dot
			return ""
		}
		t, rules = f.Type, f.Tag.Get("validate")
		for range strings.Count(keys, "]") { // each index or key is one dive deeper
			_, rules, _ = strings.Cut(rules, "dive,")
		}
	}
	rules = strings.TrimPrefix(strings.TrimPrefix(rules, "required"), ",")
	rules, _, _ = strings.Cut(rules, "dive")     // the rules of elements
	return cmp.Or(strings.Trim(rules, ","), "-") // the validator takes "-" for no rules
}

// inputs is created on first use. All callers share it because it caches types.
var inputs = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(field reflect.StructField) string {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-", name == "" && field.Anonymous: // the fields of an embedded struct are those of the outer one
			return mark
		case name == "":
			return mark + field.Name
		}
		return mark + name
	})
	return v
})

// mark precedes every name in the namespaces that the validator builds, so that they can be split
// again. Keys of maps may contain dots and brackets, but no name contains a NUL.
const mark = "\x00"

// pathOf splits a namespace, such as "input.\0edits[0].\0path", into its steps, without the name of
// the root, which a type without a name does not have.
func pathOf(namespace string) []string {
	var path []string
	_, namespace, _ = strings.Cut(namespace, mark)
	for step := range strings.SplitSeq(namespace, "."+mark) {
		name, key, inside := strings.Cut(step, "[")
		if name != "" {
			path = append(path, name)
		}
		if inside {
			path = append(path, strings.Split(strings.TrimSuffix(key, "]"), "][")...)
		}
	}
	return path
}
