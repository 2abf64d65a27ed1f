package wire

import (
	"bytes"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// Raw writes a member whose value is already JSON.
func (e *Encoder) Raw(name string, raw []byte) {
	e.Name(name)
	e.RawValue(raw)
}

// OptRaw writes a member whose value is already JSON, unless it is empty.
func (e *Encoder) OptRaw(name string, raw []byte) {
	if len(raw) > 0 {
		e.Raw(name, raw)
	}
}

// RawObject writes a member whose value is already a JSON object.
func (e *Encoder) RawObject(name string, raw []byte) {
	e.Name(name)
	if i := envelope.SkipSpace(raw, 0); i == len(raw) || raw[i] != '{' {
		e.Fail("expected raw JSON of an object")
		return
	}
	e.RawValue(raw)
}

// OptRawObject writes a member whose value is already a JSON object, unless it is empty.
func (e *Encoder) OptRawObject(name string, raw []byte) {
	if len(raw) > 0 {
		e.RawObject(name, raw)
	}
}

// RawValue writes JSON, which must be one value. It removes line breaks between tokens, because
// they would end the message on a stream of lines.
func (e *Encoder) RawValue(raw []byte) {
	if len(raw) == 0 {
		e.Fail("missing")
		return
	}
	if err := Check(raw); err != nil {
		e.Fail("raw " + err.Error())
		return
	}
	e.b = appendOneLine(e.b, bytes.TrimSpace(raw))
}

// UnknownMembers writes a variant that this version does not know into an open object: the members
// of its raw JSON unchanged, or only its tag if there is no raw JSON.
func (e *Encoder) UnknownMembers(tag, value string, raw []byte) {
	if len(raw) == 0 {
		if tag == "" || value == "" {
			e.Fail("missing raw JSON")
			return
		}
		e.Key(tag)
		e.StringValue(value)
		return
	}
	if err := Check(raw); err != nil {
		e.Fail("raw " + err.Error())
		return
	}
	raw = bytes.TrimSpace(raw)
	if raw[0] != '{' {
		e.Fail("expected raw JSON of an object")
		return
	}
	raw = bytes.TrimSpace(raw[1 : len(raw)-1])
	if len(raw) == 0 {
		return
	}
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = appendOneLine(e.b, raw)
}

// Check returns an error unless raw is exactly one JSON value.
func Check(raw []byte) error {
	end, err := envelope.Skip(raw, 0, envelope.MaxDepth)
	if err != nil {
		return err
	}
	if end = envelope.SkipSpace(raw, end); end != len(raw) {
		return &envelope.SyntaxError{Offset: end, Msg: "more than one value"}
	}
	return nil
}

// appendOneLine appends well-formed JSON without line breaks between tokens. Strings contain no
// line breaks.
func appendOneLine(b, raw []byte) []byte {
	for {
		i := bytes.IndexAny(raw, "\r\n")
		if i < 0 {
			return append(b, raw...)
		}
		b = append(b, raw[:i]...)
		raw = raw[i+1:]
	}
}
