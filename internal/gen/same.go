package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// markSame makes the types that are the same in an older version aliases of its types. The same
// means: in every member, rule and variant, down to the last type that a type refers to. Texts and
// stability change nothing.
func (v *vocabulary) markSame(older *vocabulary) {
	v.older = older
	for _, x := range v.Types {
		old := older.byName[x.Name]
		x.Alias = !x.Hidden && old != nil && x.facts() == old.facts()
	}
	// A type is another one if it refers to another one, and if it is a variant of another union,
	// because it cannot be given the method that makes it one.
	own := func(x *goType) bool { return !x.Alias && !x.Hidden }
	for again := true; again; {
		again = false
		for _, x := range v.Types {
			holds := func(u *goType) bool { return own(u) && slices.Contains(u.Union.all(), x) }
			if x.Alias && (slices.ContainsFunc(v.refers(x), own) || slices.ContainsFunc(v.unions(), holds)) {
				x.Alias, again = false, true
			}
		}
	}
	// The codecs of this version call those of the types that they hold.
	for _, x := range v.Types {
		if own(x) {
			v.needCodec(x)
		}
	}
}

// needCodec marks the type, and what it refers to.
func (v *vocabulary) needCodec(x *goType) {
	if x.Codec {
		return
	}
	x.Codec = true
	for _, t := range v.refers(x) {
		v.needCodec(t)
	}
}

// refers returns the types that the type's definition names.
func (v *vocabulary) refers(x *goType) (list []*goType) {
	if x.Schema != nil {
		for _, name := range x.Schema.refers() {
			list = append(list, v.byDef[name])
		}
	}
	for _, f := range x.Fields {
		b := f.Base
		if b.Elem != nil {
			b = *b.Elem
		}
		if b.Type != nil {
			list = append(list, b.Type)
		}
	}
	if x.Model != nil {
		list = append(list, x.Model)
	}
	if x.Kind == unionType {
		list = append(list, x.Union.all()...)
	}
	return list
}

// facts describes the type, with the names of others, but for its texts and its stability.
func (x *goType) facts() string {
	var s strings.Builder
	fmt.Fprintln(&s, x.Kind, x.Tag, x.TagValue, x.Spread, x.Extra, x.Ruled)
	for _, value := range x.Values {
		fmt.Fprintln(&s, value.Name, value.Value)
	}
	for _, f := range x.Fields {
		member := *f
		member.Doc, member.Unstable, member.Base = "", false, base{}
		fmt.Fprintf(&s, "%+v %s\n", member, f.Base.goType())
	}
	if u := x.Union; u != nil {
		fmt.Fprintln(&s, u.Tag, u.FallbackTag, u.Guesses, u.OneOf, u.Needs, u.Flat, u.Common)
		for _, variant := range u.Variants {
			fmt.Fprintln(&s, variant.Key, variant.Type.Name)
		}
		for _, t := range u.all() {
			fmt.Fprintln(&s, t.Name)
		}
	}
	if x.Model != nil {
		fmt.Fprintln(&s, x.Model.Name)
	}
	if x.Schema != nil {
		schema, err := json.Marshal(x.Schema)
		fmt.Fprintln(&s, string(schema), err)
	}
	return s.String()
}

// emitAlias writes a type of the older version, and its constants.
func (v *vocabulary) emitAlias(f *file, x *goType) {
	stability := ""
	if old := v.older.byName[x.Name]; x.Unstable && !old.Unstable {
		stability = " It is unstable in this version."
	} else if !x.Unstable && old.Unstable {
		stability = " It is stable in this version."
	}
	f.WriteString(comment("", fmt.Sprintf("%[1]s is the same type as in version 1; see [v1.%[1]s].%s", x.Name, stability)))
	f.p("type %[1]s = v1.%[1]s\n", x.Name)
	if len(x.Values) == 1 {
		f.p("// %[1]s is the only known value of [%[2]s].\nconst %[1]s %[2]s = v1.%[1]s\n", x.Values[0].Name, x.Name)
	} else if len(x.Values) > 0 {
		f.p("// The known values of [%s].", x.Name)
		f.p("const (")
		for _, value := range x.Values {
			f.p("%[1]s %[2]s = v1.%[1]s", value.Name, x.Name) // the type, so that go doc shows them with it
		}
		f.p(")\n")
	}
	if x.Kind == unionType && !x.Union.Flat {
		f.p("func Unmarshal%[1]s(data []byte) (%[1]s, error) { return v1.Unmarshal%[1]s(data) }\n", x.Name)
	}
}

// codec returns the codec of a payload. An alias has that of the method in the older version.
func (v *vocabulary) codec(x *goType) string {
	if !x.Alias {
		return "&codec" + x.Name
	}
	for _, m := range v.older.Methods {
		at := fmt.Sprintf("wire.%s(%d, %q)", m.kind(), v.older.version.number, m.Name)
		switch {
		case m.Params != nil && m.Params.Name == x.Name:
			return at + ".Params"
		case m.Result != nil && m.Result.Name == x.Name:
			return at + ".Result"
		}
	}
	fail("%s is no payload of version %d", x.Name, v.older.version.number)
	return ""
}
