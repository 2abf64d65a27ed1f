package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

// The codes that the SDK takes for its own errors: a connection that is closed, and a message that
// was not sent. A server that sends one is told apart by a code moved by away.
const (
	firstOwn = -32005
	lastOwn  = -32003
	away     = -100_000
)

// told returns a message of a server, or a line of an event, with its code moved if it is one that
// the SDK takes for its own.
func told(message []byte) []byte {
	if !bytes.Contains(message, []byte("-3200")) {
		return message
	}
	start, end := bytes.IndexByte(message, '{'), bytes.LastIndexByte(message, '}')+1
	var m, e map[string]json.RawMessage
	var code int64
	if start < 0 || end < start || json.Unmarshal(message[start:end], &m) != nil || json.Unmarshal(m["error"], &e) != nil ||
		json.Unmarshal(e["code"], &code) != nil || code < firstOwn || code > lastOwn {
		return message
	}
	e["code"], _ = json.Marshal(code + away) // a number, and what was just decoded
	m["error"], _ = json.Marshal(e)
	moved, _ := json.Marshal(m)
	return bytes.Join([][]byte{message[:start], moved, message[end:]}, nil)
}

// fault returns the error of a call without a result.
func (s *server) fault(ctx context.Context, err error, ended <-chan struct{}) error {
	answer, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case ok && (answer.Code < firstOwn || answer.Code > lastOwn):
		return s.answered(answer)
	case errors.Is(err, errCut):
		select { // note it now, so that the next turn starts the server again
		case <-ended:
		case <-ctx.Done():
		}
	case !errors.Is(err, sdk.ErrConnectionClosed):
		return unavailable("The MCP server %q could not be reached, or its response could not be read: %s. The call may have taken effect.", s.name, s.hide(err.Error()))
	}
	return unavailable("The MCP server %q has ended during the call: it may have taken effect.", s.name)
}

func unavailable(format string, args ...any) error {
	return kind.MCPUnavailable.Newf(nil, format, args...).WithRetryable(false)
}

// answered returns the record of an error that a server has sent. Its data has the code of the server
// as mcpCode.
func (s *server) answered(e *jsonrpc.Error) *kind.Error {
	code := e.Code
	if code >= firstOwn+away && code <= lastOwn+away {
		code -= away
	}
	k := kind.Unknown
	for _, known := range kind.All() {
		if int64(known.MCPCode()) == code {
			k = known
			break
		}
	}
	sent := &rpcerr.RequestError{Code: k.Code(), Message: cmp.Or(s.hide(e.Message), k.Message())}
	if len(e.Data) > 0 && len(e.Data) <= maxData {
		sent.Data = json.RawMessage(s.hide(string(e.Data)))
	}
	r := kind.FromRequestError(sent).With("mcpCode", code)
	if r.Kind == kind.Unauthorized { // at this server, and not at the agent
		r = r.WithNumber(kind.CodeUnauthorized)
	}
	return r
}

const (
	maxData  = 64 << 10 // bytes of the data of an error
	maxError = 64 << 10 // bytes of its text
)

// toolError returns the record of a result that is an error: that of package toolerr in its text, or
// the error object in its structured content.
func toolError(parts []tools.Part, structured any) error {
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	text := strings.TrimSpace(strings.Join(texts, "\n"))
	if e, err := toolerr.Parse(text); err == nil {
		return e
	}
	text = cmp.Or(text, "The tool has failed and has not said why.")
	if len(text) > maxError {
		text = text[:maxError] + "\n[the rest is left out]" // New repairs what is cut
	}
	e := kind.Unknown.New(text)
	data, _ := json.Marshal(structured) // it was decoded
	if structured == nil || len(data) > maxData {
		return e
	}
	var object struct{ Error *jsonrpc.Error }
	if json.Unmarshal(data, &object) == nil && object.Error != nil && object.Error.Code != 0 {
		e = new(server).answered(object.Error)
		e.Message = text
		return e
	}
	return e.With("structuredContent", json.RawMessage(data))
}
