package main

import (
	"cmp"
	"slices"
	"strings"
)

// method is one row of the method table.
type method struct {
	Name         string
	Const        string // the Go constant
	Side         string // the constant of package wire
	Notification bool
	Unstable     bool
	Doc          string
	Params       *goType
	Result       *goType
	Row          methodRow
}

// buildMethods reads the method table from the payloads: each names its method and
// the side that handles it.
func (v *vocabulary) buildMethods(all *facts) {
	found := map[string]*method{}
	for _, d := range all.Defs {
		name, x := d.Schema.Method, v.byDef[d.Name]
		if name == "" {
			continue
		}
		key, note := name, strings.HasSuffix(d.Name, "Notification")
		if note {
			key += "!"
		}
		m := found[key]
		if m == nil {
			row, ok := v.tables.methods.get(key)
			if !ok {
				fail("method %s has no row", key)
			}
			m = &method{
				Name: name, Const: "Method" + goName(name), Side: goName(d.Schema.Side),
				Notification: note, Row: row, Doc: v.texts.need("method " + name),
			}
			found[key] = m
			v.Methods = append(v.Methods, m)
		}
		if strings.HasSuffix(d.Name, "Response") {
			m.Result = x
		} else {
			m.Params = x
		}
		m.Unstable = m.Unstable || x.Unstable
	}
	slices.SortFunc(v.Methods, func(a, b *method) int { return cmp.Compare(a.Name, b.Name) })
}
