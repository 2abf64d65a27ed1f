package main

import (
	"fmt"
	"slices"
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
			f.p("Type string // the member %s", x.Union.Tag)
		}
		if x.Union.Flat {
			f.p("Raw json.RawMessage // the object without the members that all variants share")
		} else {
			f.p("Raw json.RawMessage // the whole object")
		}
		f.p("}\n")
	}
}

// typeDoc joins the text with what the facts say.
func (v *vocabulary) typeDoc(x *goType) string {
	var facts []string
	for _, m := range v.Methods {
		if m.Params == x { // the name of the result says the rest
			facts = append(facts, "Protocol: "+m.Name+".")
		}
	}
	if x.Kind == unionType {
		facts = append(facts, x.Union.variantsDoc())
	}
	return docOf(x.spelled()+" "+x.Doc, x.Unstable, facts...)
}

// unstable ends the comment of what may change or be removed. The doc of package acp explains it.
const unstable = "Unstable: may change."

// docOf adds facts to the first paragraph of a text.
func docOf(text string, isUnstable bool, facts ...string) string {
	if isUnstable {
		facts = append(facts, unstable)
	}
	head, rest, more := strings.Cut(text, "\n\n")
	head = strings.TrimSpace(strings.Join(append([]string{head}, facts...), " "))
	if more {
		return head + "\n\n" + rest
	}
	return head
}

func emitConstants(f *file, x *goType, verb string) {
	f.p("const (")
	beside := x.valuesBeside()
	for _, value := range x.Values {
		if beside {
			f.p("\t%s %s = "+verb+" // %s", value.Name, x.Name, value.Value, value.beside())
			continue
		}
		f.WriteString(comment("\t", value.Name+" "+value.Doc))
		f.p("\t%s %s = "+verb, value.Name, x.Name, value.Value)
	}
	f.p(")\n")
}

// besideColumns is the length of the longest line with a comment after the code.
const besideColumns = 120

// valuesBeside reports whether the texts of all constants are so short that they stand beside them.
func (t *goType) valuesBeside() bool {
	name, value := 0, 0 // the longest ones: gofmt aligns the columns
	for _, v := range t.Values {
		name, value = max(name, len(v.Name)), max(value, len(v.Value))
	}
	return !slices.ContainsFunc(t.Values, func(v enumValue) bool {
		line := name + len(t.Name) + value + len(v.beside()) + len("\t = \"\" // ")
		return strings.Contains(v.Doc, ". ") || line > besideColumns
	})
}

// beside returns the text without what the name of the constant says already.
func (e enumValue) beside() string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(e.Doc, "means that "), "is "), ".")
}

func (u *union) variantsDoc() string {
	var list []string
	for _, variant := range u.all() {
		list = append(list, "*["+variant.Name+"]")
	}
	last := len(list) - 1
	return "The variants are " + strings.Join(list[:last], ", ") + " and " + list[last] + "."
}

func emitInterface(f *file, x *goType) {
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
		if doc = docOf(doc, field.Unstable); doc != "" {
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
