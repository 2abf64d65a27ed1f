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
	return wire.Marshal(&o, encodeSessionConfigSelectOptions)
}

// UnmarshalJSON decodes either list.
func (o *SessionConfigSelectOptions) UnmarshalJSON(data []byte) error {
	return wire.Unmarshal(data, o, decodeSessionConfigSelectOptions)
}

// decodeSessionConfigSelectOptions decodes a list as grouped if its first item looks like a group.
func decodeSessionConfigSelectOptions(d *wire.Decoder, o *SessionConfigSelectOptions) *wire.FieldErrors {
	if d.FirstHas("group", "value") {
		return decodeSessionConfigSelectGroupList(d, &o.Grouped, false)
	}
	return decodeSessionConfigSelectOptionList(d, &o.Ungrouped, false)
}

func encodeSessionConfigSelectOptions(e *wire.Encoder, o *SessionConfigSelectOptions) {
	switch {
	case len(o.Grouped) > 0 && len(o.Ungrouped) > 0:
		e.Fail("both grouped and ungrouped")
	case len(o.Grouped) > 0:
		wire.Values(e, o.Grouped, encodeSessionConfigSelectGroup)
	default:
		wire.Values(e, o.Ungrouped, encodeSessionConfigSelectOption)
	}
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
	s, errs := d.Scalar()
	switch s.Kind {
	case wire.ScalarString:
		*v = ElicitationString(s.String)
	case wire.ScalarBool:
		*v = ElicitationBoolean(s.Bool)
	case wire.ScalarInt:
		*v = ElicitationInteger(s.Int)
	case wire.ScalarFloat:
		*v = ElicitationNumber(s.Float)
	case wire.ScalarStrings:
		*v = ElicitationStrings(s.Strings)
	default:
		return d.Mismatch("string, number, boolean or array of strings")
	}
	return errs
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
		e.Fail("missing")
	}
}
