package acp

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/wire"
)

// ProtocolVersion is the version of the Agent Client Protocol whose vocabulary this
// package holds: the value of protocolVersion in the request and the response of
// initialize.
const ProtocolVersion = 2

// groupMember is the member that distinguishes a group of select options from an option.
const groupMember = "groupId"

// keepsOtherElicitationValues reports whether values of form fields may be of kinds that no
// variant holds.
const keepsOtherElicitationValues = true

// UnknownElicitationContentValue is the value of a form field of an unknown kind. It is
// kept and encoded unchanged.
type UnknownElicitationContentValue struct{ Raw json.RawMessage }

func (*UnknownElicitationContentValue) isElicitationContentValue() {}

func decodeOtherElicitationValue(d *wire.Decoder, v *ElicitationContentValue) *wire.FieldErrors {
	u := wire.New[UnknownElicitationContentValue](d)
	*v = u
	return d.Raw((*[]byte)(&u.Raw))
}

func encodeOtherElicitationValue(e *wire.Encoder, v ElicitationContentValue) {
	if u, ok := v.(*UnknownElicitationContentValue); ok && u != nil && u.Raw != nil {
		e.RawValue(u.Raw)
		return
	}
	e.Fail("missing")
}
