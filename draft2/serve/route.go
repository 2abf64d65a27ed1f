package serve

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// message handles a message that arrives before an agent is chosen. It returns an error only if the
// stream fails.
func (r *router) message(msg []byte) (*choice, error) {
	e := envelope.Parse(msg)
	switch e.Kind {
	case envelope.KindNotJSON:
		if r.noise != nil {
			r.noise(msg)
			return nil, nil
		}
		return nil, r.refuse(nil, rpcerr.ParseError(nil))
	case envelope.KindBadRequest:
		return nil, r.refuse(e.ID, rpcerr.InvalidRequest(nil).WithDetail(e.Reason))
	case envelope.KindRequest:
		if string(e.Method) != acp.MethodInitialize {
			return nil, r.refuse(e.ID, rpcerr.InvalidRequest(nil).WithDetail("ACP connection must be initialized before '"+safetext.OneLine(string(e.Method), 128)+"'"))
		}
		chosen, refusal := r.route(msg, &e)
		if refusal == nil {
			return chosen, nil
		}
		id := e.ID
		if refusal == badID {
			id = nil
		}
		return nil, r.refuse(id, refusal)
	}
	return nil, nil // a notification or a response
}

var (
	badParams  = rpcerr.InvalidParams(nil).WithDetail("params must be an object")
	badVersion = rpcerr.InvalidParams(nil).WithDetail("protocolVersion must be an integer from 0 to 65535")
	badID      = rpcerr.InvalidRequest(nil).WithDetail("id must be a string or an integer")
)

// route chooses the agent for an initialize.
func (r *router) route(msg []byte, e *envelope.Envelope) (*choice, *rpcerr.RequestError) {
	if len(e.Params) == 0 || e.Params[0] != '{' {
		return nil, badParams
	}
	var requested uint16
	raw := envelope.Member(e.Params, "protocolVersion")
	if raw == nil {
		return nil, badVersion
	}
	if d := wire.NewDecoder(raw); wire.ReadUint(&d, &requested) != nil {
		return nil, badVersion
	}
	version := r.choice(requested)
	switch {
	case version == 0:
		return nil, rpcerr.UnsupportedProtocolVersion(int(requested), r.supported()...)
	case version == acp2.ProtocolVersion && !strictID(e.ID):
		return nil, badID
	case int(requested) == version:
		if fields := check(version, e.Params); fields != nil {
			return nil, rpcerr.InvalidParams(fields)
		}
		return &choice{version, msg}, nil
	case version == acp2.ProtocolVersion:
		return &choice{version, msg}, nil // the agent's connection accepts newer versions
	}
	return &choice{version, downgraded(e, requested)}, nil
}

// choice returns the version of the agent that serves a requested version, or 0.
func (r *router) choice(requested uint16) int {
	switch {
	case !r.v2:
		return acp.ProtocolVersion // version 1 for every requested version, even 0, as agents did before version 2 existed
	case requested >= acp2.ProtocolVersion:
		return acp2.ProtocolVersion
	case r.v1 && requested >= acp.ProtocolVersion:
		return acp.ProtocolVersion
	}
	return 0
}

func (r *router) supported() []int {
	if r.v1 {
		return []int{acp.ProtocolVersion, acp2.ProtocolVersion}
	}
	return []int{acp2.ProtocolVersion}
}

// strictID reports whether version 2 allows the id.
func strictID(id []byte) bool {
	key := envelope.IDKey(string(id))
	return key != "null" && (key[0] == '"' || !strings.ContainsAny(key, ".eE"))
}

// check returns the violations of params in the version that they request.
func check(version int, params []byte) *wire.FieldErrors {
	codec := wire.Request(version, acp.MethodInitialize).Params
	v, _, err := codec.Decode(params)
	switch bad, ok := errors.AsType[*wire.DecodeError](err); {
	case ok && bad.Fields != nil:
		return bad.Fields
	case err != nil:
		return wire.Violation(err.Error())
	case codec.Valid(v, false):
		return nil
	}
	return validate.Struct(v, false)
}

func (r *router) tooLarge(e *stream.TooLargeError) error {
	if e.HasResult {
		return nil
	}
	return r.refuse(e.ID, rpcerr.InvalidRequest(nil).WithDetail("message is too long"))
}

// refuse responds with an error to a message that no agent receives. The stream may refuse the
// response.
func (r *router) refuse(id []byte, err *rpcerr.RequestError) error {
	if id == nil {
		id = []byte("null")
	}
	fault, encErr := json.Marshal(err)
	if encErr != nil {
		return encErr
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"error":`...)
	b = append(append(b, fault...), '}')
	_, write := r.features.Messages(r.s)
	writeErr := write(stream.ParseMessage(b))
	if _, ok := errors.AsType[*stream.MessageError](writeErr); ok {
		r.log.Warn("draft2/serve: the stream refused a response", "error", writeErr)
		return nil
	}
	return writeErr
}

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
