package validate

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"

	"github.com/acpkit/go-sdk/internal/wire"
)

// Input checks v, a pointer to a struct that a user of the module has defined, by the rules in its
// struct tags with the key validate. It is safe for concurrent use. It panics if the validator
// cannot handle a tag.
func Input(v any) *wire.FieldErrors {
	err := inputs().Struct(v)
	if err == nil {
		return nil
	}
	var broken validator.ValidationErrors
	if !errors.As(err, &broken) {
		panic(fmt.Sprintf("validate: %T: %v", v, err)) // unreachable: v is a struct
	}
	fields := &wire.FieldErrors{}
	for _, e := range broken[:min(len(broken), maxViolations)] {
		fields.Add(pathOf(e.Namespace()), messageOf(e))
	}
	return fields
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
