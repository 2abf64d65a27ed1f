package main

import (
	"cmp"
	"encoding/json"
	"slices"
)

// fieldOf reads one member of a definition.
func (v *vocabulary) fieldOf(x *goType, owner *schema, p member) *field {
	key := x.Def + "." + p.Name
	s, null := p.Schema.nullable()
	f := &field{
		JSON: p.Name, Name: goName(p.Name),
		Doc:         v.texts.find("field "+key, "common "+p.Name),
		Unstable:    !x.Unstable && !v.stableField(x.Def, p.Name),
		Required:    slices.Contains(owner.Required, p.Name),
		Nullable:    null,
		Lenient:     p.Schema.Lenient,
		Skip:        p.Schema.SkipItems,
		NullDefault: p.Schema.NullDefault,
		Base:        v.baseOf(key, p.Name, s),
	}
	f.Form = v.formOf(key, f)
	switch def := string(p.Schema.Default); {
	case f.Form == pointer || def == "false" || def == "":
	case def == "[]" || def == "{}" || f.Base.is(enumType):
		f.Default = def
	default:
		fail("%s: default %s", key, def)
	}
	f.Rule = v.ruleOf(key, f, p.Schema)
	v.bound(f, s, p.Schema)
	return f
}

// bound finds the rules of the schema beyond the type.
func (v *vocabulary) bound(f *field, s, outer *schema) {
	low, high := cmp.Or(s.Minimum, outer.Minimum), cmp.Or(s.Maximum, outer.Maximum)
	switch {
	case outer.MinItems == 1 || s.MinItems == 1:
		f.Filled = true
	case v.tables.boundURIs && (s.Format == "uri" || outer.Format == "uri"):
		f.Bound, f.Read = "!wire.IsURI(%s)", "d.URI(%s)"
	case f.Base.Kind == isFloat && low != "" && high != "":
		f.Bound, f.Read = "%[1]s < "+string(low)+" || %[1]s > "+string(high), "d.FloatIn(%s, "+string(low)+", "+string(high)+")"
	case f.Base.Kind.number() && low == "1":
		f.Bound, f.Read = "%s == 0", "wire.ReadPositive(d, %s)"
	}
}

// baseOf reads what a value is.
func (v *vocabulary) baseOf(key, name string, s *schema) base {
	if name == "_meta" {
		return base{Kind: isMeta}
	}
	if ref := s.refName(); ref != "" {
		if kind, ok := v.tables.builtins.get(ref); ok {
			return base{Kind: kind}
		}
		failIf(v.byDef[ref] == nil, "%s refers to %s, which is not there", key, ref)
		return base{Kind: isNamed, Type: v.byDef[ref]}
	}
	switch {
	case len(s.Type) == 0 && s.choices() == nil:
		return base{Kind: isRaw}
	case s.Type.has("string"):
		return base{Kind: isString}
	case s.Type.has("boolean"):
		return base{Kind: isBool}
	case s.Type.has("integer"), s.Type.has("number"):
		kind, ok := formats[s.Format]
		failIf(!ok, "%s: number format %q", key, s.Format)
		return base{Kind: kind}
	case s.Type.has("array"):
		elem := v.baseOf(key, "", s.Items)
		return base{Kind: isList, Elem: &elem}
	case s.Type.has("object"):
		if string(s.More) == "true" {
			return base{Kind: isRawObject}
		}
		more := &schema{}
		if err := json.Unmarshal(s.More, more); err != nil {
			fail("%s: %v", key, err)
		}
		elem := v.baseOf(key, "", more)
		return base{Kind: isMap, Elem: &elem}
	}
	fail("%s: not understood", key)
	return base{}
}

var formats = map[string]baseKind{
	"uint16": isUint16, "uint32": isUint32, "uint64": isUint64, "int32": isInt32, "int64": isInt64, "double": isFloat,
}

func (v *vocabulary) formOf(key string, f *field) form {
	form, known := v.tables.forms.get(key)
	switch {
	case known:
		return form
	case f.Required:
		return plain
	case f.Base.is(structType), f.Base.Kind.number(), f.Base.Kind == isBool && f.Nullable:
		return pointer
	}
	return plain
}

// ruleOf finds the rule for a member: that of the schema, of the prose, or that ids,
// and enumerations that must be there, are not empty.
func (v *vocabulary) ruleOf(key string, f *field, s *schema) string {
	if s.MinLen > 0 {
		failIf(s.MinLen != 1, "%s: minLength %d", key, s.MinLen)
		return "min=1"
	}
	if rule, ok := v.tables.prose.get(key); ok {
		return rule
	}
	if s.Format == "uri" {
		return "uri"
	}
	b := f.Base
	if b.Kind == isList {
		b = *b.Elem
	}
	if b.is(stringType) && !v.tables.notIDs.has(b.Type.Def) && (f.Required || b != f.Base || f.Form == opt) {
		return "id"
	}
	if f.Required && b.is(enumType) {
		return "filled"
	}
	return ""
}
