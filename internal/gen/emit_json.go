package main

// emitJSON writes what encoding/json calls.
func (v *vocabulary) emitJSON(f *file, x *goType) {
	switch {
	case x.Hidden:
	case x.Kind == structType:
		f.p("// MarshalJSON encodes the value in its wire format%s.", tagNote(x))
		if m := x.Model; m != nil && x.Tag == "" {
			f.p("func (v %s) MarshalJSON() ([]byte, error) { return marshal((*%s)(&v), encode%s) }\n", x.Name, m.spelled(), m.Name)
		} else {
			f.p("func (v %s) MarshalJSON() ([]byte, error) { return marshal(&v, encode%s) }\n", x.Name, x.Name)
		}
		f.p("// UnmarshalJSON decodes the value by the rules of the protocol.")
		if m := x.Model; m != nil {
			f.p("func (v *%s) UnmarshalJSON(data []byte) error { return unmarshal(data, (*%s)(v), decode%s) }\n", x.Name, m.spelled(), m.Name)
		} else {
			f.p("func (v *%[1]s) UnmarshalJSON(data []byte) error { return unmarshal(data, v, decode%[1]s) }\n", x.Name)
		}
	case x.Kind == unionType && !x.Union.Flat:
		f.p("// Unmarshal%[1]s decodes any variant of [%[1]s].", x.Name)
		f.p("func Unmarshal%[1]s(data []byte) (v %[1]s, err error) {", x.Name)
		f.p("err = unmarshal(data, &v, decode%s)", x.Name)
		f.p("return v, err")
		f.p("}\n")
	case x.Kind == unknownType:
		f.p("// MarshalJSON encodes the value as it was received.")
		f.p("func (v %s) MarshalJSON() ([]byte, error) { return marshal(&v, encode%s) }\n", x.Name, x.Name)
		f.p("// UnmarshalJSON keeps the value unchanged.")
		if x.Union.Tag == "" {
			f.p("func (v *%s) UnmarshalJSON(data []byte) error { return unmarshalUnknown(data, \"\", nil, &v.Raw) }\n", x.Name)
		} else {
			f.p("func (v *%s) UnmarshalJSON(data []byte) error { return unmarshalUnknown(data, %q, &v.Type, &v.Raw) }\n", x.Name, x.Union.Tag)
		}
	}
}

func tagNote(x *goType) string {
	if x.Tag == "" {
		return ""
	}
	return ", with its tag"
}
