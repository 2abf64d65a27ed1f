package wire

import (
	"math"
	"strconv"
)

// WriteUints writes a member that is an array of unsigned numbers.
func WriteUints[T ~uint16 | ~uint32 | ~uint64](e *Encoder, name string, list []T) {
	e.Name(name)
	e.OpenArray()
	for _, n := range list {
		e.Element()
		e.b = strconv.AppendUint(e.b, uint64(n), 10)
	}
	e.CloseArray()
}

// WriteUint writes a member that is an unsigned integer.
func WriteUint[T ~uint16 | ~uint32 | ~uint64](e *Encoder, name string, v T) {
	e.Name(name)
	e.b = strconv.AppendUint(e.b, uint64(v), 10)
}

// WriteUintPtr writes a member that is an unsigned integer unless it is nil.
func WriteUintPtr[T ~uint16 | ~uint32 | ~uint64](e *Encoder, name string, v *T) {
	if v != nil {
		WriteUint(e, name, *v)
	}
}

// WriteInt writes a member that is a signed integer.
func WriteInt[T ~int32 | ~int64](e *Encoder, name string, v T) {
	e.Name(name)
	e.IntValue(int64(v))
}

// WriteIntPtr writes a member that is a signed integer unless it is nil.
func WriteIntPtr[T ~int32 | ~int64](e *Encoder, name string, v *T) {
	if v != nil {
		WriteInt(e, name, *v)
	}
}

// IntValue writes an integer.
func (e *Encoder) IntValue(v int64) { e.b = strconv.AppendInt(e.b, v, 10) }

// Float writes a member that is any number.
func (e *Encoder) Float(name string, v float64) {
	e.Name(name)
	e.FloatValue(v)
}

// FloatPtr writes a member that is any number unless it is nil.
func (e *Encoder) FloatPtr(name string, v *float64) {
	if v != nil {
		e.Float(name, *v)
	}
}

// FloatValue writes a number in the shortest form that reads back the same.
func (e *Encoder) FloatValue(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		e.Fail("not a number that JSON can hold")
		return
	}
	format := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	e.b = strconv.AppendFloat(e.b, v, format, -1, 64)
}
