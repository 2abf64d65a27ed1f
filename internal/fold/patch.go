package fold

import "github.com/acpkit/go-sdk/acp"

// These functions convert the values of updates to those of a model that names no version. The optional
// values and lists of both versions are alike.

// Patch returns nil for an absent value, the zero value for null, and otherwise what f makes of the
// value.
func Patch[T, U any](o acp.Opt[T], f func(T) U) *U {
	if o.IsZero() {
		return nil
	}
	var u U
	if v, ok := o.Get(); ok {
		u = f(v)
	}
	return &u
}

// TextPatch is Patch for a text.
func TextPatch[T ~string](o acp.Opt[T]) *string {
	return Patch(o, func(v T) string { return string(v) })
}

// Each returns what f makes of each item. It returns nil for an empty list.
func Each[T, U any](list []T, f func(T) U) []U {
	var all []U
	for _, item := range list {
		all = append(all, f(item))
	}
	return all
}

// Texts returns the items as texts.
func Texts[T ~string](list []T) []string {
	return Each(list, func(item T) string { return string(item) })
}
