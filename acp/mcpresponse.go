package acp

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/wire"
)

// MessageMCPResponse is the response of an MCP server: a result or an error, exactly one of
// them. A response with both members is decoded as a result.
//
// Protocol: result of mcp/message.
//
// Unstable: not yet part of the stable protocol; it may change or be removed.
type MessageMCPResponse struct {
	// Result is the result of the MCP request, which may be null. Nil means that Error is
	// set.
	Result json.RawMessage `json:"result,omitempty"`
	// Error is the error of the MCP request.
	Error *MCPError `json:"error,omitempty"`
	// Meta contains data that both ends have agreed on; see [Meta].
	Meta Meta `json:"_meta,omitempty"`
}

// MarshalJSON encodes the result or the error.
func (v MessageMCPResponse) MarshalJSON() ([]byte, error) {
	return wire.Marshal(&v, encodeMessageMCPResponse)
}

// UnmarshalJSON decodes a result or an error.
func (v *MessageMCPResponse) UnmarshalJSON(data []byte) error {
	return wire.Unmarshal(data, v, decodeMessageMCPResponse)
}

func decodeMessageMCPResponse(d *wire.Decoder, v *MessageMCPResponse) *wire.FieldErrors {
	hasResult := d.Has("result")
	o := d.Object()
	for o.Next(d) {
		switch string(o.Name) {
		case "result":
			if o.Is(d, 0) {
				o.Check(d.Raw((*[]byte)(&v.Result)))
			}
		case "error":
			if hasResult {
				d.Skip()
			} else if o.Is(d, 1) {
				v.Error = wire.New[MCPError](d)
				o.Check(decodeMCPError(d, v.Error))
			}
		case "_meta":
			if o.Is(d, 2) {
				_ = d.Map((*map[string]any)(&v.Meta))
			}
		default:
			d.Skip()
		}
	}
	if v.Error != nil {
		return o.End()
	}
	return o.End("result")
}

func encodeMessageMCPResponse(e *wire.Encoder, v *MessageMCPResponse) {
	e.Open()
	switch {
	case v.Error == nil:
		e.Raw(`,"result":`, v.Result)
	case v.Result == nil:
		e.Name(`,"error":`)
		encodeMCPError(e, v.Error)
	default:
		e.Fail("both a result and an error")
	}
	e.Map(`,"_meta":`, v.Meta)
	e.Close()
}
