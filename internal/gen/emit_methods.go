package main

import (
	"fmt"
	"slices"
	"strings"
)

// emitMethods writes the names of the methods and the method table.
func (v *vocabulary) emitMethods(f *file) {
	f.p("// The methods of the protocol, each with the Go method that handles it and is documented there.")
	f.p("const (")
	handlers := map[string][]string{} // a request and a notification may have one name
	for _, m := range v.Methods {
		handlers[m.Const] = append(handlers[m.Const], m.Row.role+"."+m.Row.name)
	}
	for _, m := range v.Methods {
		list := handlers[m.Const]
		if m.Row.name == "" || list == nil {
			continue
		}
		delete(handlers, m.Const)
		doc := strings.Join(list, ", ")
		if m.Unstable {
			doc += " (unstable)"
		}
		f.p("\t%s = %q // %s", m.Const, m.Name, doc)
	}
	f.p(")\n")
	f.p("func init() {")
	f.p("wire.Register(ProtocolVersion, []*wire.Method{")
	for _, m := range v.Methods {
		f.p("{%s},", strings.Join(v.literal(m), ", "))
	}
	f.p("})")
	f.p("}\n")
}

// literal returns the fields of the method's row.
func (v *vocabulary) literal(m *method) []string {
	list := []string{"Name: " + m.Const, "Side: wire." + m.Side}
	if m.Row.name == "" {
		list[0] = fmt.Sprintf("Name: %q", m.Name)
	} else {
		list = append(list, "Params: "+v.codec(m.Params))
	}
	add := func(cond bool, field string) {
		if cond {
			list = append(list, field)
		}
	}
	if m.Result != nil {
		list = append(list, "Result: "+v.codec(m.Result))
	}
	add(m.Notification, "Notification: true")
	add(m.Unstable, "Unstable: true")
	add(m.Row.capability != "", fmt.Sprintf("Capability: %q", m.Row.capability))
	add(m.Row.strict, "StrictParams: true")
	add(m.Row.waits, "Waits: true")
	add(m.Row.streams, "Streams: true")
	return list
}

// emitCodec writes the codec of a payload.
func (v *vocabulary) emitCodec(f *file, x *goType) {
	if !slices.ContainsFunc(v.Methods, func(m *method) bool { return m.Params == x || m.Result == x }) {
		return
	}
	f.p("var codec%s = wire.Codec{", x.Name)
	f.p("Decode: func(raw []byte) (any, int64, error) {")
	f.p("d := wire.NewDecoder(raw)")
	f.p("v := wire.New[%s](&d)", x.Name)
	if x.Kind == structType && !x.needs() {
		f.p("if wire.Absent(raw) {")
		f.p("return d.End(v, nil)")
		f.p("}")
	}
	f.p("return d.End(v, %s)", strings.Replace(decodeCall(x, "v"), "(d,", "(&d,", 1))
	f.p("},")
	f.p("Append: func(b []byte, v any) ([]byte, error) {")
	f.p("e := wire.NewEncoder(b)")
	f.p("if x := wire.Payload[%s](&e, v); x != nil {", x.Name)
	f.p("%s", encodeCall(x, "&e", "x"))
	f.p("}")
	f.p("return e.End()")
	f.p("},")
	failIf(x.Ruled && x.Model != nil, "%s: a payload with a check of another type", x.Name)
	if x.Ruled {
		f.p("Valid: wire.Valid(valid%s),", x.Name)
	} else {
		f.p("Valid: wire.AlwaysValid,")
	}
	f.p("Is: wire.Is[%s],", x.Name)
	f.p("}\n")
}

// emitJSON writes the methods that encoding/json calls.
func (v *vocabulary) emitJSON(f *file, x *goType) {
	switch {
	case x.Hidden:
	case x.Kind == structType:
		if m := x.Model; m != nil && x.Tag == "" {
			f.p("func (v %s) MarshalJSON() ([]byte, error) { return wire.Marshal((*%s)(&v), encode%s) }\n", x.Name, m.spelled(), m.Name)
		} else {
			f.p("func (v %s) MarshalJSON() ([]byte, error) { return wire.Marshal(&v, encode%s) }\n", x.Name, x.Name)
		}
		if m := x.Model; m != nil {
			f.p("func (v *%s) UnmarshalJSON(b []byte) error { return wire.Unmarshal(b, (*%s)(v), decode%s) }\n", x.Name, m.spelled(), m.Name)
		} else {
			f.p("func (v *%[1]s) UnmarshalJSON(b []byte) error { return wire.Unmarshal(b, v, decode%[1]s) }\n", x.Name)
		}
	case x.Kind == unionType && !x.Union.Flat:
		f.p("func Unmarshal%[1]s(data []byte) (%[1]s, error) { return wire.UnmarshalUnion(data, decode%[1]s) }\n", x.Name)
	case x.Kind == unknownType:
		f.p("func (v %s) MarshalJSON() ([]byte, error) { return wire.Marshal(&v, encode%s) }\n", x.Name, x.Name)
		if x.Union.Tag == "" {
			f.p("func (v *%s) UnmarshalJSON(b []byte) error { return wire.UnmarshalUnknown(b, \"\", nil, &v.Raw) }\n", x.Name)
		} else {
			f.p("func (v *%s) UnmarshalJSON(b []byte) error { return wire.UnmarshalUnknown(b, %q, &v.Type, &v.Raw) }\n", x.Name, x.Union.Tag)
		}
	}
}
