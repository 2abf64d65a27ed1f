package agent

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// decodeInitialize decodes the params of initialize. If the client requests a newer version,
// members that are invalid in this one are left out. A request for an older version is refused, so
// its params are not decoded.
func decodeInitialize(raw []byte) (any, int64, error) {
	members := initializeMembers(raw)
	var requested uint16
	d := wire.NewDecoder(members["protocolVersion"])
	if members["protocolVersion"] == nil || wire.ReadUint(&d, &requested) != nil || requested == acp.ProtocolVersion {
		return methodInitialize.Params.Decode(raw)
	}
	unknown := acp.Implementation{Name: "unknown", Version: "unknown"}
	req := &acp.InitializeRequest{ProtocolVersion: min(requested, acp.ProtocolVersion), Info: unknown}
	if requested > acp.ProtocolVersion {
		req.Capabilities = &acp.ClientCapabilities{}
		if json.Unmarshal(members["info"], &req.Info) != nil || string(members["info"]) == "null" {
			req.Info = unknown
		}
		if json.Unmarshal(members["capabilities"], req.Capabilities) != nil {
			req.Capabilities = &acp.ClientCapabilities{}
		}
		if json.Unmarshal(members["_meta"], &req.Meta) != nil {
			req.Meta = nil
		}
	}
	return req, int64(len(raw)), nil
}

// initializeMembers returns those members of raw that the params of initialize can have, or
// nil if raw is not an object or has one of them more than once.
func initializeMembers(raw []byte) map[string][]byte {
	d := wire.NewDecoder(raw)
	if d.Kind() != '{' {
		return nil
	}
	members := map[string][]byte{}
	o := d.Object()
	for o.Next(&d) {
		name := string(o.Name)
		switch name {
		case "protocolVersion", "info", "capabilities", "_meta":
			var value []byte
			if members[name] != nil || d.Raw(&value) != nil {
				return nil
			}
			members[name] = value
		default:
			d.Skip()
		}
	}
	return members
}

// refused returns the error for an initialize that is refused, or nil. now is what the client
// reported earlier, or nil.
func refused(req *acp.InitializeRequest, now *peer) error {
	switch {
	case req.ProtocolVersion >= acp.ProtocolVersion:
		return nil
	case now != nil:
		return rpcerr.InvalidRequest(nil).WithDetail("a repeated initialize must request protocol version 2 or later")
	}
	return rpcerr.UnsupportedProtocolVersion(int(req.ProtocolVersion), acp.ProtocolVersion)
}
