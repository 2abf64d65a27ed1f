package acp

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/wire"
)

// SessionConfigOptionValue is the new value of a config option.
//
// The variants are:
//
//   - *[SessionConfigValue]
//   - *[SessionConfigBooleanValue]
//   - *[UnknownSessionConfigOptionValue]
type SessionConfigOptionValue interface{ isSessionConfigOptionValue() }

func (*SessionConfigValue) isSessionConfigOptionValue()              {}
func (*SessionConfigBooleanValue) isSessionConfigOptionValue()       {}
func (*UnknownSessionConfigOptionValue) isSessionConfigOptionValue() {}

// SessionConfigValue chooses a value of a select option. It is what any value that
// is a string is read as, whatever type it claims.
type SessionConfigValue struct {
	Value SessionConfigValueID `json:"value"`
}

// SessionConfigBooleanValue sets a boolean option on or off. It needs the
// session.configOptions.boolean capability of the client.
type SessionConfigBooleanValue struct {
	Value bool `json:"value"`
}

// UnknownSessionConfigOptionValue is a value of a kind that this package does not
// know. It is kept as it came and written back unchanged.
type UnknownSessionConfigOptionValue struct {
	// Type is the value of the member type.
	Type string
	// Raw is the object without the members that all variants share.
	Raw json.RawMessage
}

// decodeSessionConfigOptionValue reads the value's members out of the request's
// object. The kind of JSON value decides, because peers disagree about the type:
// strings are ids even when the type says boolean.
func decodeSessionConfigOptionValue(d *wire.Decoder, v *SessionConfigOptionValue) *wire.FieldErrors {
	tag, found := d.Tag("type")
	if !found || string(tag) == "boolean" || d.HasString("value") {
		return decodeKnownConfigValue(d, v, string(tag) == "boolean")
	}
	u := &UnknownSessionConfigOptionValue{Type: string(tag)}
	*v = u
	return d.Without((*[]byte)(&u.Raw), "sessionId", "configId", "_meta")
}

func decodeKnownConfigValue(d *wire.Decoder, v *SessionConfigOptionValue, boolean bool) *wire.FieldErrors {
	o := d.Object()
	for o.Next(d) {
		switch string(o.Name) {
		case "value":
			if !o.Is(d, 0) {
				break
			}
			if boolean && d.Kind() == 't' {
				b := &SessionConfigBooleanValue{}
				*v = b
				o.Check(d.Bool(&b.Value))
			} else {
				s := &SessionConfigValue{}
				*v = s
				o.Check(d.String((*string)(&s.Value)))
			}
		case "type":
			if o.Is(d, 1) {
				d.Skip()
			}
		default:
			d.Skip()
		}
	}
	return o.End("value")
}

// membersSessionConfigOptionValue writes the value's members into the request's
// object.
func membersSessionConfigOptionValue(e *wire.Encoder, v SessionConfigOptionValue) {
	switch v := v.(type) {
	case *SessionConfigValue:
		if v != nil {
			e.String(`,"value":`, string(v.Value))
			return
		}
	case *SessionConfigBooleanValue:
		if v != nil {
			e.Name(`,"type":"boolean"`)
			e.Bool(`,"value":`, v.Value)
			return
		}
	case *UnknownSessionConfigOptionValue:
		if v != nil {
			e.UnknownMembers("type", v.Type, v.Raw)
			return
		}
	}
	e.Missing("value")
}

// SessionConfigSelectOptions lists the values of a select option: plain, or in
// groups. At most one of the two is used; an empty list is read as ungrouped.
type SessionConfigSelectOptions struct {
	Ungrouped []SessionConfigSelectOption `json:"-" acp:"dive"`
	Grouped   []SessionConfigSelectGroup  `json:"-" acp:"dive"`
}

// MarshalJSON writes the list that is used.
func (o SessionConfigSelectOptions) MarshalJSON() ([]byte, error) {
	return marshal(&o, encodeSessionConfigSelectOptions)
}

// UnmarshalJSON reads either list.
func (o *SessionConfigSelectOptions) UnmarshalJSON(data []byte) error {
	return unmarshal(data, o, decodeSessionConfigSelectOptions)
}

// decodeSessionConfigSelectOptions takes a list for grouped when its first item
// looks like a group.
func decodeSessionConfigSelectOptions(d *wire.Decoder, o *SessionConfigSelectOptions) *wire.FieldErrors {
	mark := d.Mark()
	first := d.Array()
	grouped := first.Next(d) && !d.Has("value") && d.Has("group")
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
