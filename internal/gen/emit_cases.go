package main

import (
	"slices"
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
	return slices.DeleteFunc(slices.Clone(v.Types), func(x *goType) bool { return x.Kind != unionType })
}

// hasCase reports whether the type has a codec of its own.
func (x *goType) hasCase() bool {
	foreign := x.Kind == foreignType && goName(x.Def) == x.Name
	return !x.Hidden && (x.Kind == structType || x.Kind == unionType && !x.Union.Flat || foreign)
}

func emitCase(f *file, x *goType) {
	if !x.hasCase() {
		return
	}
	name, maker, decode, encode, check := x.Name, "Struct", x.Name, x.Name, "nil"
	if goName(x.Def) == x.Name {
		name = x.Def
	}
	if x.Alias && x.Kind == unionType {
		f.p("codectest.AliasUnion(%q, Unmarshal%s),", name, x.Name)
		return
	}
	if x.Alias {
		f.p("codectest.Alias[%s](%q),", x.Name, name)
		return
	}
	if m := x.Model; m != nil {
		maker, decode = "Tagged", m.Name
		if x.Tag == "" {
			maker, encode = "Like["+x.Name+"]", m.Name
		}
	} else if x.Kind == unionType || x.Interface {
		maker = "Union"
	}
	if x.Ruled {
		check = "valid" + decode
	}
	f.p("codectest.%s(%q, decode%s, encode%s, %s),", maker, name, decode, encode, check)
}
