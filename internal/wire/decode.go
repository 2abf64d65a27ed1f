package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Decoder reads the typed form of one JSON value. It belongs to one goroutine.
//
// Every method that reads a value consumes exactly that value, whether or not it
// fits what was asked for, so the caller can go on behind it. What does not fit
// is a complaint (a FieldErrors tree without path) and leaves the target alone.
//
// The bytes have been checked by Skip. A Decoder does not check them again, but
// stays within bounds on any input.
type Decoder struct {
	b    []byte
	i    int
	text text
}

// NewDecoder returns a Decoder for the JSON value raw, which is only read and
// not kept beyond the decoding.
func NewDecoder(raw []byte) Decoder { return Decoder{b: raw} }

// End turns the outcome of decoding into that of Codec.Decode.
func (d *Decoder) End(v any, errs *FieldErrors) (any, error) {
	if errs != nil {
		return nil, &DecodeError{Fields: errs}
	}
	return v, nil
}

// Absent tells whether raw holds nothing: no bytes or null. Types without
// required members read it as their zero value.
func Absent(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// peek skips white space and returns the first byte of the next value, 0 at the
// end.
func (d *Decoder) peek() byte {
	if d.i < len(d.b) && d.b[d.i] > ' ' {
		return d.b[d.i]
	}
	if d.i = skipSpace(d.b, d.i); d.i < len(d.b) {
		return d.b[d.i]
	}
	return 0
}

// Skip consumes a value.
func (d *Decoder) Skip() {
	end, err := Skip(d.b, d.i, MaxDepth)
	if err != nil {
		end = len(d.b)
	}
	d.i = end
}

// Null consumes a null and tells whether there was one.
func (d *Decoder) Null() bool {
	if d.peek() != 'n' {
		return false
	}
	d.Skip()
	return true
}

// Mark returns the place of the next value for Return.
func (d *Decoder) Mark() int {
	d.peek()
	return d.i
}

// Return goes back to a place that Mark returned, to read a value once more.
func (d *Decoder) Return(mark int) { d.i = mark }

// Kind returns what the next value is: '"', '{', '[', 't' for booleans, 'n' for
// null, '0' for numbers, 0 if there is none.
func (d *Decoder) Kind() byte {
	switch c := d.peek(); c {
	case '"', '{', '[', 't', 'n', 0:
		return c
	case 'f':
		return 't'
	default:
		return '0'
	}
}

// Mismatch consumes a value that is not what was asked for and says so.
func (d *Decoder) Mismatch(want string) *FieldErrors {
	got := kindNames[d.Kind()]
	d.Skip()
	return Complain("expected " + want + ", got " + got)
}

var kindNames = map[byte]string{
	'"': "string", '{': "object", '[': "array", 't': "boolean", 'n': "null", '0': "number", 0: "nothing",
}

// String reads a string.
func (d *Decoder) String(p *string) *FieldErrors {
	if d.peek() != '"' {
		return d.Mismatch("string")
	}
	*p = d.readString()
	return nil
}

// NonEmpty reads a string that must have at least one character.
func (d *Decoder) NonEmpty(p *string) *FieldErrors {
	var s string
	errs := d.String(&s)
	if errs == nil && s == "" {
		return Complain("must not be empty")
	}
	*p = s
	return errs
}

// StringPtr reads a string into a new variable.
func (d *Decoder) StringPtr(p **string) *FieldErrors {
	var s string
	errs := d.String(&s)
	if errs == nil {
		*p = &s
	}
	return errs
}

// Enum reads a string whose usual values are known; those are not allocated.
func (d *Decoder) Enum(p *string, known []string) *FieldErrors {
	if d.peek() != '"' {
		return d.Mismatch("string")
	}
	start := d.i
	if seg, plain := d.segment(); plain {
		for _, word := range known {
			if string(seg) == word {
				*p = word
				return nil
			}
		}
	}
	d.i = start
	*p = d.readString()
	return nil
}

// Bool reads a boolean.
func (d *Decoder) Bool(p *bool) *FieldErrors {
	c := d.peek()
	if c != 't' && c != 'f' {
		return d.Mismatch("boolean")
	}
	*p = c == 't'
	d.Skip()
	return nil
}

// BoolPtr reads a boolean into a new variable.
func (d *Decoder) BoolPtr(p **bool) *FieldErrors {
	var v bool
	errs := d.Bool(&v)
	if errs == nil {
		*p = &v
	}
	return errs
}

// Raw copies a value as it is.
func (d *Decoder) Raw(p *[]byte) *FieldErrors {
	d.peek()
	start := d.i
	d.Skip()
	*p = bytes.Clone(d.b[start:d.i])
	return nil
}

// RawObject copies an object as it is.
func (d *Decoder) RawObject(p *[]byte) *FieldErrors {
	if d.peek() != '{' {
		return d.Mismatch("object")
	}
	return d.Raw(p)
}

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
	if o.bad++; o.bad <= maxComplaints {
		o.errs.Field(name).merge(errs)
	}
}

// maxComplaints bounds what is told of one object or array: a hostile message must
// not grow into a tree many times its size.
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

// Array is the reading of one array, element by element.
type Array struct {
	n    int // elements begun
	open bool
	errs *FieldErrors
}

// Array begins to read an array.
func (d *Decoder) Array() Array {
	if d.peek() != '[' {
		return Array{errs: d.Mismatch("array")}
	}
	d.i++
	return Array{open: true}
}

// Next goes to the next element, which must then be consumed. It returns false
// behind the last one.
func (a *Array) Next(d *Decoder) bool {
	if !a.open {
		return false
	}
	c := d.peek()
	if c == ',' && a.n > 0 {
		d.i++
		c = d.peek()
	}
	if c == ']' || c == 0 {
		a.open = false
		d.i = min(d.i+1, len(d.b))
		return false
	}
	a.n++
	return true
}

// Keep takes complaints about the current element, or nil, and tells whether to
// keep the element. With skip a bad element is dropped in silence.
func (a *Array) Keep(errs *FieldErrors, skip bool) bool {
	if errs == nil {
		return true
	}
	if !skip {
		if a.errs == nil {
			a.errs = &FieldErrors{}
		}
		if len(a.errs.Fields) < maxComplaints {
			a.errs.Field(strconv.Itoa(a.n - 1)).merge(errs)
		}
	}
	return false
}

// End returns all complaints.
func (a *Array) End() *FieldErrors { return a.errs }

// ReadStrings reads an array of strings. With skip it drops what is not a string.
func ReadStrings[S ~string](d *Decoder, p *[]S, skip bool) *FieldErrors {
	a := d.Array()
	list := []S{}
	for a.Next(d) {
		var s string
		if a.Keep(d.String(&s), skip) {
			list = append(list, S(s))
		}
	}
	if a.errs == nil {
		*p = list
	}
	return a.errs
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

// Tag looks ahead into the object that comes next for a member that holds a
// string, and returns that string. The object is not consumed. found is false
// when there is no such member, or no object; a member that is not a string is
// nil with found true.
func (d *Decoder) Tag(name string) (tag []byte, found bool) {
	if tag = d.firstTag(name); tag != nil {
		return tag, true
	}
	start := d.Mark()
	if d.peek() != '{' {
		return nil, false
	}
	for o := d.Object(); o.Next(d); {
		if string(o.Name) != name {
			d.Skip()
			continue
		}
		found = true
		if d.peek() == '"' {
			if tag = d.unquote(); tag == nil {
				tag = []byte{}
			}
		}
		break
	}
	d.Return(start)
	return tag, found
}

// firstTag is Tag for objects that begin with it and have no white space, as
// nearly all have that programs write.
func (d *Decoder) firstTag(name string) []byte {
	b := d.b[d.i:]
	n := len(name)
	if len(b) < n+6 || b[0] != '{' || b[1] != '"' || string(b[2:2+n]) != name || string(b[2+n:5+n]) != `":"` {
		return nil
	}
	b = b[5+n:]
	for i, c := range b {
		switch {
		case c == '"':
			return b[:i:i]
		case c == '\\' || c < 0x20 || c >= utf8.RuneSelf:
			return nil
		}
	}
	return nil
}

// Has looks ahead into the object that comes next for a member.
func (d *Decoder) Has(name string) bool {
	_, found := d.Tag(name)
	return found
}

// HasString looks ahead into the object that comes next for a member that holds a
// string.
func (d *Decoder) HasString(name string) bool {
	tag, _ := d.Tag(name)
	return tag != nil
}

// Untagged consumes a union's value that names no variant, and says so.
func (d *Decoder) Untagged(member string, found bool) *FieldErrors {
	if d.peek() != '{' {
		return d.Mismatch("object")
	}
	d.Skip()
	errs := &FieldErrors{}
	if found {
		errs.Add([]string{member}, "expected string")
	} else {
		errs.Add([]string{member}, "missing")
	}
	return errs
}

// Without copies the object that comes next as it is, but leaves out the members
// that are named.
func (d *Decoder) Without(p *[]byte, names ...string) *FieldErrors {
	o := d.Object()
	out := []byte{'{'}
members:
	for o.Next(d) {
		start := d.Mark()
		d.Skip()
		for _, name := range names {
			if string(o.Name) == name {
				continue members
			}
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = AppendString(out, string(o.Name))
		out = append(out, ':')
		out = append(out, d.b[start:d.i]...)
	}
	if o.errs == nil {
		*p = append(out, '}')
	}
	return o.errs
}
