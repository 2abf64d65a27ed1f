package wire

// ScalarKind is the kind of a Scalar. ScalarNone is another kind of value, which was not read.
type ScalarKind uint8

// The kinds of scalars.
const (
	ScalarNone ScalarKind = iota
	ScalarString
	ScalarBool
	ScalarInt
	ScalarFloat
	ScalarStrings
)

// Scalar is a value that an interface will hold: a string, boolean, number or list of strings.
type Scalar struct {
	Kind    ScalarKind
	String  string
	Bool    bool
	Int     int64
	Float   float64
	Strings []string
}

// Scalar reads a scalar, and charges what the interface points to. A number without a fraction is an
// integer if 64 bits hold it.
func (d *Decoder) Scalar() (s Scalar, errs *FieldErrors) {
	switch d.Kind() {
	case '"':
		d.Hold(16)
		s.Kind, errs = ScalarString, d.String(&s.String)
	case 't':
		s.Kind, errs = ScalarBool, d.Bool(&s.Bool)
	case '[':
		d.Hold(24)
		s.Kind, errs = ScalarStrings, ReadStrings(d, &s.Strings, false)
	case '0':
		d.Hold(8)
		mark := d.Mark()
		if ReadInt(d, &s.Int) == nil {
			s.Kind = ScalarInt
			return s, nil
		}
		d.Return(mark)
		s.Kind, errs = ScalarFloat, d.Float(&s.Float)
	}
	return s, errs
}

// FirstHas reports whether the next value is an array whose first element has the member has, and not
// the member lacks. It consumes nothing.
func (d *Decoder) FirstHas(has, lacks string) bool {
	mark := d.Mark()
	defer d.Return(mark)
	first := d.Array()
	return first.Next(d) && !d.Has(lacks) && d.Has(has)
}

// Values writes an array.
func Values[T any](e *Encoder, list []T, encode func(*Encoder, *T)) {
	e.OpenArray()
	for i := range list {
		e.Element()
		encode(e, &list[i])
	}
	e.CloseArray()
}
