package wire

import "strconv"

// Array reads one array, element by element.
type Array struct {
	n    int // elements read so far, including the current one
	open bool
	errs *FieldErrors
	bad  int // number of violations so far
}

// Array begins to read an array.
func (d *Decoder) Array() Array {
	if d.peek() != '[' {
		return Array{errs: d.Mismatch("array")}
	}
	d.i++
	return Array{open: true}
}

// Next advances to the next element, which the caller must then consume. It returns false after the
// last one.
func (a *Array) Next(d *Decoder) bool {
	if !a.open {
		return false
	}
	c := d.peek()
	if c == ',' && a.n > 0 {
		d.i++
		c = d.peek()
	}
	if a.bad >= maxViolations { // too many to list, and the value is invalid anyway
		for c != ']' && c != 0 {
			d.Skip()
			if c = d.peek(); c == ',' {
				d.i++
				c = d.peek()
			}
		}
	}
	if c == ']' || c == 0 {
		a.open = false
		d.i = min(d.i+1, len(d.b))
		return false
	}
	a.n++
	return true
}

// Keep records the violations of the current element, or nil, and reports whether to keep the
// element. With skip a bad element is dropped and not reported.
func (a *Array) Keep(errs *FieldErrors, skip bool) bool {
	if errs == nil {
		return true
	}
	if !skip {
		if a.errs == nil {
			a.errs = &FieldErrors{}
		}
		a.errs.Field(strconv.Itoa(a.n - 1)).merge(errs)
		a.bad += errs.count()
	}
	return false
}

// End returns all violations.
func (a *Array) End() *FieldErrors { return a.errs }

// countFrom is the size in bytes from which a list is allocated for all its elements at once. A
// list that grows in steps allocates several times its final size.
const countFrom = 4 << 10

// Append appends the element just read to the list.
func Append[T any](d *Decoder, list []T, x T) []T {
	if len(list) == cap(list) && cap(list)*sizeOf[T]() >= countFrom {
		list = append(make([]T, 0, len(list)+1+d.elementsLeft()), list...)
	}
	return append(list, x)
}

// elementsLeft returns how many elements of the array follow the one that was just read.
func (d *Decoder) elementsLeft() (n int) {
	start := d.i
	for d.peek() == ',' {
		d.i++
		d.peek()
		d.Skip()
		n++
	}
	d.i = start
	return n
}

// EndList finishes reading an array into list, and charges the list.
func EndList[T any](d *Decoder, a *Array, p *[]T, list []T) *FieldErrors {
	if a.errs == nil {
		*p = trim(d, list)
	}
	return a.errs
}

// trim charges a list. It copies a long list whose capacity is much larger than its length.
func trim[T any](d *Decoder, list []T) []T {
	size := sizeOf[T]()
	if spare := (cap(list) - len(list)) * size; spare > 1<<10 && spare > cap(list)*size/8 {
		list = append(make([]T, 0, len(list)), list...)
	}
	d.Hold(cap(list) * size)
	return list
}

// ReadStrings reads an array of strings. With skip it drops other elements.
func ReadStrings[S ~string](d *Decoder, p *[]S, skip bool) *FieldErrors {
	a := d.Array()
	list := []S{}
	for a.Next(d) {
		var s string
		if a.Keep(d.String(&s), skip) {
			list = Append(d, list, S(s))
		}
	}
	return EndList(d, &a, p, list)
}

// ReadUints reads an array of unsigned numbers. With skip it drops other elements.
func ReadUints[T ~uint16 | ~uint32 | ~uint64](d *Decoder, p *[]T, skip bool) *FieldErrors {
	a := d.Array()
	list := []T{}
	for a.Next(d) {
		var n T
		if a.Keep(ReadUint(d, &n), skip) {
			list = Append(d, list, n)
		}
	}
	return EndList(d, &a, p, list)
}
