package main

import (
	"cmp"
	"slices"
	"strings"
)

// methodRow holds what the facts do not say about a method. Its texts are "handle" (for those who
// implement it) and "call" (for those who call it).
type methodRow struct {
	key   string // the method's name; that of a notification ends with "!"
	order int    // the position among the rows

	// name is the Go name of the method, on the role that handles it and on the Conn
	// that calls it; "" if no end does.
	name string
	// role is the interface that has the method. The roles Agent and Client are the
	// baseline, all others optional.
	role string

	// capability is the path that the handling end advertises, and that callers check.
	capability string
	// bits lists the capabilities that promise the method, if not capability: an end that
	// advertises one of them must have the method.
	bits []string
	// implied is the capability that an end with the role advertises, if not capability. With names
	// a role that it must have as well.
	implied, with string

	strict   bool // the prose's rules hold for params that arrive
	waits    bool // waits for people or processes
	streams  bool // updates flow while the call waits
	turn     bool // is a turn of its session, which endsTurns ends
	endsTurn bool // ends the turns of its session when it is read

	// The ends add to these by hand, in an unexported method of the same name.
	callHook, handleHook bool
}

// none means that no capability promises a method.
var none = []string{}

// promises lists the capabilities that promise the method.
func (r *methodRow) promises() []string {
	if r.bits == nil && r.capability != "" {
		return []string{r.capability}
	}
	return r.bits
}

// implies returns the capability that an end with the role is taken to have.
func (r *methodRow) implies() string {
	if r.implied != "" {
		return r.implied
	}
	return r.capability
}

func (t *tables) setMethods(lists ...[]methodRow) {
	for i, r := range slices.Concat(lists...) {
		r.order = i
		t.methods.add(map[string]methodRow{r.key: r})
	}
}

// handledBy returns the methods that the side ("Agent" or "Client") handles, in the order of
// the protocol.
func (v *vocabulary) handledBy(side string) []*method {
	list := slices.DeleteFunc(slices.Clone(v.Methods), func(m *method) bool { return m.Side != side || m.Row.name == "" })
	slices.SortFunc(list, func(a, b *method) int { return cmp.Compare(a.Row.order, b.Row.order) })
	return list
}

// role is one interface with its methods.
type role struct {
	Name     string
	Doc      string
	Unstable bool
	Methods  []*method
}

// roles returns the interfaces of a side, the baseline first.
func (v *vocabulary) roles(side string) []*role {
	var list []*role
	for _, m := range v.handledBy(side) {
		i := slices.IndexFunc(list, func(r *role) bool { return r.Name == m.Row.role })
		if i < 0 {
			i = len(list)
			list = append(list, &role{Name: m.Row.role, Doc: v.texts.need("role " + m.Row.role), Unstable: m.Unstable})
		}
		list[i].Methods = append(list[i].Methods, m)
	}
	slices.SortStableFunc(list, func(a, b *role) int { return a.rank(side) - b.rank(side) })
	return list
}

func (r *role) constants(pkg string) (list []string) {
	for _, m := range r.Methods {
		list = append(list, pkg+m.Const)
	}
	return list
}

// rank orders roles: the baseline, the optional ones, the unstable ones.
func (r *role) rank(side string) int {
	switch {
	case r.Name == side:
		return 0
	case r.Unstable:
		return 2
	}
	return 1
}

// method is one row of the method table.
type method struct {
	Name         string
	Const        string // the Go constant
	Side         string // the constant of package wire
	Notification bool
	Unstable     bool
	Params       *goType
	Result       *goType
	Row          methodRow
}

// methodKey returns the key of the method whose payload d is, or "".
func methodKey(d member) string {
	if d.Schema.Method != "" && strings.HasSuffix(d.Name, "Notification") {
		return d.Schema.Method + "!"
	}
	return d.Schema.Method
}

// handled reports whether an end handles the method whose payload d is. Other methods have a row
// in the method table, but no types and no constant.
func (v *vocabulary) handled(d member) bool {
	row, ok := v.tables.methods.get(methodKey(d))
	return !ok || row.name != ""
}

// buildMethods reads the method table from the payloads: each names its method and
// the side that handles it.
func (v *vocabulary) buildMethods(all *facts) {
	found := map[string]*method{}
	for _, d := range all.Defs {
		key, x := methodKey(d), v.byDef[d.Name]
		if key == "" {
			continue
		}
		name, note := strings.CutSuffix(key, "!")
		m := found[key]
		if m == nil {
			row, ok := v.tables.methods.get(key)
			failIf(!ok, "method %s has no row", key)
			m = &method{
				Name: name, Const: "Method" + goName(name), Side: goName(d.Schema.Side),
				Notification: note, Row: row,
			}
			found[key] = m
			v.Methods = append(v.Methods, m)
		}
		if strings.HasSuffix(d.Name, "Response") {
			m.Result = x
		} else {
			m.Params = x
		}
		m.Unstable = m.Unstable || v.stable.Defs.find(d.Name) == nil
	}
	slices.SortFunc(v.Methods, func(a, b *method) int { return cmp.Compare(a.Name, b.Name) })
}
