package main

import (
	"fmt"
	"slices"
	"strings"
)

// markRuled finds the types whose values can break a rule, by themselves or by
// what they hold.
func (v *vocabulary) markRuled() {
	for again := true; again; {
		again = false
		for _, x := range v.Types {
			if !x.Ruled && x.breakable() {
				x.Ruled, again = true, true
			}
		}
	}
}

func (x *goType) breakable() bool {
	switch x.Kind {
	case structType:
		return slices.ContainsFunc(x.members().Fields, (*field).checked)
	case unionType:
		return slices.ContainsFunc(x.Union.all(), func(variant *goType) bool { return variant.Ruled })
	}
	return false
}

// all returns the types of the variants, the one for unknown values last.
func (u *union) all() []*goType {
	var list []*goType
	for _, variant := range u.Variants {
		list = append(list, variant.Type)
	}
	if u.Fallback != nil {
		list = append(list, u.Fallback)
	}
	if u.Unknown != nil {
		list = append(list, u.Unknown)
	}
	return list
}

// ruled reports whether values of the kind can break rules.
func (b *base) ruled() bool {
	if b.Elem != nil {
		return b.Elem.ruled() || b.Elem.open()
	}
	return b.Kind == isNamed && b.Type.Ruled
}

// open reports whether the value is an interface, which may be nil.
func (b *base) open() bool {
	return b.Kind == isNamed && (b.Type.Kind == unionType || b.Type.Interface)
}

// checked reports whether values of the field can break a rule.
func (f *field) checked() bool {
	return f.Rule != "" || f.mustBeThere() || f.Base.ruled() || f.Filled || f.numberBound()
}

func (f *field) numberBound() bool { return f.Bound != "" && f.Base.Kind.number() }

// mustBeThere reports whether the field is an interface that must not be nil.
func (f *field) mustBeThere() bool { return f.Base.open() && (f.Required || f.Form == inlined) }

// emitCheck writes the function that reports whether a value obeys the rules.
func emitCheck(f *file, x *goType) {
	switch {
	case !x.Ruled || x.Model != nil:
	case x.Kind == structType:
		f.p("func valid%s(v *%s, strict bool) bool {", x.Name, x.spelled())
		for _, field := range x.Fields {
			emitCheckField(f, field)
		}
		if len(f.wrong) > 0 {
			wrong := f.wrongs()
			if call, negated := strings.CutPrefix(wrong, "!"); negated && !strings.Contains(call, "||") && !strings.Contains(call, "&&") {
				f.p("return %s", call)
			} else {
				f.p("return !(%s)", wrong)
			}
		} else {
			f.p("return true")
		}
		f.p("}\n")
	case x.Kind == unionType:
		f.p("func valid%[1]s(v %[1]s, strict bool) bool {", x.Name)
		f.p("switch v := v.(type) {")
		for _, variant := range x.Union.all() {
			if variant.Ruled {
				f.p("case *%s:", variant.Name)
				f.p("return v == nil || %s", validCall(variant, "v"))
			}
		}
		f.p("}")
		f.p("return true")
		f.p("}\n")
	}
}

// validCall returns the call that checks the value at an address.
func validCall(x *goType, at string) string {
	if m := x.Model; m != nil {
		return fmt.Sprintf("valid%s((*%s)(%s), strict)", m.Name, m.spelled(), at)
	}
	return fmt.Sprintf("valid%s(%s, strict)", x.Name, at)
}

func emitCheckField(f *file, field *field) {
	target := "v." + field.Name
	if !field.checked() {
		return
	}
	if field.Filled && field.Required {
		f.reject("len(%s) == 0", target)
	} else if field.Filled {
		f.reject("%[1]s != nil && len(%[1]s) == 0", target)
	}
	if field.numberBound() {
		if field.Form == pointer {
			f.reject("%[1]s != nil && (%[2]s)", target, fmt.Sprintf(field.Bound, "*"+target))
		} else {
			f.reject("%s", fmt.Sprintf(field.Bound, target))
		}
		return
	}
	if field.Filled && !(field.Rule != "" || field.Base.ruled() || field.Base.Elem.open()) {
		return
	}
	if field.Form == opt {
		f.flush()
		f.p("if x, ok := %s.Get(); ok {", target)
		emitCheckValue(f, field, "x")
		f.flush()
		f.p("}")
		return
	}
	emitCheckValue(f, field, target)
}

// reject says that a value is wrong if a condition holds.
func (f *file) reject(format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

// flush writes that a value is wrong if one of the conditions so far holds.
func (f *file) flush() {
	if len(f.wrong) > 0 {
		f.p("if %s {\nreturn false\n}", f.wrongs())
	}
}

func (f *file) wrongs() string {
	all := strings.Join(f.wrong, " ||\n")
	f.wrong = nil
	return all
}

func emitCheckValue(f *file, field *field, target string) {
	b := field.Base
	switch {
	case b.Elem != nil:
		f.flush()
		f.p("for i := range %s {", target)
		element := target + "[i]"
		if field.Rule != "" {
			f.reject("%s", breaks(field.Rule, *b.Elem, element))
		}
		if b.Elem.open() {
			f.reject("%s == nil", element)
		}
		if b.Elem.ruled() {
			f.reject("!%s", validCall(b.Elem.Type, at(b.Elem.Type, element)))
		}
		f.flush()
		f.p("}")
	case field.Rule != "" && field.Required:
		f.reject("%s", breaks(field.Rule, b, target))
	case field.Rule != "":
		f.reject("%s != \"\" && %s", target, breaks(field.Rule, b, target))
	case field.mustBeThere() && b.Type.Ruled:
		f.reject("%s == nil || !%s", target, validCall(b.Type, target))
	case field.mustBeThere():
		f.reject("%s == nil", target)
	case field.Form == pointer:
		f.reject("%s != nil && !%s", target, validCall(b.Type, target))
	default:
		f.reject("!%s", validCall(b.Type, at(b.Type, target)))
	}
}

// ruleFuncs are the functions of package wire for the rules of the prose, which apply only if the
// check is strict.
var ruleFuncs = map[string]string{"abspath": "IsAbsPath", "uri": "IsURI"}

// breaks returns the condition for a text that breaks its rule.
func breaks(rule string, b base, target string) string {
	switch rule {
	case "min=1":
		return target + ` == ""`
	case "id", "filled":
		return "strict && " + target + ` == ""`
	}
	name, ok := ruleFuncs[rule]
	failIf(!ok, "no check for the rule %s", rule)
	return fmt.Sprintf("strict && !wire.%s(%s)", name, asString(b, target))
}
