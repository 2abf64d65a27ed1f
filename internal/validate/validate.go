package validate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"

	"github.com/acpkit/go-sdk/internal/wire"
)

// Struct checks v, a pointer to a struct, and returns its violations, or nil. Strict adds the rules
// of the protocol's prose to those of the schema. It is safe for concurrent use. It panics if the
// validator cannot handle the tags of a type; tests of the vocabulary prevent that.
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
	err := instance().StructCtx(context.WithValue(context.Background(), checkKey{}, &check{strict: strict}), v)
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

// check is one run of the validator.
type check struct {
	strict bool
	broken int // number of broken strict rules
}

// checkKey carries the check to the strict rules.
type checkKey struct{}

// instance is created on first use, so programs without invalid values pay nothing. All callers
// share it because it caches types.
var instance = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.SetTagName("acp")
	v.RegisterTagNameFunc(stepOf)
	for tag, holds := range map[string]func(string) bool{
		"id":      wire.IsFilled,
		"filled":  wire.IsFilled,
		"abspath": wire.IsAbsPath,
		"uri":     wire.IsURI,
	} {
		if err := v.RegisterValidationCtx(tag, strictly(holds)); err != nil {
			panic(err) // unreachable: neither name nor function is empty
		}
	}
	return v
})

// strictly applies a rule for text in strict checks only. Once enough violations are listed, every
// value passes: the validator cannot be stopped, but values that pass are cheap.
func strictly(holds func(string) bool) validator.FuncCtx {
	return func(ctx context.Context, field validator.FieldLevel) bool {
		c, _ := ctx.Value(checkKey{}).(*check)
		if c == nil || !c.strict || c.broken >= maxViolations || holds(field.Field().String()) {
			return true
		}
		c.broken++
		return false
	}
}

// mark precedes every name in the namespaces that the validator builds, so that they can be split
// again. Keys of maps may contain dots and brackets, but no name and no key of ours contains a NUL.
const mark = "\x00"

// stepOf returns the JSON name of a field, which the validator uses in place of the Go name.
func stepOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch name {
	case "":
		return mark + field.Name
	case "-":
		return mark
	}
	return mark + name
}

// pathOf splits a namespace, such as "PromptRequest.\0prompt[0].\0uri", into its steps, without the
// name of the root.
func pathOf(namespace string) []string {
	var path []string
	for i, step := range strings.Split(namespace, "."+mark) {
		if i == 0 {
			continue
		}
		name, key, inside := strings.Cut(step, "[")
		if name != "" {
			path = append(path, name)
		}
		if inside {
			path = append(path, strings.TrimSuffix(key, "]"))
		}
	}
	return path
}
