package wire

import "encoding/json"

// Object is the reading of one object, member by member:
//
//	o := d.Object()
//	for o.Next(d) {
//		switch string(o.Name) {
//		case "path":
//			_ = o.Is(d, 0) && o.Check(d.String(&v.Path))
//		}
//	}
//	return o.End("path")
//
// Members that must be there have the numbers from 0 on, in the order in which
// End lists them; the others follow.
type Object struct {
	Name []byte // name of the current member, unescaped

	found bool // the value is an object
	open  bool // its end has not been read
	more  bool // at least one member has been read
	at    int  // where the value of the current member begins
	seen  uint64
	errs  *FieldErrors
	bad   int // number of violations so far
}

// Object begins to read an object.
func (d *Decoder) Object() Object {
	if d.peek() != '{' {
		return Object{errs: d.Mismatch("object")}
	}
	d.i++
	return Object{found: true, open: true}
}

// Next advances to the next member. If the caller does not touch its value, the following call
// consumes it. Next returns false after the last member.
func (o *Object) Next(d *Decoder) bool {
	if !o.open {
		return false
	}
	if o.more && d.i == o.at {
		d.Skip()
	}
	c := d.peek()
	if c == ',' && o.more {
		d.i++
		c = d.peek()
	}
	o.more = true
	if c != '"' {
		o.open = false
		d.i = min(d.i+1, len(d.b)) // the closing brace
		return false
	}
	start := d.i
	seg, ok := d.segment()
	if !ok {
		d.i = start
		seg = d.unquote()
	}
	o.Name = seg
	if d.i < len(d.b) && d.b[d.i] == ':' || d.peek() == ':' {
		d.i++
	}
	o.at = d.i
	return true
}

// Is reports whether the current member, which has the given number, occurs for the
// first time. A repeated member is a violation and is consumed.
func (o *Object) Is(d *Decoder, number uint) bool {
	bit := uint64(1) << number
	if o.seen&bit != 0 {
		o.Duplicate(d)
		return false
	}
	o.seen |= bit
	return true
}

// Duplicate consumes the value of a repeated member and records the violation.
func (o *Object) Duplicate(d *Decoder) {
	d.Skip()
	o.Check(Violation("duplicate member"))
}

// Keep reads a member that the protocol does not define into extra.
func (o *Object) Keep(d *Decoder, extra *map[string]json.RawMessage) {
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	name, raw := string(o.Name), []byte(nil)
	_ = d.Raw(&raw)
	before := len(*extra)
	(*extra)[name] = raw
	d.Hold(len(name))
	d.held += mapSize(len(*extra), stringHeader+sliceHeader) - mapSize(before, stringHeader+sliceHeader)
}

// Found reports whether the value was an object.
func (o *Object) Found() bool { return o.found }

// Skip consumes the current member, which another type reads. It may occur once.
func (o *Object) Skip(d *Decoder, number uint) {
	if o.Is(d, number) {
		d.Skip()
	}
}

// Check records the violations of the current member, or nil, and reports whether there are none.
func (o *Object) Check(errs *FieldErrors) bool {
	if errs != nil {
		o.check(errs)
	}
	return errs == nil
}

func (o *Object) check(errs *FieldErrors) { o.member(string(o.Name), errs) }

func (o *Object) member(name string, errs *FieldErrors) {
	if o.errs == nil {
		o.errs = &FieldErrors{}
	}
	if o.bad < maxViolations {
		o.errs.Field(name).merge(errs)
	}
	o.bad += errs.count()
}

// maxViolations is how many violations are recorded for one object or array, including everything
// in it. Without it, a hostile message could become a tree many times its size.
const maxViolations = 100

// Merge adds the violations of another reading of the same object.
func (o *Object) Merge(errs *FieldErrors) {
	if errs == nil {
		return
	}
	if o.errs == nil {
		o.errs = &FieldErrors{}
	}
	o.errs.merge(errs)
}

// End returns all violations. The required members, which have the numbers from 0 on, must have
// been read.
func (o *Object) End(required ...string) *FieldErrors {
	all := uint64(1)<<len(required) - 1
	if o.seen&all != all && o.found {
		o.missing(required)
	}
	return o.errs
}

func (o *Object) missing(required []string) {
	for i, name := range required {
		if o.seen&(1<<i) == 0 {
			o.member(name, Violation("missing"))
		}
	}
}

// StringMap reads an object whose members are all strings.
func (d *Decoder) StringMap(p *map[string]string) *FieldErrors {
	o := d.Object()
	m := map[string]string{}
	for o.Next(d) {
		name := d.Text(o.Name)
		if _, twice := m[name]; twice {
			o.Duplicate(d)
			continue
		}
		var value string
		o.Check(d.String(&value))
		m[name] = value
	}
	return EndMap(d, &o, p, m)
}

// EndMap finishes reading an object into m, and charges the map.
func EndMap[T any](d *Decoder, o *Object, p *map[string]T, m map[string]T) *FieldErrors {
	d.held += mapSize(len(m), stringHeader+sizeOf[T]())
	if o.errs == nil {
		*p = m
	}
	return o.errs
}
