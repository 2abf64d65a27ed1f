package main

import (
	"fmt"
	"slices"
	"strings"
)

// emitRoles writes the interfaces of those who implement one side, and the methods of the
// type that wraps them.
func (v *vocabulary) emitRoles(f *file, side string) {
	for _, r := range v.roles(side) {
		f.WriteString(comment("", v.roleDoc(r)))
		f.p("type %s interface {", r.Name)
		for i, m := range r.Methods {
			if i > 0 {
				f.p("")
			}
			doc := m.Row.name + " " + v.texts.need("handle "+m.Row.key)
			f.WriteString(comment("\t", docOf(doc, false, "Protocol: "+m.Name+".")))
			f.p("\t%s(context.Context, *%s) %s", m.Row.name, m.Params.Name, m.results(""))
		}
		f.p("}\n")
	}
	v.emitWrapper(f, side)
}

// emitWrapper writes the optional methods of the type that wraps one side.
func (v *vocabulary) emitWrapper(f *file, side string) {
	optional := v.roles(side)[1:] // the first is the baseline
	end := strings.ToLower(side)
	f.WriteString(comment("", fmt.Sprintf("Handles implements [Selective]: it reports whether the wrapped %s serves the method.", end)))
	f.p("func (w %sWrapper) Handles(method string) bool {", side)
	f.p("switch method {")
	for _, r := range optional {
		f.p("case %s:", strings.Join(r.constants(""), ", "))
		f.p("return roles.Serves[%s](w.%s, method)", r.Name, side)
	}
	f.p("}")
	f.p("return false")
	f.p("}\n")
	for _, r := range optional {
		for _, m := range r.Methods {
			params, call := "req", fmt.Sprintf("roles.Call(w.%s, %s.%s, %s, ctx, req)", side, r.Name, m.Row.name, m.Const)
			if m.Notification {
				params, call = "n", fmt.Sprintf("roles.Notify(w.%s, %s.%s, ctx, n)", side, r.Name, m.Row.name)
			}
			f.p("func (w %sWrapper) %s(ctx context.Context, %s *%s) %s {", side, m.Row.name, params, m.Params.Name, m.results(""))
			f.p("return %s", call)
			f.p("}\n")
		}
	}
}

// roleDoc joins the text with the capability of the role, unless the text names it.
func (v *vocabulary) roleDoc(r *role) string {
	doc := r.Name + " " + r.Doc
	if bit := r.Methods[0].Row.capability; bit != "" && !strings.Contains(doc, "Capabilit") {
		return docOf(doc, r.Unstable, "Capability: "+bit+".")
	}
	return docOf(doc, r.Unstable)
}

// results returns the results of the Go method. pkg qualifies the type.
func (m *method) results(pkg string) string {
	if m.Notification {
		return "error"
	}
	return "(*" + pkg + m.Result.Name + ", error)"
}

// emitHas writes the methods that look capabilities up by their path.
func (v *vocabulary) emitHas(f *file) {
	for _, side := range []string{"Agent", "Client"} {
		x := v.byName[side+"Capabilities"]
		failIf(x == nil, "no type %sCapabilities", side)
		f.WriteString(comment("", fmt.Sprintf("Has reports whether the %s advertises the capability at path, which consists of the "+
			"wire names of its members, separated by dots, such as %q. It returns false for a nil receiver, an absent group and an unknown path.%s",
			strings.ToLower(side), v.somePath(side), v.groupDoc(x))))
		f.p("func (c *%s) Has(path string) bool { return c != nil && path != \"\" && has%[1]s(c, path) }\n", x.Name)
		v.emitHasOf(f, x)
	}
}

// somePath returns a capability of the side for an example.
func (v *vocabulary) somePath(side string) string {
	for _, m := range v.handledBy(side) {
		if strings.Contains(m.Row.capability, ".") {
			return m.Row.capability
		}
	}
	return ""
}

// groupDoc describes the groups below x that mean nothing by themselves.
func (v *vocabulary) groupDoc(x *goType) string {
	doc := ""
	for _, field := range x.Fields {
		if b := field.Base; b.is(structType) && v.tables.groups.has(b.Type.Def) {
			doc += fmt.Sprintf(" The path %q alone requires that one of its members is set.", field.JSON)
		}
	}
	return doc
}

// emitHasOf writes the lookup for one object of capabilities, and for those in it.
func (v *vocabulary) emitHasOf(f *file, x *goType) {
	f.p("func has%[1]s(c *%[1]s, path string) bool {", x.Name)
	nested := slices.ContainsFunc(x.members().Fields, (*field).hasBits)
	if nested {
		f.p("name, rest, nested := strings.Cut(path, \".\")")
		f.p("switch name {")
	} else {
		f.p("switch path {")
	}
	if v.tables.groups.has(x.Def) {
		var all []string
		for _, b := range x.Fields {
			if b.isBit() {
				all = append(all, b.isSet())
			}
		}
		f.p("case \"\":\nreturn %s", strings.Join(all, " || "))
	}
	var below []*goType
	for _, b := range x.Fields {
		switch {
		case !b.isBit():
			continue
		case b.hasBits() && v.tables.groups.has(b.Base.Type.Def):
			f.p("case %q:\nreturn %s && has%s(c.%s, rest)", b.JSON, b.isSet(), b.Base.Type.Name, b.Name)
			below = append(below, b.Base.Type)
		case b.hasBits():
			f.p("case %q:\nreturn %s && (!nested || has%s(c.%s, rest))", b.JSON, b.isSet(), b.Base.Type.Name, b.Name)
			below = append(below, b.Base.Type)
		case nested:
			f.p("case %q:\nreturn !nested && %s", b.JSON, b.isSet())
		default:
			f.p("case %q:\nreturn %s", b.JSON, b.isSet())
		}
	}
	f.p("}\nreturn false\n}\n")
	for _, t := range below {
		v.emitHasOf(f, t)
	}
}

// isBit reports whether the member is a capability: a flag or an optional object.
func (f *field) isBit() bool {
	return f.Base.Kind == isBool && f.Form == plain || f.Base.is(structType) && f.Form == pointer
}

// isSet returns the condition that the capability is advertised.
func (f *field) isSet() string {
	if f.Base.Kind == isBool {
		return "c." + f.Name
	}
	return "c." + f.Name + " != nil"
}

// hasBits reports whether the capability is a group of others.
func (f *field) hasBits() bool {
	return f.isBit() && f.Base.is(structType) && slices.ContainsFunc(f.Base.Type.members().Fields, (*field).isBit)
}
