package main

import (
	"cmp"
	"slices"
)

// unionOf reads a union.
func (v *vocabulary) unionOf(x *goType, s *schema) *union {
	u := &union{}
	var untagged []*schema
	selfNamed := true // no branch takes all tags that are not known
	for _, c := range s.choices() {
		tag, value, open := tagOf(c)
		switch {
		case open:
			u.Tag, selfNamed = tag, false
			u.Needs = slices.DeleteFunc(slices.Clone(c.Required), func(name string) bool { return name == tag })
		case tag == "":
			untagged = append(untagged, c)
		default:
			u.Tag = tag
			u.Variants = append(u.Variants, variant{value, v.variantType(x, c, tag, value)})
		}
	}
	switch {
	case u.Tag == "":
		u.Variants, u.OneOf = v.presence(untagged), s.OneOf != nil
	case len(untagged) == 1:
		u.Fallback = v.byDef[untagged[0].refName()]
		if selfNamed {
			u.FallbackTag = untagged[0].Title
		}
		u.Guesses = v.tables.guesses.has(x.Name)
	case len(untagged) > 1:
		fail("%s: %d variants without a tag", x.Def, len(untagged))
	}
	unknown, ok := v.tables.unknownNames.get(x.Name)
	if !ok {
		unknown = "Unknown" + x.Name
	}
	if unknown != "" {
		doc := "keeps " + article(x.Name) + " [" + x.Name + "] of a kind unknown to this package unchanged."
		u.Unknown = v.derive(x, &goType{Name: unknown, Kind: unknownType, Doc: doc, Union: u})
	}
	return u
}

// tagOf returns the member and the value that identify a variant. open reports whether it
// takes all values but the known ones.
func tagOf(c *schema) (tag, value string, open bool) {
	for _, p := range c.Props {
		if value, ok := p.Schema.constant(); ok {
			return p.Name, value, false
		}
		if c.Title == "other" {
			return p.Name, "", true
		}
	}
	return "", "", false
}

// variantType returns the struct of a tagged variant. A definition that only this
// variant refers to is the struct itself.
func (v *vocabulary) variantType(x *goType, c *schema, tag, value string) *goType {
	key, stable := x.Def+"."+value, v.stableVariant(x.Def, tag, value)
	of := v.byDef[c.refName()] // nil without a definition
	t := of
	if of == nil || of.Kind == unionType || v.uses[of.Def] > 1 {
		name, ok := v.tables.inlineVariants.get(key)
		failIf(!ok && (of == nil || of.Kind == unionType), "%s: variant %s has no name", x.Def, value)
		t = v.derive(x, &goType{Name: cmp.Or(name, goName(value)), Kind: structType, Doc: v.texts.need("variant " + key)})
	}
	switch {
	case of == nil:
		for _, p := range c.Props {
			if p.Name != tag {
				f := v.fieldOf(t, c, p)
				f.Unstable = stable != nil && stable.Props.find(p.Name) == nil
				t.Fields = append(t.Fields, f)
			}
		}
	case of.Kind == unionType:
		of.Spread = tag
		t.Fields = []*field{{JSON: "-", Name: of.Name, Base: base{Kind: isNamed, Type: of}, Form: inlined, Doc: v.texts.find("field " + key)}}
	case t != of:
		t.Model = of
	}
	t.Unstable = t.Unstable || stable == nil
	t.Tag, t.TagValue = tag, value
	return t
}

// presence distinguishes untagged variants by a member that only one of them requires.
func (v *vocabulary) presence(list []*schema) []variant {
	required := func(c *schema) []string { return v.all.Defs.find(c.refName()).Required }
	var out []variant
	for _, c := range list {
		def := v.byDef[c.refName()]
		failIf(def == nil, "variant %q refers to nothing", c.Title)
		alone := slices.IndexFunc(required(c), func(name string) bool {
			return !slices.ContainsFunc(list, func(other *schema) bool { return other != c && slices.Contains(required(other), name) })
		})
		failIf(alone < 0, "%s: no member tells it from the others", def.Def)
		out = append(out, variant{required(c)[alone], def})
	}
	return out
}
