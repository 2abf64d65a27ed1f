package main

import (
	"fmt"
	"strings"
)

// emitType writes the declaration of a type and its documentation.
func (v *vocabulary) emitType(f *file, x *goType) {
	if x.Kind == foreignType {
		return // the hand-written file has it all
	}
	f.WriteString(comment("", v.typeDoc(x)))
	switch x.Kind {
	case stringType:
		f.p("type %s string\n", x.Name)
	case enumType:
		f.p("type %s string\n", x.Name)
		emitConstants(f, x, `%q`)
	case numberType:
		f.p("type %s int32\n", x.Name)
		emitConstants(f, x, `%s`)
	case unionType:
		emitInterface(f, x)
	case structType:
		emitStruct(f, x)
	case unknownType:
		f.p("type %s struct {", x.Name)
		if x.Union.Tag != "" {
			f.p("// Type is the value of the member %s.\nType string", x.Union.Tag)
		}
		if x.Union.Flat {
			f.p("// Raw is the object without the members that all variants share.")
		} else {
			f.p("// Raw is the whole object.")
		}
		f.p("Raw json.RawMessage\n}\n")
	}
}

// typeDoc joins the text with what the facts say.
func (v *vocabulary) typeDoc(x *goType) string {
	doc := x.spelled() + " " + x.Doc
	for _, m := range v.Methods {
		switch {
		case m.Params == x && m.Notification:
			doc += "\n\nProtocol: params of the notification " + m.Name + "."
		case m.Params == x:
			doc += "\n\nProtocol: params of " + m.Name + "."
		case m.Result == x:
			doc += "\n\nProtocol: result of " + m.Name + "."
		}
	}
	if x.Unstable {
		doc += "\n\nUnstable: not yet part of the stable protocol; it may change or be removed."
	}
	return doc
}

func emitConstants(f *file, x *goType, verb string) {
	f.p("// The known values of [%s].", x.Name)
	f.p("const (")
	for _, value := range x.Values {
		if value.Doc != "" {
			f.WriteString(comment("\t", value.Name+" "+value.Doc))
		}
		f.p("\t%s %s = "+verb, value.Name, x.Name, value.Value)
	}
	f.p(")\n")
}

func emitInterface(f *file, x *goType) {
	f.p("//")
	f.p("// The variants are:")
	f.p("//")
	for _, variant := range x.Union.all() {
		f.p("//   - *[%s]", variant.Name)
	}
	f.p("type %[1]s interface{ is%[1]s() }\n", x.Name)
	for _, variant := range x.Union.all() {
		f.p("func (*%s) is%s() {}", variant.Name, x.Name)
	}
	f.p("")
}

func emitStruct(f *file, x *goType) {
	f.p("type %s struct {", x.spelled())
	for _, field := range x.members().Fields {
		doc := field.Doc
		if field.Base.Kind == isMeta { // the comment of the type is enough
			doc = ""
		}
		if doc != "" {
			doc = field.Name + " " + doc
		}
		if field.Unstable {
			doc = strings.TrimPrefix(doc+"\n\nUnstable: the member may change or be removed.", "\n\n")
		}
		if doc != "" {
			f.WriteString(comment("\t", doc))
		}
		f.p("\t%s %s `%s`", field.Name, field.goType(), field.tags())
	}
	if x.members().Extra {
		f.p("// Extra contains the members that the protocol does not define.")
		f.p("Extra map[string]json.RawMessage `json:\"-\"`")
	}
	f.p("}\n")
}

// tags returns the struct tags, which only package validate reads.
func (f *field) tags() string {
	name := f.JSON
	switch {
	case f.Form == inlined || f.Required:
	case f.Form == opt, f.Base.Kind == isList, f.Base.Kind == isMap:
		name += ",omitzero"
	default:
		name += ",omitempty"
	}
	tags := fmt.Sprintf("json:%q", name)
	if rule := f.checkTag(); rule != "" {
		tags += fmt.Sprintf(" acp:%q", rule)
	}
	return tags
}

// checkTag returns the rules of the field in the form that package validate reads.
func (f *field) checkTag() string {
	var rules []string
	required := f.Required || f.Form == inlined
	if f.mustBeThere() {
		rules = append(rules, "required")
	}
	if f.Filled {
		rules = append(rules, "min=1")
	}
	if f.numberBound() && f.Base.Kind == isFloat {
		rules = append(rules, "min=0", "max=1")
	} else if f.numberBound() {
		rules = append(rules, "min=1")
	}
	if elem := f.Base.Elem; elem != nil && elem.open() {
		rules = append(rules, "dive", "required")
	} else if elem != nil && (f.Rule != "" || elem.ruled()) {
		rules = append(rules, "dive")
	}
	if f.Rule != "" {
		rules = append(rules, f.Rule)
	}
	if len(rules) > 0 && (f.Form == opt || (f.Rule != "" || f.Filled || f.numberBound()) && !required) {
		rules = append([]string{"omitempty"}, rules...)
	}
	return strings.Join(rules, ",")
}
