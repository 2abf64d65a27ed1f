package wire

import "encoding/json"

// Object is the reading of one object, member by member:
//
//	o := d.Object()
//	for o.Next(d) {
//		switch string(o.Name) {
//		case "path":
//			if o.Is(d, 0) {
//				o.Check(d.String(&v.Path))
//			}
//		default:
//			d.Skip()
//		}
//	}
//	return o.End("path")
//
// Members that must be there have the numbers from 0 on, in the order in which
// End lists them; the others follow.
type Object struct {
	Name []byte // of the current member, unescaped

	found bool // there is an object
	open  bool // its end has not been seen
	more  bool // at least one member has been read
	seen  uint64
	errs  *FieldErrors
	bad   int // complaints so far
}

// Object begins to read an object.
func (d *Decoder) Object() Object {
	if d.peek() != '{' {
		return Object{errs: d.Mismatch("object")}
	}
	d.i++
	return Object{found: true, open: true}
}

// Next goes to the next member; its value must then be consumed. It returns
// false behind the last one.
func (o *Object) Next(d *Decoder) bool {
	if !o.open {
		return false
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
	return true
}

// Is tells whether the current member, which has the given number, comes for the
// first time. A repeated one is a complaint and consumed.
func (o *Object) Is(d *Decoder, number uint) bool {
	bit := uint64(1) << number
	if o.seen&bit != 0 {
		o.Duplicate(d)
		return false
	}
	o.seen |= bit
	return true
}

// Duplicate consumes the value of a member that must not come again.
func (o *Object) Duplicate(d *Decoder) {
	d.Skip()
	o.Check(Complain("duplicate member"))
}

// Keep reads a member that the protocol does not define into extra.
func (o *Object) Keep(d *Decoder, extra *map[string]json.RawMessage) {
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	name, raw := string(o.Name), []byte(nil)
	_ = d.Raw(&raw)
	(*extra)[name] = raw
}

// Found tells whether there was an object at all.
func (o *Object) Found() bool { return o.found }

// Check takes complaints about the current member, or nil.
func (o *Object) Check(errs *FieldErrors) {
	if errs != nil {
		o.check(errs)
	}
}

func (o *Object) check(errs *FieldErrors) { o.member(string(o.Name), errs) }

func (o *Object) member(name string, errs *FieldErrors) {
	if o.errs == nil {
		o.errs = &FieldErrors{}
	}
	if o.bad < maxComplaints {
		o.errs.Field(name).merge(errs)
	}
	o.bad += errs.count()
}

// maxComplaints is how many complaints about one object or array are enough, those
// about what is in it among them: a hostile message must not grow into a tree many
// times its size.
const maxComplaints = 100

// Merge takes complaints about the object itself, from another reading of it.
func (o *Object) Merge(errs *FieldErrors) {
	if errs == nil {
		return
	}
	if o.errs == nil {
		o.errs = &FieldErrors{}
	}
	o.errs.merge(errs)
}

// End returns all complaints. The members it is given, those numbered from 0 on,
// must have been seen.
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
			o.member(name, Complain("missing"))
		}
	}
}

// StringMap reads an object whose members are all strings.
func (d *Decoder) StringMap(p *map[string]string) *FieldErrors {
	o := d.Object()
	m := map[string]string{}
	for o.Next(d) {
		name, value := string(o.Name), ""
		o.Check(d.String(&value))
		if _, twice := m[name]; twice {
			o.Check(Complain("duplicate member"))
		}
		m[name] = value
	}
	if o.errs == nil {
		*p = m
	}
	return o.errs
}
