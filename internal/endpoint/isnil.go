package endpoint

import "reflect"

// IsNil tells whether v is nil or holds a nil pointer, func, map or the like, with
// which nothing can be done.
func IsNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan, reflect.Interface:
		return r.IsNil()
	}
	return false
}
