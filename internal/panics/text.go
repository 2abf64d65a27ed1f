// Package panics describes the panics of code of the user.
package panics

import (
	"fmt"
	"reflect"
)

// Text returns the text of a panic as the Go runtime prints it when it ends a program: errors, texts and
// numbers as they are, and the type of every other value. Code that panics with a request
// must not have its content in the log.
func Text(v any) string {
	if err, ok := v.(error); ok {
		return fmt.Sprint(err) // which survives an Error method that panics
	}
	switch kind := reflect.ValueOf(v).Kind(); {
	case kind == reflect.String, reflect.Bool <= kind && kind <= reflect.Complex128:
		return fmt.Sprint(reflect.ValueOf(v))
	}
	return fmt.Sprintf("a value of type %T", v)
}
