package validate

import (
	"reflect"

	"github.com/go-playground/validator/v10"
)

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
		return "must be a URI with a scheme"
	case "min":
		if e.Param() == "1" && unit(e.Kind()) != "" {
			return "must not be empty"
		}
		return limit(e, "at least ")
	case "max":
		return limit(e, "at most ")
	}
	return "must keep the rule " + e.Tag()
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
