// Copied to acp/v2 by go generate.

package acp

import "github.com/acpkit/go-sdk/internal/wire"

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

// decodeSessionConfigSelectOptions takes a list for grouped when its first item
// looks like a group.
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
