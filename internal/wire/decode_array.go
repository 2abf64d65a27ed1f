package wire

import "strconv"

// Array is the reading of one array, element by element.
type Array struct {
	n    int // elements begun
	open bool
	errs *FieldErrors
	bad  int // complaints so far
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
		if a.bad < maxComplaints {
			a.errs.Field(strconv.Itoa(a.n - 1)).merge(errs)
		}
		a.bad += errs.count()
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
