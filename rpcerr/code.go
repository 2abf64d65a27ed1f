package rpcerr

import (
	"strconv"

	"github.com/sourcegraph/jsonrpc2"
)

// Code is the number of a JSON-RPC error. Programs compare codes; messages are for
// people. A receiver treats a code that it does not know as a general failure.
type Code int32

// The codes of JSON-RPC 2.0 and of the Agent Client Protocol.
const (
	CodeParseError                 Code = jsonrpc2.CodeParseError     // a message is not JSON
	CodeInvalidRequest             Code = jsonrpc2.CodeInvalidRequest // JSON, but not a message, or at a forbidden time
	CodeMethodNotFound             Code = jsonrpc2.CodeMethodNotFound // unknown method, or an optional one that was not advertised
	CodeInvalidParams              Code = jsonrpc2.CodeInvalidParams  // params that break the schema or name something impossible
	CodeInternalError              Code = jsonrpc2.CodeInternalError  // the handler failed for a reason that the peer cannot change
	CodeRequestCancelled           Code = -32800                      // the work ended because the request was cancelled
	CodeAuthRequired               Code = -32000                      // credentials are absent or expired
	CodeResourceNotFound           Code = -32002                      // an unknown file, terminal or session
	CodeUnsupportedProtocolVersion Code = -32022                      // no protocol version in common
)

// codeNames holds the fixed message of each code. The factories send it, followed by a
// detail if there is one.
var codeNames = map[Code]string{
	CodeParseError:                 "Parse error",
	CodeInvalidRequest:             "Invalid request",
	CodeMethodNotFound:             "Method not found",
	CodeInvalidParams:              "Invalid params",
	CodeInternalError:              "Internal error",
	CodeRequestCancelled:           "Request cancelled",
	CodeAuthRequired:               "Authentication required",
	CodeResourceNotFound:           "Resource not found",
	CodeUnsupportedProtocolVersion: "Unsupported protocol version",
}

// String returns the code's name, such as "Invalid params", and "code -31001"
// for a code the protocol does not define.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "code " + strconv.Itoa(int(c))
}
