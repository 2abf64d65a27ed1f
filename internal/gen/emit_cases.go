package main

import (
	"fmt"
	"strings"
)

// emitCases writes the tables that tests go through: every type with its codec,
// the variants and tags of every union, the values of every enumeration.
func (v *vocabulary) emitCases(f *file) {
	f.p("// Cases has a row for every type with a codec.")
	f.p("var Cases = []Case{")
	for _, x := range v.Types {
		emitCase(f, x)
	}
	f.p("}\n")
	f.p("// Variants lists the variants of every union, the one for unknown values last.")
	f.p("var Variants = map[reflect.Type][]any{")
	for _, x := range v.unions() {
		var list []string
		for _, variant := range x.Union.all() {
			list = append(list, "&"+variant.Name+"{}")
		}
		f.p("reflect.TypeFor[%s](): {%s},", x.Name, strings.Join(list, ", "))
	}
	f.p("}\n")
	f.p("// Tags has the tag of every union that has one.")
	f.p("var Tags = map[string]string{")
	for _, x := range v.unions() {
		if x.Union.Tag != "" {
			f.p("%q: %q,", x.Name, x.Union.Tag)
		}
	}
	f.p("}\n")
	f.p("// Plain has a value of every type without a codec, by the name of its definition.")
	f.p("var Plain = map[string]any{")
	for _, x := range v.Types {
		if v.byDef[x.Def] == x && !x.hasCase() {
			f.p("%q: new(%s),", x.Def, x.Name)
		}
	}
	f.p("}\n")
	f.p("// Values has the constants of every enumeration.")
	f.p("var Values = map[string][]any{")
	for _, x := range v.Types {
		if len(x.Values) > 0 && v.byDef[x.Def] == x {
			var list []string
			for _, value := range x.Values {
				list = append(list, value.Name)
			}
			f.p("%q: {%s},", x.Def, strings.Join(list, ", "))
		}
	}
	f.p("}")
}

func (v *vocabulary) unions() []*goType {
	var list []*goType
	for _, x := range v.Types {
		if x.Kind == unionType {
			list = append(list, x)
		}
	}
	return list
}

// hasCase reports whether the type has a codec of its own.
func (x *goType) hasCase() bool {
	foreign := x.Kind == foreignType && goName(x.Def) == x.Name
	return !x.Hidden && (x.Kind == structType || x.Kind == unionType && !x.Union.Flat || foreign)
}

func emitCase(f *file, x *goType) {
	check, name := "nil", x.Name
	if goName(x.Def) == x.Name {
		name = x.Def
	}
	switch {
	case !x.hasCase():
	case x.Kind == structType && x.Model != nil:
		if x.Ruled {
			check = fmt.Sprintf("func(v *%s, strict bool) bool { return %s }", x.Name, validCall(x, "v"))
		}
		f.p("structCase(%q,", name)
		f.p("func(d *wire.Decoder, v *%s) *wire.FieldErrors { return %s },", x.Name, decodeCall(x, "v"))
		f.p("func(e *wire.Encoder, v *%s) { %s },", x.Name, encodeCall(x, "e", "v"))
		f.p("%s,", check)
		f.p("),")
	default:
		if x.Ruled {
			check = "valid" + x.Name
		}
		maker := "structCase"
		if x.Kind == unionType || x.Interface {
			maker = "unionCase"
		}
		f.p("%s(%q, decode%s, encode%s, %s),", maker, name, x.Name, x.Name, check)
	}
}
