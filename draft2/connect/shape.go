package connect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/rpcerr"
)

// verdict is the meaning of the response to initialize.
type verdict int

const (
	speaksV1 verdict = iota + 1
	speaksV2
	// tryV1 means that the agent may accept an initialize that offers only version 1.
	tryV1
	// refuses means that the response would be the same for version 1.
	refuses
)

type answer struct {
	result []byte // nil for an error response
	err    *rpcerr.RequestError
	failed []byte // the undecoded error
	// version is the version in the result, or -1 if there is none.
	version int
	// supported lists the versions that the error contains. It is nil if there are none.
	supported []int
}

func answerOf(e *envelope.Envelope) answer {
	a := answer{version: -1}
	if e.Kind == envelope.KindResponse {
		a.result = bytes.Clone(e.Result)
		a.version = endpoint.Version(envelope.Member(a.result, "protocolVersion"))
		return a
	}
	a.err = new(rpcerr.RequestError)
	a.failed = edited(e.Error, func(members map[string]json.RawMessage) {
		if members["message"] == nil {
			members["message"] = json.RawMessage(`""`) // the code is enough
		}
	})
	if json.Unmarshal(a.failed, a.err) != nil {
		a.failed = []byte(`{"code":-32600,"message":"the response to initialize is malformed"}`)
		_ = json.Unmarshal(a.failed, a.err)
	}
	var data json.RawMessage
	_ = a.err.DecodeData(&data) // the data may be absent
	a.supported = endpoint.SupportedVersions(data)
	return a
}

// edited returns a JSON object after edit has changed its members. It returns other JSON unchanged.
func edited(object []byte, edit func(members map[string]json.RawMessage)) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members == nil {
		return object
	}
	edit(members)
	b, _ := json.Marshal(members) // all members are JSON
	return b
}

// verdict decides by the members of the response, because an agent may repeat any version that is
// requested.
func (a *answer) verdict() verdict {
	if a.err != nil {
		switch a.err.Code {
		case rpcerr.CodeUnsupportedProtocolVersion:
			if a.supported != nil && !slices.Contains(a.supported, 1) {
				return refuses
			}
			return tryV1
		case rpcerr.CodeAuthRequired, rpcerr.CodeRequestCancelled:
			return refuses
		}
		return tryV1
	}
	has := func(name string) bool { return isObject(envelope.Member(a.result, name)) }
	if !isObject(a.result) {
		return tryV1
	}
	switch {
	case a.version == 2 && has("info") && (has("capabilities") || !has("agentCapabilities")):
		return speaksV2
	case a.version == 1, a.version == 2 && has("agentCapabilities"):
		return speaksV1
	}
	return tryV1
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// as returns the result with that version, because an agent of version 1 may have repeated the
// requested one.
func (a *answer) as(version int) []byte {
	return edited(a.result, func(members map[string]json.RawMessage) {
		members["protocolVersion"] = json.RawMessage(strconv.Itoa(version))
	})
}

// lossy reports whether an agent of version 1 behind an endpoint for both versions may not have
// received all capabilities of the client. Such endpoints derive them from those of version 2,
// which has no files and no terminals.
func lossy(params []byte) bool {
	caps := envelope.Member(params, "clientCapabilities")
	if !isObject(caps) {
		return false
	}
	var offered struct {
		FS       struct{ ReadTextFile, WriteTextFile bool }
		Terminal bool
		Session  struct{ Notices, Compaction json.RawMessage }
		Subs     json.RawMessage `json:"subagents"`
		Meta     json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(caps, &offered) != nil {
		return true
	}
	set := func(raw json.RawMessage) bool { return raw != nil && string(raw) != "null" }
	return offered.FS.ReadTextFile || offered.FS.WriteTextFile || offered.Terminal ||
		set(offered.Session.Notices) || set(offered.Session.Compaction) || set(offered.Subs) || set(offered.Meta)
}

// merged returns params of an initialize that both versions understand: the members of both, with
// the newer version.
func merged(v1, v2 []byte) ([]byte, error) {
	all := map[string]json.RawMessage{}
	for _, params := range [][]byte{v1, v2} {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(params, &members); err != nil {
			return nil, err
		}
		for name, value := range members {
			if name == "_meta" && all[name] != nil {
				value = edited(all[name], func(meta map[string]json.RawMessage) { _ = json.Unmarshal(value, &meta) })
			}
			all[name] = value
		}
	}
	return json.Marshal(all)
}
