package wire

import (
	"bytes"
	"math"
	"strconv"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// number consumes a number and returns its text.
func (d *Decoder) number() (text []byte, errs *FieldErrors) {
	if c := d.peek(); c != '-' && !envelope.IsDigit(c) {
		return nil, d.Mismatch("number")
	}
	start := d.i
	d.Skip()
	return d.b[start:d.i], nil
}

// ReadUint reads an unsigned integer of the given width into p.
func ReadUint[T ~uint16 | ~uint32 | ~uint64](d *Decoder, p *T) *FieldErrors {
	text, errs := d.number()
	if errs != nil {
		return errs
	}
	neg, v, ok := integer(text)
	switch {
	case !ok:
		return Violation("expected an integer of 64 bits")
	case neg && v != 0:
		return Violation("must not be negative")
	case v > uint64(^T(0)):
		return Violation("must not exceed " + strconv.FormatUint(uint64(^T(0)), 10))
	}
	*p = T(v)
	return nil
}

// ReadPositive reads an unsigned integer that is at least 1.
func ReadPositive[T ~uint16 | ~uint32 | ~uint64](d *Decoder, p *T) *FieldErrors {
	errs := ReadUint(d, p)
	if errs == nil && *p == 0 {
		return Violation("must be at least 1")
	}
	return errs
}

// ReadInt reads a signed integer of the given width into p.
func ReadInt[T ~int32 | ~int64](d *Decoder, p *T) *FieldErrors {
	text, errs := d.number()
	if errs != nil {
		return errs
	}
	neg, v, ok := integer(text)
	if !ok || v > 1<<63 || v == 1<<63 && !neg {
		return Violation("expected an integer of 64 bits")
	}
	n := int64(v)
	if neg {
		n = -n
	}
	if int64(T(n)) != n {
		return Violation("expected an integer of 32 bits")
	}
	*p = T(n)
	return nil
}

// Float reads any number in the range of float64.
func (d *Decoder) Float(p *float64) *FieldErrors {
	text, errs := d.number()
	if errs != nil {
		return errs
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return Violation("number out of range")
	}
	*p = v
	return nil
}

// FloatIn reads a number from low to high.
func (d *Decoder) FloatIn(p *float64, low, high float64) *FieldErrors {
	errs := d.Float(p)
	if errs == nil && (*p < low || *p > high) {
		format := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
		return Violation("must be from " + format(low) + " to " + format(high))
	}
	return errs
}

// integer reads the text of a JSON number as sign and magnitude. A number with a fraction or an
// exponent is an integer if its value is one: 5.0, 1e3.
func integer(text []byte) (neg bool, v uint64, ok bool) {
	if len(text) > 0 && text[0] == '-' {
		neg = true
		text = text[1:]
	}
	if bytes.ContainsAny(text, ".eE") {
		var zeros int
		if text, zeros, ok = digitsOf(text); !ok {
			return neg, 0, false
		}
		for range zeros {
			text = append(text, '0')
		}
	}
	for _, c := range text {
		if !envelope.IsDigit(c) {
			return neg, 0, false
		}
		digit := uint64(c - '0')
		if v > (math.MaxUint64-digit)/10 {
			return neg, 0, false
		}
		v = v*10 + digit
	}
	return neg, v, len(text) > 0
}

// digitsOf writes a number that has a fraction or an exponent as digits, followed by a count of
// zeros. ok is false if the number is not an integer, or is far beyond 64 bits.
func digitsOf(text []byte) (digits []byte, zeros int, ok bool) {
	mantissa, exponent := text, 0
	if e := bytes.IndexAny(text, "eE"); e >= 0 {
		n, err := strconv.Atoi(string(text[e+1:]))
		if err != nil {
			n = math.MaxInt32
			if e+1 < len(text) && text[e+1] == '-' {
				n = -n
			}
		}
		mantissa, exponent = text[:e], n
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits = append(bytes.Clone(whole), fraction...)
	zeros = exponent - len(fraction)
	if digits = bytes.TrimLeft(digits, "0"); len(digits) == 0 {
		return []byte{'0'}, 0, true
	}
	for zeros < 0 && len(digits) > 0 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
		zeros++
	}
	return digits, zeros, zeros >= 0 && zeros < 20
}
