// Copied to draft2/acp by go generate.

package acp

import (
	"github.com/acpkit/go-sdk/internal/wire"
)

// SessionConfigSelectOptions lists the values of a select option, ungrouped or in groups.
// At most one of the lists may be set. An empty list is decoded as ungrouped.
type SessionConfigSelectOptions struct {
	Ungrouped []SessionConfigSelectOption `json:"-" acp:"dive"`
	Grouped   []SessionConfigSelectGroup  `json:"-" acp:"dive"`
}

// MarshalJSON encodes the list that is set.
func (o SessionConfigSelectOptions) MarshalJSON() ([]byte, error) {
	return marshal(&o, encodeSessionConfigSelectOptions)
}

// UnmarshalJSON decodes either list.
func (o *SessionConfigSelectOptions) UnmarshalJSON(data []byte) error {
	return unmarshal(data, o, decodeSessionConfigSelectOptions)
}

// decodeSessionConfigSelectOptions decodes a list as grouped if its first item looks like a group.
func decodeSessionConfigSelectOptions(d *wire.Decoder, o *SessionConfigSelectOptions) *wire.FieldErrors {
	mark := d.Mark()
	first := d.Array()
	grouped := first.Next(d) && !d.Has("value") && d.Has(groupMember)
	d.Return(mark)
	if grouped {
		return decodeSessionConfigSelectGroupList(d, &o.Grouped, false)
	}
	return decodeSessionConfigSelectOptionList(d, &o.Ungrouped, false)
}

func encodeSessionConfigSelectOptions(e *wire.Encoder, o *SessionConfigSelectOptions) {
	if len(o.Grouped) > 0 && len(o.Ungrouped) > 0 {
		e.Fail("both grouped and ungrouped")
		return
	}
	e.OpenArray()
	for i := range o.Grouped {
		e.Element()
		encodeSessionConfigSelectGroup(e, &o.Grouped[i])
	}
	for i := range o.Ungrouped {
		e.Element()
		encodeSessionConfigSelectOption(e, &o.Ungrouped[i])
	}
	e.CloseArray()
}

func validSessionConfigSelectOptions(o *SessionConfigSelectOptions, strict bool) bool {
	for i := range o.Grouped {
		if !validSessionConfigSelectGroup(&o.Grouped[i], strict) {
			return false
		}
	}
	return true
}

// ElicitationContentValue is the value of one form field.
//
// The variants are [ElicitationString], [ElicitationInteger],
// [ElicitationNumber], [ElicitationBoolean] and [ElicitationStrings]. They are
// distinguished by the kind of JSON value, so an integral number is decoded as an
// integer even if the field is a number field.
type ElicitationContentValue interface{ isElicitationContentValue() }

// ElicitationString is the value of a string field.
type ElicitationString string

// ElicitationInteger is the value of an integer field, or an integral value of a number
// field.
type ElicitationInteger int64

// ElicitationNumber is the value of a number field.
type ElicitationNumber float64

// ElicitationBoolean is the value of a boolean field.
type ElicitationBoolean bool

// ElicitationStrings is the value of a multiple choice field.
type ElicitationStrings []string

func (ElicitationString) isElicitationContentValue()  {}
func (ElicitationInteger) isElicitationContentValue() {}
func (ElicitationNumber) isElicitationContentValue()  {}
func (ElicitationBoolean) isElicitationContentValue() {}
func (ElicitationStrings) isElicitationContentValue() {}

func decodeElicitationContentValue(d *wire.Decoder, v *ElicitationContentValue) *wire.FieldErrors {
	switch d.Kind() {
	case '"':
		d.Hold(16) // what the interface points to
		var s ElicitationString
		errs := d.String((*string)(&s))
		*v = s
		return errs
	case 't':
		var b ElicitationBoolean
		errs := d.Bool((*bool)(&b))
		*v = b
		return errs
	case '[':
		d.Hold(24)
		mark := d.Mark()
		var list ElicitationStrings
		errs := wire.ReadStrings(d, (*[]string)(&list), false)
		*v = list
		if errs != nil && keepsOtherElicitationValues {
			d.Return(mark)
			return decodeOtherElicitationValue(d, v)
		}
		return errs
	case '0':
		d.Hold(8)
		mark := d.Mark()
		var n ElicitationInteger
		if wire.ReadInt(d, &n) == nil {
			*v = n
			return nil
		}
		d.Return(mark)
		var f ElicitationNumber
		errs := d.Float((*float64)(&f))
		*v = f
		return errs
	}
	return decodeOtherElicitationValue(d, v)
}

func encodeElicitationContentValue(e *wire.Encoder, v ElicitationContentValue) {
	switch v := v.(type) {
	case ElicitationString:
		e.StringValue(string(v))
	case ElicitationInteger:
		e.IntValue(int64(v))
	case ElicitationNumber:
		e.FloatValue(float64(v))
	case ElicitationBoolean:
		e.BoolValue(bool(v))
	case ElicitationStrings:
		wire.StringValues(e, v)
	default:
		encodeOtherElicitationValue(e, v)
	}
}
