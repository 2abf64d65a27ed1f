package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// vocabulary is the model of one version of the protocol.
type vocabulary struct {
	Types   []*goType // in the order of the facts; derived ones after their origin
	Methods []*method

	version *version
	older   *vocabulary // of the version before, whose types may be the same
	header  string      // on top of every file
	tables  *tables

	texts  *texts
	all    *facts
	stable *facts
	byDef  map[string]*goType
	byName map[string]*goType
	uses   map[string]int // how many variants refer to a definition
}

// build reads the facts into the model. A definition that stable lacks is unstable.
func build(all, stable *facts, t *texts, rows *tables) (v *vocabulary, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case broken:
			err = fmt.Errorf("%s", string(r))
		default:
			panic(r)
		}
	}()
	v = &vocabulary{tables: rows, texts: t, all: all, stable: stable, byDef: map[string]*goType{}, byName: map[string]*goType{}, uses: map[string]int{}}
	for _, d := range all.Defs {
		for _, c := range d.Schema.choices() {
			if ref := c.refName(); ref != "" && !envelope(d) {
				v.uses[ref]++
			}
		}
	}
	for _, d := range all.Defs {
		if !envelope(d) && !v.tables.builtins.has(d.Name) && v.handled(d) {
			v.declare(d)
		}
	}
	var late []member // those with a union of another definition, which comes before them
	for _, d := range all.Defs {
		if row, ok := v.tables.flat.get(d.Name); ok && row.doc == "" {
			late = append(late, d)
		} else if x := v.byDef[d.Name]; x != nil {
			v.define(x, d.Schema)
		}
	}
	for _, d := range late {
		v.define(v.byDef[d.Name], d.Schema)
	}
	v.Types = slices.DeleteFunc(v.Types, func(x *goType) bool { return x.Folded })
	v.shareMetaOnly()
	v.markRuled()
	v.buildMethods(all)
	return v, nil
}

// broken is an error for facts that the generator does not support.
type broken string

func fail(format string, args ...any) { panic(broken(fmt.Sprintf(format, args...))) }

func failIf(wrong bool, format string, args ...any) {
	if wrong {
		fail(format, args...)
	}
}

// declare makes the type of a definition without its content, so that others can refer to it.
func (v *vocabulary) declare(d member) {
	key := "type " + d.Name
	x := &goType{
		Def: d.Name, Name: goName(d.Name), Doc: v.texts.find(key), Topic: v.texts.topicOf(key),
		Unstable: v.stable.Defs.find(d.Name) == nil,
	}
	s := d.Schema
	if row, ok := v.tables.foreign.get(d.Name); ok {
		x.Kind, x.Name, x.Interface, x.Ruled, x.Schema = foreignType, row.name, row.iface, row.ruled, s
	} else if s.Type.has("string") {
		x.Kind = stringType
	} else if s.Type.has("object") {
		x.Kind = structType
	} else if c := s.choices()[0]; c.Type.has("string") {
		x.Kind = enumType
	} else if c.Type.has("integer") {
		x.Kind = numberType
	} else {
		x.Kind = unionType
	}
	v.add(len(v.Types), x)
	v.byDef[d.Name] = x
}

func (v *vocabulary) add(at int, x *goType) {
	failIf(v.byName[x.Name] != nil, "two types %s", x.Name)
	v.byName[x.Name] = x
	v.Types = slices.Insert(v.Types, at, x)
}

// derive adds a type that the facts do not define by name, after its origin.
func (v *vocabulary) derive(from *goType, x *goType) *goType {
	x.Def, x.Topic = from.Def, from.Topic
	x.Unstable = x.Unstable || from.Unstable
	v.add(slices.Index(v.Types, from)+1, x)
	return x
}

func (v *vocabulary) define(x *goType, s *schema) {
	switch x.Kind {
	case enumType, numberType:
		v.defineValues(x, s)
	case structType:
		v.defineStruct(x, s)
	case unionType:
		x.Union = v.unionOf(x, s)
	}
}

func (v *vocabulary) defineValues(x *goType, s *schema) {
	for _, c := range s.choices() {
		if c.Const == nil {
			continue // the branch for all other values
		}
		value, name := string(c.Const), c.Title
		if text, ok := c.constant(); ok {
			name, value = text, text
		}
		doc := v.texts.need("value " + x.Def + "." + value)
		x.Values = append(x.Values, enumValue{Name: x.Name + goName(name), Value: value, Doc: doc})
	}
}

func (v *vocabulary) defineStruct(x *goType, s *schema) {
	for _, p := range s.Props {
		x.Fields = append(x.Fields, v.fieldOf(x, s, p))
	}
	x.Extra = string(s.More) == "true"
	if row, ok := v.tables.folded.get(x.Def); ok {
		v.fold(x, s, row.tag, row.enum, row.doc)
	} else if row, ok := v.tables.flat.get(x.Def); ok {
		u := v.byName[row.union]
		if u == nil {
			u = v.derive(x, &goType{Name: row.union, Kind: unionType, Doc: row.doc})
			if foreign, ok := v.tables.foreign.get(row.union); ok {
				u.Kind, u.Interface = foreignType, foreign.iface
			} else {
				u.Union = v.unionOf(u, s)
				u.Union.Flat = true
				for _, f := range x.Fields {
					u.Union.Common = append(u.Union.Common, f.JSON)
				}
			}
		}
		x.Fields = append(x.Fields, &field{
			JSON: "-", Name: row.field, Base: base{Kind: isNamed, Type: u}, Form: inlined,
			Doc: v.texts.find("field " + x.Def + "." + row.field),
		})
	} else if s.choices() != nil {
		fail("%s: members beside a union", x.Def)
	}
	slices.SortStableFunc(x.Fields, func(a, b *field) int { return cmp.Compare(rank(a), rank(b)) })
}

// rank puts _meta last.
func rank(f *field) int {
	if f.Base.Kind == isMeta {
		return 1
	}
	return 0
}

// fold makes an enumeration of a union's tag and adds the members of the payloads. Members beside
// an unknown tag are kept.
func (v *vocabulary) fold(x *goType, s *schema, tag, enum, doc string) {
	e := v.derive(x, &goType{Name: enum, Kind: enumType, Doc: doc})
	for _, c := range s.choices() {
		if _, _, open := tagOf(c); open && string(c.More) == "true" {
			x.Extra = true
		}
		value, ok := c.Props.find(tag).constant()
		if ok {
			doc := v.texts.need("value "+x.Def+"."+value, "value StopReason."+value)
			e.Values = append(e.Values, enumValue{Name: enum + goName(value), Value: value, Doc: doc})
		}
		if ref := c.refName(); ref != "" {
			payload := v.byDef[ref]
			payload.Folded = true
			for _, f := range payload.Fields {
				f.Doc = v.texts.find("field "+x.Def+"."+f.JSON, "field "+ref+"."+f.JSON)
				f.PayloadTag, f.PayloadOf = tag, value
				x.Fields = append(x.Fields, f)
			}
		}
	}
	for _, f := range x.Fields {
		if f.JSON == tag {
			f.Base = base{Kind: isNamed, Type: e}
		}
	}
}

// shareMetaOnly gives one codec to all structs whose only member is _meta.
func (v *vocabulary) shareMetaOnly() {
	var model *goType
	for _, x := range slices.Clone(v.Types) {
		if x.Kind != structType || x.Tag != "" || len(x.Fields) != 1 || x.Fields[0].Base.Kind != isMeta {
			continue
		}
		if model == nil {
			model = v.derive(x, &goType{
				Name: "MetaOnly", Kind: structType, Hidden: true, Fields: x.Fields,
				Doc: "has the members of all types that hold nothing but _meta.",
			})
			model.Topic = v.texts.topicOf("common _meta")
		}
		x.Model = model
	}
}

// stableField reports whether the stable facts know the member too.
func (v *vocabulary) stableField(def, name string) bool {
	d := v.stable.Defs.find(def)
	return d != nil && d.Props.find(name) != nil
}

// stableVariant returns the variant in the stable facts, or nil if they do not know it.
func (v *vocabulary) stableVariant(def, tag, value string) *schema {
	d := v.stable.Defs.find(def)
	if d == nil {
		return nil
	}
	for _, c := range d.choices() {
		if p := c.Props.find(tag); p != nil {
			if known, _ := p.constant(); known == value {
				return c
			}
		}
	}
	return nil
}

// article returns the article for a Go name: a ContentBlock, an MCPServer.
func article(name string) string {
	if strings.ContainsRune("AEIO", rune(name[0])) || strings.HasPrefix(name, "MCP") {
		return "an"
	}
	return "a"
}
