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

// SessionConfigValue selects a value of a select option. Every value that is a string is
// decoded as a SessionConfigValue, whatever its type member.
type SessionConfigValue struct {
	Value SessionConfigValueID `json:"value"`
}

// SessionConfigBooleanValue sets a boolean option. It requires the
// session.configOptions.boolean capability of the client.
type SessionConfigBooleanValue struct {
	Value bool `json:"value"`
}

// UnknownSessionConfigOptionValue is a value of a kind unknown to this package. It is kept
// and encoded unchanged.
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
	u := wire.New[UnknownSessionConfigOptionValue](d)
	u.Type = d.Text(tag)
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
				b := wire.New[SessionConfigBooleanValue](d)
				*v = b
				o.Check(d.Bool(&b.Value))
			} else {
				s := wire.New[SessionConfigValue](d)
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
			wire.WriteBool(e, `,"value":`, v.Value)
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
