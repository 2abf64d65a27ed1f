package passive

import (
	"encoding/json"
	"regexp"
	"strings"

	_ "github.com/acpkit/go-sdk/acp" // registers the methods of version 1
	"github.com/acpkit/go-sdk/acptest/internal/strict"
	_ "github.com/acpkit/go-sdk/draft2/acp" // registers the methods of version 2
	"github.com/acpkit/go-sdk/internal/envelope"
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
	version := c.version
	if row.Name == "initialize" {
		if c.asked > 2 {
			return // their schema is that of a newer version
		}
		version = max(c.asked, 1)
	}
	if c.schema(max(version, 1), row.Name, false, raw) && c.version != 0 {
		c.needs(row, row.Capability, raw)
	}
}

// result checks the result of a request.
func (c *Checker) result(row *wire.Method, raw []byte) {
	version := max(c.version, 1)
	if row.Name == "initialize" && protocolVersion(raw) == 2 { // also if the rest is that of version 1
		version = 2
	}
	if c.schema(version, row.Name, true, raw) && c.version != 0 {
		c.needs(row, "", raw)
	}
}

// ofWeight has the rule that a fault of a payload breaks.
var ofWeight = map[strict.Weight]rule{
	strict.Broken: badSchema, strict.Forgiven: forgiven, strict.Relative: relativePath, strict.Unknown: unknownWord,
}

// schema judges a payload by its schema, and reports whether a reader can read it. Real peers send null
// where an empty object is meant, and leave out params.
func (c *Checker) schema(version int, method string, result bool, raw []byte) bool {
	def := strict.Def(version, method, result)
	if def == "" {
		return true
	}
	if wire.Absent(raw) {
		raw = []byte("{}")
	}
	part, fits := "params", true
	if result {
		part = "result"
	}
	seen := map[strict.Weight]bool{}
	for _, f := range strict.Judge(version, def, raw) {
		fits = fits && f.Weight != strict.Broken
		if seen[f.Weight] { // one fault of a kind is told of a message
			continue
		}
		seen[f.Weight] = true
		place := strings.TrimSuffix(part+"."+f.Path, ".")
		c.fault(ofWeight[f.Weight], "In the %s of %.80q, %s %s.", part, method, strings.TrimPrefix(place, part+"."), f.Text)
		c.found[len(c.found)-1].Kind += " " + method + " " + indexes.ReplaceAllString(place, "[]")
	}
	return fits
}

var indexes = regexp.MustCompile(`\[\d+\]`)

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
