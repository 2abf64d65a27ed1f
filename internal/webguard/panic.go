package webguard

import (
	"fmt"
	"reflect"
)

// PanicText tells a panic of the code that serves a connection: errors, texts and numbers
// as they are, of everything else the type, because the content of a message must not be
// in the log.
func PanicText(v any) string {
	if err, ok := v.(error); ok {
		return fmt.Sprint(err) // which survives an Error method that panics
	}
	switch kind := reflect.ValueOf(v).Kind(); {
	case kind == reflect.String, reflect.Bool <= kind && kind <= reflect.Complex128:
		return fmt.Sprint(reflect.ValueOf(v))
	}
	return fmt.Sprintf("a value of type %T", v)
}
