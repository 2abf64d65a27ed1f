package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// drift says what the schema files in the folder newer change compared with those in older, in terms of
// this project: methods, types, members, values and variants, their stability, capabilities, and what
// of it is written by hand.
func drift(older, newer string) ([]string, error) {
	var list []string
	for _, ver := range versions {
		before, err := inventory(older, ver)
		if err != nil {
			return nil, err
		}
		after, err := inventory(newer, ver)
		if err != nil {
			return nil, err
		}
		for _, line := range compare(before, after) {
			list = append(list, fmt.Sprintf("version %d: %s", ver.number, line))
		}
	}
	return list, nil
}

// thing is a part of a schema.
type thing struct {
	facts  string // what of it this project depends on
	stable bool
	byHand string // what of it is written by hand, or ""
}

func (t thing) String() string {
	s := "unstable"
	if t.stable {
		s = "stable"
	}
	if t.byHand != "" {
		s += "; by hand: " + t.byHand
	}
	return s
}

func compare(before, after map[string]thing) (list []string) {
	for name, now := range after {
		was, known := before[name]
		switch {
		case !known:
			list = append(list, fmt.Sprintf("+ %s (%s)", name, now))
		case was.facts != now.facts:
			list = append(list, fmt.Sprintf("~ %s: %s -> %s (%s)", name, was.facts, now.facts, now))
		case was.stable != now.stable:
			list = append(list, fmt.Sprintf("~ %s is now %s", name, now))
		}
	}
	for name, was := range before {
		if _, kept := after[name]; !kept {
			list = append(list, fmt.Sprintf("- %s (%s)", name, was))
		}
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
	return list
}

// inventory lists the parts of the schema files of a version by their names.
func inventory(folder string, ver *version) (map[string]thing, error) {
	all, err := readFacts(filepath.Join(folder, fmt.Sprintf("v%d-unstable.json", ver.number)))
	if err != nil {
		return nil, err
	}
	stable, err := readFacts(filepath.Join(folder, fmt.Sprintf("v%d.json", ver.number)))
	if err != nil {
		return nil, err
	}
	t, list := ver.tables(), map[string]thing{}
	add := func(f *facts, isStable bool) {
		for _, d := range f.Defs {
			if envelope(d) {
				continue
			}
			if key := methodKey(d); key != "" {
				hand := "its row in the table of methods, and its texts"
				if row, ok := t.methods.get(key); ok && (row.callHook || row.handleHook) {
					hand = "its hook in the ends"
				} else if ok {
					hand = ""
				}
				list["method "+strings.TrimSuffix(key, "!")] = thing{d.Schema.Side, isStable, hand}
			}
			list["type "+d.Name] = thing{strings.Join(d.Schema.Type, " "), isStable, t.handWritten(d.Name)}
			parts(list, d, isStable)
		}
	}
	add(all, false)
	add(stable, true)
	return list, nil
}

// parts adds the members, the values and the variants of a definition.
func parts(list map[string]thing, d member, isStable bool) {
	kind := "member "
	if strings.HasSuffix(d.Name, "Capabilities") {
		kind = "capability "
	}
	for _, p := range d.Schema.Props {
		if p.Name == "_meta" {
			continue
		}
		facts, _ := json.Marshal(struct {
			Refers               []string
			Type                 types
			Required             bool
			Lenient, Skip, Nulls bool
		}{p.Schema.refers(), p.Schema.Type, slices.Contains(d.Schema.Required, p.Name), p.Schema.Lenient, p.Schema.SkipItems, p.Schema.NullDefault})
		list[kind+d.Name+"."+p.Name] = thing{string(facts), isStable, ""}
	}
	for _, c := range d.Schema.choices() {
		if value, ok := c.constant(); ok {
			list["value "+d.Name+"."+value] = thing{"", isStable, ""}
		}
		if _, value, _ := tagOf(c); value != "" {
			list["variant "+d.Name+"."+value] = thing{c.refName(), isStable, ""}
		}
	}
}

// handWritten says what of a definition is in the tables or written by hand, or "".
func (t *tables) handWritten(def string) string {
	switch {
	case t.foreign.has(def):
		return "its codec"
	case t.flat.has(def), t.folded.has(def):
		return "its form in the tables"
	}
	return ""
}
