package main

import (
	"fmt"
	"strings"
)

// emitCases writes the tables that tests go through: every type with its codec,
// the variants and tags of every union, the values of every enumeration.
func (v *vocabulary) emitCases(f *file) {
	f.p("// Tables has the types of this version.")
	f.p("var Tables = codectest.Tables{")
	f.p("Cases: []codectest.Case{")
	for _, x := range v.Types {
		emitCase(f, x)
	}
	f.p("},")
	f.p("Variants: map[reflect.Type][]any{")
	for _, x := range v.unions() {
		var list []string
		for _, variant := range x.Union.all() {
			list = append(list, "&"+variant.Name+"{}")
		}
		f.p("reflect.TypeFor[%s](): {%s},", x.Name, strings.Join(list, ", "))
	}
	f.p("},")
	f.p("Tags: map[string]string{")
	for _, x := range v.unions() {
		if x.Union.Tag != "" {
			f.p("%q: %q,", x.Name, x.Union.Tag)
		}
	}
	f.p("},")
	f.p("Plain: map[string]any{")
	for _, x := range v.Types {
		if v.byDef[x.Def] == x && !x.hasCase() {
			f.p("%q: new(%s),", x.Def, x.Name)
		}
	}
	f.p("},")
	f.p("Values: map[string][]any{")
	for _, x := range v.Types {
		if len(x.Values) > 0 && v.byDef[x.Def] == x {
			var list []string
			for _, value := range x.Values {
				list = append(list, value.Name)
			}
			f.p("%q: {%s},", x.Def, strings.Join(list, ", "))
		}
	}
	f.p("},")
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
		f.p("codectest.Struct(%q,", name)
		f.p("func(d *wire.Decoder, v *%s) *wire.FieldErrors { return %s },", x.Name, decodeCall(x, "v"))
		f.p("func(e *wire.Encoder, v *%s) { %s },", x.Name, encodeCall(x, "e", "v"))
		f.p("%s,", check)
		f.p("),")
	default:
		if x.Ruled {
			check = "valid" + x.Name
		}
		maker := "Struct"
		if x.Kind == unionType || x.Interface {
			maker = "Union"
		}
		f.p("codectest.%s(%q, decode%s, encode%s, %s),", maker, name, x.Name, x.Name, check)
	}
}
