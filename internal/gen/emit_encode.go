package main

import (
	"fmt"
	"slices"
)

// emitEncode writes the functions that append a type: encode<Type> the whole value, and
// members<Type> without the braces and the tag, if others write these.
func (v *vocabulary) emitEncode(f *file, x *goType) {
	switch {
	case x.Kind == structType:
		shared := v.sharesMembers(x)
		if x.Model == nil && shared {
			f.p("func members%s(e *wire.Encoder, v *%s) {", x.Name, x.spelled())
			emitMembers(f, x)
			f.p("}\n")
		}
		if x.Model != nil && x.Tag == "" {
			return // the model's will do
		}
		f.p("func encode%s(e *wire.Encoder, v *%s) {", x.Name, x.spelled())
		switch {
		case x.Tag != "" && len(x.Fields) == 0 && x.Model == nil && !shared:
			f.p("wire.OpenVariant(e, v, `%s:%s`)", quote(x.Tag), quote(x.TagValue))
		case x.Tag != "":
			f.p("v = wire.OpenVariant(e, v, `%s:%s`)", quote(x.Tag), quote(x.TagValue))
		case v.isVariant(x):
			f.p("v = wire.OpenVariant(e, v, \"\")")
		default:
			f.p("e.Open()")
		}
		if x.Model == nil && !shared {
			emitMembers(f, x)
		} else {
			emitMembersCall(f, x)
		}
		f.p("e.Close()")
		f.p("}\n")
	case x.Kind == unionType:
		if x.Union.Flat || x.Spread != "" {
			f.p("func members%[1]s(e *wire.Encoder, v %[1]s) {", x.Name)
			emitSwitch(f, x)
			f.p("}\n")
		}
		if !x.Union.Flat {
			f.p("func encode%[1]s(e *wire.Encoder, v %[1]s) {", x.Name)
			f.p("switch v := v.(type) {")
			for _, variant := range x.Union.all() {
				f.p("case *%[1]s:\nencode%[1]s(e, v)", variant.Name)
			}
			f.p("default:\ne.Fail(\"missing\")\n}")
			f.p("}\n")
		}
	case x.Kind == unknownType:
		f.p("func encode%[1]s(e *wire.Encoder, v *%[1]s) {", x.Name)
		f.p("v = wire.OpenVariant(e, v, \"\")")
		emitUnknown(f, x.Union)
		f.p("e.Close()")
		f.p("}\n")
	}
}

// sharesMembers reports whether others than its own encode function write the members of a struct:
// types with the same members, unions whose variants stand in the object of another type, and types
// that hold a variant without its tag.
func (v *vocabulary) sharesMembers(x *goType) bool {
	return slices.ContainsFunc(v.Types, func(t *goType) bool {
		holds := func(f *field) bool {
			b := f.Base
			if b.Elem != nil {
				b = *b.Elem
			}
			return x.Tag != "" && b.Type == x
		}
		inlined := t.Kind == unionType && (t.Union.Flat || t.Spread != "")
		return t.Model == x || inlined && slices.Contains(t.Union.all(), x) || slices.ContainsFunc(t.Fields, holds)
	})
}

// isVariant reports whether a union has the type.
func (v *vocabulary) isVariant(x *goType) bool {
	return slices.ContainsFunc(v.unions(), func(u *goType) bool { return slices.Contains(u.Union.all(), x) })
}

func emitMembers(f *file, x *goType) {
	for _, field := range x.Fields {
		emitEncodeField(f, field)
	}
	if x.Extra {
		f.p("e.Extra(v.Extra)")
	}
}

func emitMembersCall(f *file, x *goType) {
	if x.Model != nil {
		f.p("members%s(e, (*%s)(v))", x.Model.Name, x.Model.spelled())
	} else {
		f.p("members%s(e, v)", x.Name)
	}
}

// emitTagged writes a struct's tag and members into an open object.
func emitTagged(f *file, x *goType) {
	if x.Kind == unknownType {
		emitUnknown(f, x.Union)
		return
	}
	if x.Tag != "" {
		f.p("e.Name(`,%s:%s`)", quote(x.Tag), quote(x.TagValue))
	}
	emitMembersCall(f, x)
}

func emitUnknown(f *file, u *union) {
	if u.Tag == "" {
		f.p("e.UnknownMembers(\"\", \"\", v.Raw)")
	} else {
		f.p("e.UnknownMembers(%q, v.Type, v.Raw)", u.Tag)
	}
}

// emitSwitch writes the members of each variant; nil is a failure.
func emitSwitch(f *file, x *goType) {
	f.p("switch v := v.(type) {")
	for _, variant := range x.Union.all() {
		f.p("case *%s:", variant.Name)
		f.p("if v != nil {")
		emitTagged(f, variant)
		f.p("return")
		f.p("}")
	}
	f.p("}")
	switch {
	case !x.Union.Flat:
		f.p("e.Fail(\"missing\")")
	case x.Union.Tag != "":
		f.p("e.Missing(%q)", x.Union.Tag)
	default:
		f.p("e.Missing(%q)", x.Union.Variants[0].Key)
	}
}

func emitEncodeField(f *file, field *field) {
	target := "v." + field.Name
	b := field.Base
	switch {
	case field.Form == inlined:
		f.p("members%s(e, %s)", b.Type.Name, target)
		return
	case field.Form == opt:
		f.p("if x, ok := %s.Get(); ok {", target)
		emitValue(f, field, "x")
		f.p("} else if %s.IsNull() {", target)
		f.p("e.Name(%s)", field.wireName())
		f.p("e.Null()")
	case field.Form == pointer && b.Kind == isNamed && !b.text():
		f.p("if %s != nil {", target)
		f.p("e.Name(%s)", field.wireName())
		emitStructValue(f, b.Type, target)
	case field.Form == pointer && scalarWriters[b.Kind] != "":
		f.p(scalarWriters[b.Kind]+"At(e, %s, %s)", field.wireName(), target)
		return
	case field.Form == pointer:
		f.p("if %s != nil {", target)
		emitValue(f, field, "*"+target)
	case b.Kind == isMeta:
		f.p("e.Map(%s, %s)", field.wireName(), target)
		return
	case field.Required, field.Default != "":
		emitValue(f, field, target)
		return
	case b.text():
		f.p("e.Text(%s, %s)", field.wireName(), asString(b, target))
		return
	case b.Kind == isBool:
		f.p("e.Flag(%s, %s)", field.wireName(), target)
		return
	default:
		f.p("if %s {", isThere(b, target))
		emitValue(f, field, target)
	}
	f.p("}")
}

// scalarWriters are the functions of package wire for numbers and booleans. With At they write what a
// pointer points to, if it is not nil.
var scalarWriters = map[baseKind]string{
	isBool: "wire.WriteBool", isFloat: "wire.WriteFloat", isInt32: "wire.WriteInt", isInt64: "wire.WriteInt",
	isUint16: "wire.WriteUint", isUint32: "wire.WriteUint", isUint64: "wire.WriteUint",
}

// isThere returns the condition that an optional member is written.
func isThere(b base, target string) string {
	if b.Kind == isRaw || b.Kind == isRawObject {
		return "len(" + target + ") > 0"
	}
	return target + " != nil"
}

func asString(b base, target string) string {
	if b.Kind == isNamed {
		return "string(" + target + ")"
	}
	return target
}

// emitValue writes a member that is there.
func emitValue(f *file, field *field, target string) {
	b, name := field.Base, field.wireName()
	switch {
	case b.text() && field.Default != "":
		f.p("e.String(%s, cmp.Or(string(%s), %s))", name, target, field.Default)
	case b.text():
		f.p("e.String(%s, %s)", name, asString(b, target))
	case scalarWriters[b.Kind] != "":
		f.p(scalarWriters[b.Kind]+"(e, %s, %s)", name, target)
	case b.is(numberType):
		f.p("wire.WriteInt(e, %s, %s)", name, target)
	case b.Kind == isRaw:
		f.p("e.Raw(%s, %s)", name, target)
	case b.Kind == isRawObject:
		f.p("e.RawObject(%s, %s)", name, target)
	case b.Kind == isList && b.Elem.text():
		f.p("wire.WriteStrings(e, %s, %s)", name, target)
	case b.Kind == isList:
		f.p("e.OpenList(%s)", name)
		f.p("for i := range %s {", target)
		f.p("e.Element()")
		emitElement(f, *b.Elem, target+"[i]")
		f.p("}")
		f.p("e.CloseArray()")
	case b.Kind == isMap:
		f.p("e.Name(%s)", name)
		f.p("e.Open()")
		f.p("for _, key := range wire.SortedKeys(%s) {", target)
		f.p("e.Key(key)")
		emitElement(f, *b.Elem, target+"[key]")
		f.p("}")
		f.p("e.Close()")
	default:
		f.p("e.Name(%s)", name)
		emitStructValue(f, b.Type, at(b.Type, target))
	}
}

// emitElement writes an element of an array or an object.
func emitElement(f *file, b base, target string) {
	switch {
	case b.text():
		f.p("e.StringValue(%s)", asString(b, target))
	case b.Kind.unsigned():
		f.p("e.UintValue(uint64(%s))", target)
	default:
		emitStructValue(f, b.Type, at(b.Type, target))
	}
}

// at returns the argument of an encode function: an interface, or the address of any other value.
func at(x *goType, target string) string {
	if x.Kind == unionType || x.Interface {
		return target
	}
	return "&" + target
}

// emitStructValue writes a struct or a union. Structs that are variants leave
// their tag out where the facts use them without a union.
func emitStructValue(f *file, x *goType, at string) {
	if x.Kind == structType && x.Tag != "" {
		f.p("e.Open()")
		f.p("members%s(e, %s)", x.Name, at)
		f.p("e.Close()")
		return
	}
	f.p("%s", encodeCall(x, "e", at))
}

// encodeCall returns the call that writes the value at an address.
func encodeCall(x *goType, encoder, at string) string {
	if x.Model != nil && x.Tag == "" {
		return fmt.Sprintf("encode%s(%s, (*%s)(%s))", x.Model.Name, encoder, x.Model.spelled(), at)
	}
	return fmt.Sprintf("encode%s(%s, %s)", x.Name, encoder, at)
}
