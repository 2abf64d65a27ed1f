package main

import (
	"fmt"
	"slices"
)

// tables holds what the facts of a version do not say. The generator fails if a row is not used.
type tables struct {
	// builtins are definitions that are plain Go types.
	builtins table[baseKind]

	// foreign are definitions, and unions of flat ones, whose codec is written by hand. The Go type of
	// a definition is written by hand too, because it is distinguished by the kinds of JSON values.
	foreign table[foreignRow]

	// flat are definitions that mix members of their own with those of a union. The
	// Go struct has the union in a field. Of several with one union, the one with a doc defines it.
	flat table[flatRow]

	// folded are definitions with one union whose tag becomes an enumeration, and whose payloads
	// become optional members.
	folded table[foldedRow]

	// inlineVariants name the variants that have no definition, by "Union.tag".
	inlineVariants table[string]

	// unknownNames name the variant for unknown values where Unknown<Union> is taken,
	// or say with "" that there is none.
	unknownNames table[string]

	// guesses are unions whose variant without a tag takes objects with an unknown tag
	// too, where they have its members.
	guesses table[yes]

	// forms are the forms of members. A pointer is an optional member whose zero value differs from
	// absence; numbers and structs need no row. An opt is a member that is patched: absent, null and a
	// value differ.
	forms table[form]

	// notIDs are string types whose values may be empty.
	notIDs table[yes]

	// prose are the rules of the protocol's text for members.
	prose table[string]

	// boundURIs means that URIs are a rule of the schema, and not of the prose alone.
	boundURIs bool

	// groups are capabilities that mean nothing unless one of their members is there.
	groups table[yes]

	// methods are the methods; a notification's key ends with "!".
	methods table[methodRow]
}

type yes = struct{}

type foreignRow struct {
	name  string // in Go
	iface bool   // an interface, not a struct
	ruled bool   // has a check
}

type flatRow struct{ field, union, doc string }

type foldedRow struct{ tag, enum, doc string }

// table is a set of rows by key.
type table[V any] struct {
	rows map[string]V
	used map[string]bool
}

func (t *table[V]) add(rows map[string]V) {
	if t.rows == nil {
		t.rows, t.used = map[string]V{}, map[string]bool{}
	}
	for key, row := range rows {
		if _, twice := t.rows[key]; twice {
			panic("two rows for " + key)
		}
		t.rows[key] = row
	}
}

// memberRows returns rows with one value for the members of definitions.
func memberRows[V any](value V, names map[string][]string) map[string]V {
	rows := map[string]V{}
	for def, list := range names {
		for _, name := range list {
			rows[def+"."+name] = value
		}
	}
	return rows
}

func (t *table[V]) get(key string) (V, bool) {
	v, ok := t.rows[key]
	if ok {
		t.used[key] = true
	}
	return v, ok
}

func (t *table[V]) has(key string) bool {
	_, ok := t.get(key)
	return ok
}

func (t *table[V]) unused(name string) []string {
	var list []string
	for key := range t.rows {
		if !t.used[key] {
			list = append(list, fmt.Sprintf("%s: %s", name, key))
		}
	}
	slices.Sort(list)
	return list
}

func (t *tables) unused() []string {
	return slices.Concat(
		t.builtins.unused("builtins"), t.foreign.unused("foreign"), t.flat.unused("flat"), t.folded.unused("folded"),
		t.inlineVariants.unused("inlineVariants"), t.unknownNames.unused("unknownNames"), t.guesses.unused("guesses"),
		t.forms.unused("forms"), t.notIDs.unused("notIDs"), t.prose.unused("prose"), t.groups.unused("groups"), t.methods.unused("methods"),
	)
}
