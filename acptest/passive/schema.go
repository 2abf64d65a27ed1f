package passive

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	_ "github.com/acpkit/go-sdk/draft2/acp" // registers the methods of version 2
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
)

// row returns the row of a method that the sender may use, or nil after it has reported a fault, and
// for extensions and messages whose version is unknown.
func (c *Checker) row(method string, notification bool) *wire.Method {
	v := c.version
	switch {
	case method == "initialize":
		v = min(max(c.asked, 1), 2)
	case v == 0 && c.asked == 1:
		v = 1
	}
	if v == 0 || strings.HasPrefix(method, "_") || strings.HasPrefix(method, "$/") {
		return nil
	}
	row, other := wire.Request(v, method), wire.Notification(v, method)
	kind, isOther := "request", "notification"
	if notification {
		row, other = other, row
		kind, isOther = isOther, kind
	}
	switch {
	case row == nil && other == nil:
		c.fault(noMethod, "%.80q is not a method of version %d, and names of extensions begin with an underscore.", method, v)
		return nil
	case row == nil:
		c.fault(wrongKind, "%.80q is a %s, not a %s.", method, isOther, kind)
		return nil
	case row.Side == wire.Proxy:
		return nil
	case row.Side&sides[c.from.peer()] == 0:
		c.fault(wrongEnd, "%.80q is not sent by the %s.", method, c.from)
		return nil
	}
	return row
}

var sides = map[End]wire.Side{Client: wire.Client, Agent: wire.Agent}

// params checks the params of a message: their schema, and the capabilities that they need.
func (c *Checker) params(row *wire.Method, raw []byte) {
	if row.Name == "initialize" && c.asked > 2 {
		return // their schema is that of a newer version
	}
	if c.schema(row.Params, row.Name+" params", raw, row.StrictParams) && c.version != 0 {
		c.needs(row, row.Capability, raw)
	}
}

// result checks the result of a request. Real peers send null where an empty object is meant.
func (c *Checker) result(row *wire.Method, raw []byte) {
	if row.Name == "initialize" {
		row = wire.Request(max(c.version, 1), row.Name)
		if protocolVersion(raw) == 2 { // also if the rest is that of version 1
			row = wire.Request(2, row.Name)
		}
	}
	if c.schema(row.Result, row.Name+" result", raw, false) && c.version != 0 {
		c.needs(row, "", raw)
	}
}

// schema reports whether a payload fits its type.
func (c *Checker) schema(codec *wire.Codec, what string, raw []byte, strict bool) bool {
	if codec == nil {
		return true
	}
	if wire.Absent(raw) {
		raw = []byte("{}")
	}
	var fields *wire.FieldErrors
	v, _, err := codec.Decode(raw)
	if d, ok := errors.AsType[*wire.DecodeError](err); ok {
		fields = d.Fields
	} else if err == nil && !codec.Valid(v, strict) {
		fields = validate.Struct(v, strict)
	} else if err == nil {
		member, word := unknownWord(v)
		if member != "" {
			c.fault(badSchema, "The schema of version 1 does not allow the %s %.80q.", member, word)
		}
		return member == ""
	}
	text := "cannot be read"
	if fields != nil {
		text = fields.String()
	}
	c.fault(badSchema, "The %s break the schema: %.300s.", strings.Replace(what, " result", " results", 1), text)
	return false
}

// unknownWord returns a word that the schema of version 1 does not allow, with the name of its member.
// Decoding keeps such words, so it does not find them.
func unknownWord(v any) (member, word string) {
	switch v := v.(type) {
	case *acp.PromptResponse:
		switch v.StopReason {
		case acp.StopReasonEndTurn, acp.StopReasonMaxTokens, acp.StopReasonMaxTurnRequests, acp.StopReasonRefusal, acp.StopReasonCancelled:
		default:
			return "stopReason", string(v.StopReason)
		}
	case *acp.SessionNotification:
		if u, ok := v.Update.(*acp.UnknownSessionUpdate); ok {
			return "sessionUpdate", u.Type
		}
	case *acp.RequestPermissionResponse:
		if u, ok := v.Outcome.(*acp.UnknownRequestPermissionOutcome); ok {
			return "outcome", u.Type
		}
	case *acp.CreateElicitationResponse:
		if u, ok := v.Action.(*acp.UnknownElicitationAction); ok {
			return "action", u.Type
		}
	}
	return "", ""
}

// errorObject checks the error of a response.
func (c *Checker) errorObject(raw []byte) {
	var e struct {
		Code    *int32
		Message *string
	}
	if json.Unmarshal(raw, &e) != nil || e.Code == nil || e.Message == nil {
		c.fault(badSchema, "The error of a response needs an integer code and a message.")
	}
}

// protocolVersion returns the version in params or a result of initialize, or 0.
func protocolVersion(payload []byte) int {
	v := 0
	if json.Unmarshal(envelope.Member(payload, "protocolVersion"), &v) != nil {
		return 0
	}
	return v
}
