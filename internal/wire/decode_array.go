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

// List is the reading of one array into a list:
//
//	l := wire.ListOf[string](d)
//	for l.Next(d) {
//		l.Keep(d.String(l.Item(d)), false)
//	}
//	return l.End(d, p)
type List[T any] struct {
	Array
	items []T
	kept  []T // the items before the current one
}

// ListOf begins to read an array into a list.
func ListOf[T any](d *Decoder) List[T] { return List[T]{Array: d.Array(), items: []T{}} }

// Item returns the place of the current element, which is about to be read.
func (l *List[T]) Item(d *Decoder) *T {
	l.kept = l.items
	if n := len(l.items); n == cap(l.items) && n*sizeOf[T]() >= countFrom {
		l.items = append(make([]T, 0, n+d.elementsLeft()), l.items...)
	}
	var zero T
	l.items = append(l.items, zero)
	return &l.items[len(l.items)-1]
}

// Keep is Array.Keep for the place that Item returned. An element that is not kept leaves the list.
func (l *List[T]) Keep(errs *FieldErrors, skip bool) {
	if errs != nil {
		l.Array.Keep(errs, skip)
		l.items = l.kept // and the memory that was taken for it is free again
	}
}

// elementsLeft returns how many elements of the array there are from the next one on.
func (d *Decoder) elementsLeft() int {
	start := d.i
	d.Skip()
	n := 1
	for d.peek() == ',' {
		d.i++
		d.peek()
		d.Skip()
		n++
	}
	d.i = start
	return n
}

// End sets p to the list and charges it, or returns all violations.
func (l *List[T]) End(d *Decoder, p *[]T) *FieldErrors {
	if l.errs == nil {
		*p = trim(d, l.items)
	}
	return l.errs
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
	l := ListOf[S](d)
	for l.Next(d) {
		var s string
		item := l.Item(d)
		l.Keep(d.String(&s), skip)
		*item = S(s)
	}
	return l.End(d, p)
}

// ReadUints reads an array of unsigned numbers. With skip it drops other elements.
func ReadUints[T ~uint16 | ~uint32 | ~uint64](d *Decoder, p *[]T, skip bool) *FieldErrors {
	l := ListOf[T](d)
	for l.Next(d) {
		l.Keep(ReadUint(d, l.Item(d)), skip)
	}
	return l.End(d, p)
}
