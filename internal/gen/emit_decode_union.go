package main

import (
	"fmt"
	"strings"
)

// emitDecodeUnion writes the reading of a union with a tag.
func (v *vocabulary) emitDecodeUnion(f *file, x *goType) {
	u := x.Union
	f.p("func decode%[1]s(d *wire.Decoder, p *%[1]s) *wire.FieldErrors {", x.Name)
	f.p("tag, found := d.Tag(%q)", u.Tag)
	f.p("switch string(tag) {")
	for _, variant := range u.Variants {
		f.p("case %q:", variant.Key)
		emitVariant(f, variant.Type)
	}
	f.p("}")
	if u.Fallback != nil {
		emitFallback(f, u)
	} else {
		f.p("if tag == nil {")
		f.p("return d.Untagged(%q, found)", u.Tag)
		f.p("}")
	}
	if len(u.Needs) > 0 {
		var names []string
		for _, name := range u.Needs {
			names = append(names, fmt.Sprintf("%q", name))
		}
		f.p("if errs := d.Needs(%s); errs != nil {", strings.Join(names, ", "))
		f.p("return errs")
		f.p("}")
	}
	f.p("u := wire.New[%s](d)", u.Unknown.Name)
	f.p("u.Type = d.Text(tag)")
	emitKeepUnknown(f, x)
	f.p("}\n")
}

func emitVariant(f *file, x *goType) {
	f.p("v := wire.New[%s](d)", x.Name)
	f.p("*p = v")
	f.p("return %s", decodeCall(x, "v"))
}

func decodeCall(x *goType, target string) string {
	if x.Model != nil {
		return fmt.Sprintf("decode%s(d, (*%s)(%s))", x.Model.Name, x.Model.spelled(), target)
	}
	return fmt.Sprintf("decode%s(d, %s)", x.Name, target)
}

// emitFallback writes the reading of the variant that has no tag.
func emitFallback(f *file, u *union) {
	if !u.Guesses {
		if u.FallbackTag == "" {
			f.p("if !found || tag == nil {")
		} else {
			f.p("if !found || tag == nil || string(tag) == %q {", u.FallbackTag)
		}
		emitVariant(f, u.Fallback)
		f.p("}")
		return
	}
	f.p("mark := d.Mark()")
	f.p("v := wire.New[%s](d)", u.Fallback.Name)
	f.p("errs := %s", decodeCall(u.Fallback, "v"))
	f.p("if errs == nil {")
	f.p("*p = v")
	f.p("return nil")
	f.p("}")
	f.p("if !found || tag == nil || string(tag) == %q {", u.FallbackTag)
	f.p("return errs")
	f.p("}")
	f.p("d.Return(mark)")
}

func emitKeepUnknown(f *file, x *goType) {
	u := x.Union
	f.p("*p = u")
	if x.Spread != "" {
		f.p("return d.Without((*[]byte)(&u.Raw), %q)", x.Spread)
	} else if u.Flat {
		var names []string
		for _, name := range u.Common {
			names = append(names, fmt.Sprintf("%q", name))
		}
		f.p("return d.Without((*[]byte)(&u.Raw), %s)", strings.Join(names, ", "))
	} else {
		f.p("return d.Raw((*[]byte)(&u.Raw))")
	}
}

// emitDecodePresence writes the reading of a union whose variants are distinguished
// by their members. A value with the members of several is the first that fits.
func emitDecodePresence(f *file, x *goType) {
	u := x.Union
	f.p("func decode%[1]s(d *wire.Decoder, p *%[1]s) *wire.FieldErrors {", x.Name)
	if u.OneOf {
		var has []string
		for _, variant := range u.Variants {
			has = append(has, fmt.Sprintf("d.Has(%q)", variant.Key))
		}
		f.p("if %s {", strings.Join(has, " && "))
		f.p("d.Skip()")
		f.p("return wire.Violation(%q)", "must have one of "+u.Variants[0].Key+" and "+u.Variants[1].Key+", not both")
		f.p("}")
	}
	f.p("mark := d.Mark()")
	f.p("var bad *wire.FieldErrors")
	for i, variant := range u.Variants {
		f.p("if d.Has(%q) {", variant.Key)
		f.p("v := wire.New[%s](d)", variant.Type.Name)
		f.p("errs := %s", decodeCall(variant.Type, "v"))
		f.p("if errs == nil {")
		f.p("*p = v")
		f.p("return nil")
		f.p("}")
		if i == 0 {
			f.p("bad = errs")
		} else {
			f.p("bad = cmp.Or(bad, errs)")
		}
		f.p("d.Return(mark)")
		f.p("}")
	}
	f.p("if bad != nil {")
	f.p("d.Skip()")
	f.p("return bad")
	f.p("}")
	if u.Unknown == nil {
		f.p("return d.Untagged(%q, false)", u.Variants[0].Key)
	} else {
		f.p("u := wire.New[%s](d)", u.Unknown.Name)
		f.p("errs := d.RawObject((*[]byte)(&u.Raw))")
		f.p("if errs == nil {")
		f.p("*p = u")
		f.p("}")
		f.p("return errs")
	}
	f.p("}\n")
}
