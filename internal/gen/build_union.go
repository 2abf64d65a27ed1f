package main

import "slices"

// unionOf reads a union.
func (v *vocabulary) unionOf(x *goType, s *schema) *union {
	u := &union{Unknown: "Unknown" + x.Name}
	if name, ok := v.tables.unknownNames.get(x.Name); ok {
		u.Unknown = name
	}
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
	if u.Unknown != "" {
		doc := "is " + article(x.Name) + " [" + x.Name + "] of a kind unknown to this package. It is kept and encoded unchanged."
		v.derive(x, &goType{Name: u.Unknown, Kind: unknownType, Doc: doc, Union: u})
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
	def := x.Def
	ref := c.refName()
	t := v.byDef[ref]
	stable := v.stableVariant(def, tag, value)
	switch {
	case ref == "":
		name, ok := v.tables.inlineVariants.get(def + "." + value)
		if !ok {
			fail("%s: variant %s has no name", def, value)
		}
		t = v.derive(x, &goType{Name: name, Kind: structType, Doc: v.texts.need("variant " + def + "." + value)})
		for _, p := range c.Props {
			if p.Name != tag {
				f := v.fieldOf(t, c, p)
				f.Unstable = stable != nil && stable.Props.find(p.Name) == nil
				t.Fields = append(t.Fields, f)
			}
		}
	case t.Kind == unionType:
		inner := t
		inner.Spread = tag
		name, ok := v.tables.inlineVariants.get(def + "." + value)
		if !ok {
			fail("%s: variant %s has no name", def, value)
		}
		t = v.derive(x, &goType{Name: name, Kind: structType, Doc: v.texts.need("variant " + def + "." + value)})
		t.Fields = []*field{{JSON: "-", Name: inner.Name, Base: base{Kind: isNamed, Type: inner}, Form: inlined,
			Doc: v.texts.find("field " + def + "." + value)}}
	case v.uses[ref] > 1:
		name, ok := v.tables.inlineVariants.get(def + "." + value)
		if !ok {
			name = goName(value)
		}
		t = v.derive(x, &goType{Name: name, Kind: structType, Model: t, Doc: v.texts.need("variant " + def + "." + value)})
	}
	t.Unstable = t.Unstable || stable == nil
	t.Tag, t.TagValue = tag, value
	return t
}

// presence distinguishes untagged variants by a member that only one of them requires.
func (v *vocabulary) presence(list []*schema) []variant {
	required := func(c *schema) []string { return v.all.Defs.find(c.refName()).Required }
	var out []variant
	for i, c := range list {
		def := v.byDef[c.refName()]
		if def == nil {
			fail("variant %q refers to nothing", c.Title)
		}
		key := ""
		for _, name := range required(c) {
			alone := true
			for j, other := range list {
				if i != j && slices.Contains(required(other), name) {
					alone = false
				}
			}
			if alone && key == "" {
				key = name
			}
		}
		if key == "" {
			fail("%s: no member tells it from the others", def.Def)
		}
		out = append(out, variant{key, def})
	}
	return out
}
