package router

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/envelope"
)

// downgraded returns an initialize for another version than 1 in a form that an agent of version 1
// reads. It omits malformed members.
func downgraded(e *envelope.Envelope, requested uint16) []byte {
	params := &acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersion}
	if requested < acp.ProtocolVersion {
		lenient(e.Params, "clientInfo", &params.ClientInfo)
		lenient(e.Params, "clientCapabilities", &params.ClientCapabilities)
	} else {
		lenient(e.Params, "info", &params.ClientInfo)
		params.ClientCapabilities = capabilities(e.Params)
	}
	lenient(e.Params, "_meta", &params.Meta)

	raw, err := json.Marshal(params)
	if err != nil { // impossible: everything was decoded from JSON
		raw = []byte(`{"protocolVersion":1}`)
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), e.ID...)
	b = append(b, `,"method":"initialize","params":`...)
	return append(append(b, raw...), '}')
}

// capabilities returns the capabilities of a client of version 2 in the form of version 1. Clients
// of version 2 have neither files nor terminals, and show all config options and plans.
func capabilities(params []byte) *acp.ClientCapabilities {
	caps := &acp.ClientCapabilities{
		FS: &acp.FileSystemCapabilities{},
		Session: &acp.ClientSessionCapabilities{
			ConfigOptions: &acp.SessionConfigOptionsCapabilities{Boolean: &acp.BooleanConfigOptionCapabilities{}},
		},
		Plan: &acp.PlanCapabilities{},
		Auth: &acp.AuthCapabilities{},
	}
	var offered acp2.ClientCapabilities
	if raw := envelope.Member(params, "capabilities"); raw != nil && lenient(params, "capabilities", &offered) {
		caps.Auth.Terminal = offered.Auth != nil && offered.Auth.Terminal != nil
		caps.Meta = offered.Meta
		if offered.Elicitation != nil {
			// This type has the same members in both versions.
			lenient(raw, "elicitation", &caps.Elicitation)
		}
	}
	return caps
}

// lenient decodes a member of an object into v. It reports whether the member is present. If it is
// malformed, v does not change.
func lenient[T any](object []byte, name string, v *T) bool {
	raw := envelope.Member(object, name)
	var decoded T
	if raw == nil || json.Unmarshal(raw, &decoded) != nil {
		return false
	}
	*v = decoded
	return true
}
