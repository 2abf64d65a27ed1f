package main

import (
	"fmt"
	"slices"
	"strings"
)

// emitDecode writes the function that reads a type.
func (v *vocabulary) emitDecode(f *file, x *goType) {
	switch {
	case x.Kind == structType && x.Model == nil:
		v.emitDecodeStruct(f, x)
	case x.Kind == unionType && x.Union.Tag == "":
		emitDecodePresence(f, x)
	case x.Kind == unionType:
		v.emitDecodeUnion(f, x)
	case x.Kind == enumType:
		var words []string
		for _, value := range x.Values {
			words = append(words, fmt.Sprintf("%q", value.Value))
		}
		f.p("var words%s = []string{%s}\n", x.Name, strings.Join(words, ", "))
	}
	// The codec of SessionConfigSelectOptions, which is written by hand, reads lists of its variants.
	if v.occurs(isList, x) || x.Def == "SessionConfigSelectGroup" || x.Def == "SessionConfigSelectOption" {
		emitDecodeList(f, x)
	}
	if v.occurs(isMap, x) {
		emitDecodeMap(f, x)
	}
}

func (v *vocabulary) emitDecodeStruct(f *file, x *goType) {
	fields := slices.Clone(x.Fields)
	slices.SortStableFunc(fields, func(a, b *field) int { return order(a) - order(b) })
	var required []string
	flatField := (*field)(nil)
	f.p("func decode%s(d *wire.Decoder, v *%s) *wire.FieldErrors {", x.Name, x.spelled())
	if n := len(fields); n > 0 && fields[n-1].Form == inlined {
		flatField, fields = fields[n-1], fields[:n-1]
		f.p("mark := d.Mark()")
	}
	for _, field := range fields {
		if field.PayloadTag != "" {
			f.p("tag, _ := d.Tag(%q)", field.PayloadTag)
			f.p("has%s := string(tag) == %q", field.Name, field.PayloadOf)
		}
	}
	f.p("o := d.Object()")
	f.p("for o.Next(d) {")
	f.p("switch string(o.Name) {")
	for i, field := range fields {
		if field.Required {
			required = append(required, fmt.Sprintf("%q", field.JSON))
		}
		f.p("case %q:", field.JSON)
		emitDecodeField(f, field, i)
	}
	for i, tag := range v.tagNames(x) {
		f.p("case %q:", tag)
		f.p("o.Skip(d, %d)", len(fields)+i)
	}
	if x.Extra {
		f.p("default:")
		f.p("o.Keep(d, &v.Extra)")
	}
	f.p("}")
	f.p("}")
	for _, field := range fields {
		if field.Default != "" && field.Base.is(enumType) {
			f.p("if v.%s == \"\" {", field.Name)
			f.p("v.%s = %s", field.Name, field.Default)
			f.p("}")
		}
	}
	if flatField != nil {
		f.p("if o.Found() {")
		f.p("d.Return(mark) // the variant's members stand in the same object")
		f.p("o.Merge(decode%s(d, &v.%s))", flatField.Base.Type.Name, flatField.Name)
		f.p("}")
	}
	f.p("return o.End(%s)", strings.Join(required, ", "))
	f.p("}\n")
}

// order puts required members first, because their numbers begin at 0, and the
// inlined union last.
func order(f *field) int {
	switch {
	case f.Form == inlined:
		return 2
	case f.Required:
		return 0
	}
	return 1
}

// tagNames are the tags that stand among the members of a struct: for variants and for
// the models of variants their own, and for a struct that keeps what it does not know
// that of the union outside as well.
func (v *vocabulary) tagNames(x *goType) []string {
	own := x.Tag
	for _, t := range v.Types {
		if t.Model == x {
			own = t.Tag
			break
		}
	}
	if own == "" {
		return nil
	}
	names := []string{own}
	for _, u := range v.unions() {
		holds := func(variant variant) bool { return variant.Type == x }
		if x.Extra && u.Spread != "" && slices.ContainsFunc(u.Union.Variants, holds) {
			names = append(names, u.Spread)
		}
	}
	return names
}

func emitDecodeField(f *file, field *field, number int) {
	target := "v." + field.Name
	is := fmt.Sprintf("o.Is(d, %d)", number)
	if (field.Nullable || field.Lenient || field.NullDefault) && field.Base.Kind != isRaw && field.Form != opt {
		is += " && !d.Null()"
	}
	if field.Form == opt {
		f.p("if %s {", is)
		emitDecodeOpt(f, field, target)
		f.p("}")
		return
	}
	call := read(field, target)
	switch {
	case field.PayloadTag != "":
		f.p("if mark := d.Mark(); %s && %s != nil {", is, call)
		f.p("if %s = nil; !has%s {", target, field.Name)
		f.p("d.Return(mark)")
		f.p("o.Keep(d, &v.Extra)")
		f.p("}")
		f.p("}")
	case field.Lenient && (field.Form == pointer || field.Base.open()):
		f.p("if %s && %s != nil {", is, call)
		f.p("%s = nil", target)
		f.p("}")
	case field.Lenient:
		f.p("_ = %s && %s == nil", is, call)
	default:
		f.p("_ = %s && o.Check(%s)", is, call)
	}
}

func emitDecodeOpt(f *file, field *field, target string) {
	t := field.Base.goType()
	f.p("var x %s", t)
	f.p("if d.Null() {")
	f.p("%s = Null[%s]()", target, t)
	f.p("} else if errs := %s; errs == nil {", read(field, "x"))
	f.p("%s = Some(x)", target)
	if !field.Lenient {
		f.p("} else {")
		f.p("o.Check(errs)")
	}
	f.p("}")
}

// reads are the calls that read a scalar.
var reads = map[baseKind]string{
	isString: "d.String(%s)", isBool: "d.Bool(%s)", isFloat: "d.Float(%s)",
	isInt32: "wire.ReadInt(d, %s)", isInt64: "wire.ReadInt(d, %s)",
	isUint16: "wire.ReadUint(d, %s)", isUint32: "wire.ReadUint(d, %s)", isUint64: "wire.ReadUint(d, %s)",
	isRaw: "d.Raw((*[]byte)(%s))", isRawObject: "d.RawObject((*[]byte)(%s))", isMeta: "d.Map((*map[string]any)(%s))",
}

// read returns the call that reads a field's value into target.
func read(field *field, target string) string {
	b := field.Base
	at := "&" + target
	if field.Form == pointer {
		at = "wire.NewAt(d, &" + target + ")"
	}
	if field.Read != "" {
		return fmt.Sprintf(field.Read, at)
	}
	switch b.Kind {
	case isString:
		if field.Rule == "min=1" {
			return fmt.Sprintf("d.NonEmpty(%s)", at)
		}
	case isMap:
		if b.Elem.Kind == isString {
			return fmt.Sprintf("d.StringMap(%s)", at)
		}
		return fmt.Sprintf("decode%sMap(d, %s)", b.Elem.Type.Name, at)
	case isList:
		if b.Elem.text() {
			return fmt.Sprintf("wire.ReadStrings(d, %s, %t)", at, field.Skip)
		}
		if b.Elem.Kind.unsigned() {
			return fmt.Sprintf("wire.ReadUints(d, %s, %t)", at, field.Skip)
		}
		return fmt.Sprintf("decode%sList(d, %s, %t)", b.Elem.Type.Name, at, field.Skip)
	}
	if b.Type == nil {
		return fmt.Sprintf(reads[b.Kind], at)
	}
	switch b.Type.Kind {
	case stringType:
		return fmt.Sprintf("d.String((*string)(%s))", at)
	case enumType:
		return fmt.Sprintf("d.Enum((*string)(%s), words%s)", at, b.Type.Name)
	case numberType:
		return fmt.Sprintf("wire.ReadInt(d, %s)", at)
	}
	return decodeCall(b.Type, at)
}

// occurs reports whether lists or maps of the type occur.
func (v *vocabulary) occurs(kind baseKind, x *goType) bool {
	if x.Kind == enumType || x.Kind == stringType {
		return false
	}
	holds := func(f *field) bool { return f.Base.Kind == kind && f.Base.Elem.Type == x }
	return slices.ContainsFunc(v.Types, func(t *goType) bool {
		return (t.Codec || !t.Alias) && slices.ContainsFunc(t.Fields, holds)
	})
}

func emitDecodeList(f *file, x *goType) {
	f.p("func decode%[1]sList(d *wire.Decoder, p *[]%[1]s, skip bool) *wire.FieldErrors {", x.Name)
	f.p("l := wire.ListOf[%s](d)", x.Name)
	f.p("for l.Next(d) {")
	f.p("l.Keep(decode%s(d, l.Item(d)), skip)", x.Name)
	f.p("}")
	f.p("return l.End(d, p)")
	f.p("}\n")
}

func emitDecodeMap(f *file, x *goType) {
	f.p("func decode%[1]sMap(d *wire.Decoder, p *map[string]%[1]s) *wire.FieldErrors {", x.Name)
	f.p("o := d.Object()")
	f.p("m := map[string]%s{}", x.Name)
	f.p("for o.Next(d) {")
	f.p("name := d.Text(o.Name)")
	f.p("if _, twice := m[name]; twice {")
	f.p("o.Duplicate(d)")
	f.p("continue")
	f.p("}")
	f.p("var x %s", x.Name)
	f.p("o.Check(decode%s(d, &x))", x.Name)
	f.p("m[name] = x")
	f.p("}")
	f.p("return wire.EndMap(d, &o, p, m)")
	f.p("}\n")
}
