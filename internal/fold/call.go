// Package fold makes the state of a session from its updates: what an update changes in a tool
// call, and which message a chunk continues. Agents, clients and checks keep different parts of
// that state, each in types of its own; the rules are here.
package fold

import (
	"encoding/json"
	"maps"
	"slices"
)

// Call refers to the fields of a tool call. In a state, these are the fields that a program keeps,
// and nil fields are not kept. In a change, they are the new values, and nil keeps the old one.
// Lists have no field, because each program has its own types for them: see [Set].
type Call struct {
	Title, Name, Kind, Status *string
	RawInput, RawOutput       *json.RawMessage
	Cancellable               *bool
	// Ended reports whether the turn has ended while the call was open. A new status clears it.
	Ended *bool
	Meta  *map[string]any
}

// Apply changes the state.
func (state Call) Apply(change Call) {
	Set(state.Title, change.Title)
	Set(state.Name, change.Name)
	Set(state.Kind, change.Kind)
	Set(state.Status, change.Status)
	if change.Status != nil {
		Set(state.Ended, new(false))
	}
	Set(state.RawInput, change.RawInput)
	Set(state.RawOutput, change.RawOutput)
	Set(state.Cancellable, change.Cancellable)
	if state.Meta != nil && change.Meta != nil {
		*state.Meta = Meta(*state.Meta, *change.Meta)
	}
}

// Set changes *state to *change, if there are both.
func Set[T any](state, change *T) {
	if state != nil && change != nil {
		*state = *change
	}
}

// Final reports whether a tool call with the status has ended. One with an unknown status has not.
func Final[S ~string](status S) bool {
	return slices.Contains([]S{"completed", "failed", "cancelled"}, status)
}

// metaAtMost is how many keys the _meta of an item may have. Each update copies it, because what
// was shown before must not change.
const metaAtMost = 1000

// Meta returns old with what is in added. It changes neither. Keys beyond the first 1000 are left
// out, the last in their order.
func Meta[M ~map[string]any](old, added M) M {
	if len(added) == 0 {
		return old
	}
	if len(old) == 0 && len(added) <= metaAtMost {
		return added
	}
	var m M
	for _, key := range slices.Sorted(maps.Keys(added)) {
		if _, there := old[key]; !there && max(len(old), len(m)) >= metaAtMost {
			continue
		}
		if m == nil {
			m = make(M, len(old)+1)
			maps.Copy(m, old)
		}
		m[key] = added[key]
	}
	if m == nil { // nothing that is kept
		return old
	}
	return m
}
