package main

import (
	"fmt"
	"strings"
)

// emitCases writes the tables that tests go through: every type with its codec,
// the variants of every union, the values of every enumeration.
func (v *vocabulary) emitCases(f *file) {
	f.p("// Cases has a row for every type with a codec.")
	f.p("var Cases = []Case{")
	for _, x := range v.Types {
		if x.Hidden || x.Kind == unknownType || x.Union != nil && x.Union.Flat {
			continue
		}
		check := "nil"
		if x.Ruled {
			check = "valid" + x.Name
		}
		switch {
		case x.Kind == structType && x.Model != nil:
			f.p("structCase(%q,", x.caseName())
			f.p("func(d *wire.Decoder, v *%s) *wire.FieldErrors { return %s },", x.Name, decodeCall(x, "v"))
			f.p("func(e *wire.Encoder, v *%s) { %s },", x.Name, encodeCall(x, "e", "v"))
			if x.Ruled {
				f.p("func(v *%s, strict bool) bool { return %s },", x.Name, validCall(x, "v"))
			} else {
				f.p("nil,")
			}
			f.p("),")
		case x.Kind == structType, x.Kind == foreignType && !x.Interface:
			f.p("structCase(%q, decode%s, encode%s, %s),", x.caseName(), x.Name, x.Name, check)
		case x.Kind == unionType, x.Def == "ElicitationContentValue":
			f.p("unionCase(%q, decode%s, encode%s, %s),", x.Def, x.Name, x.Name, check)
		}
	}
	f.p("}\n")
	f.p("// Variants lists the variants of every union, the one for unknown values last.")
	f.p("var Variants = map[reflect.Type][]any{")
	for _, x := range v.Types {
		if x.Kind == unionType {
			var list []string
			for _, name := range x.variantNames() {
				list = append(list, "&"+name+"{}")
			}
			f.p("reflect.TypeFor[%s](): {%s},", x.Name, strings.Join(list, ", "))
		}
	}
	f.p("}\n")
	f.p("// Named has a value of every type of package acp by the name of its definition.")
	f.p("var Named = map[string]any{")
	for _, x := range v.Types {
		if x.Hidden || x.Kind == unknownType || v.byDef[x.Def] != x {
			continue
		}
		f.p("%q: new(%s),", x.Def, x.Name)
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
	f.p("}\n")
	f.p("// Tags has, for every union with a tag, the tag and an example of what decodes as unknown.")
	f.p("var Tags = map[string]string{")
	for _, x := range v.Types {
		if x.Union != nil && x.Kind == unionType && x.Union.Tag != "" {
			f.p("%q: %q,", x.Name, x.Union.Tag)
		}
	}
	f.p("}")
}

// caseName is the definition, or the Go name of a type that no definition names.
func (x *goType) caseName() string {
	if goName(x.Def) == x.Name {
		return x.Def
	}
	return fmt.Sprint(x.Name)
}
