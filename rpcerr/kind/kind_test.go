package kind_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Each row of the reference's two code tables: its name and number there, and
// the kind here. The numbers on an ACP connection stand beside them.
func TestCodes(t *testing.T) {
	for _, c := range []struct {
		reference string
		mcp       int
		kind      kind.Kind
		acp       rpcerr.Code
	}{
		{"ParseError", -32700, kind.ParseError, rpcerr.CodeParseError},
		{"InvalidRequest", -32600, kind.InvalidRequest, rpcerr.CodeInvalidRequest},
		{"MethodNotFound", -32601, kind.MethodNotFound, rpcerr.CodeMethodNotFound},
		{"InvalidParams", -32602, kind.InvalidParams, rpcerr.CodeInvalidParams},
		{"InternalError", -32603, kind.Internal, rpcerr.CodeInternalError},
		{"ServiceUnavailable", -32000, kind.ServiceUnavailable, -31000},
		{"NotFound", -32001, kind.NotFound, rpcerr.CodeResourceNotFound},
		{"Conflict", -32002, kind.Conflict, -31002},
		{"RateLimited", -32003, kind.RateLimited, -31003},
		{"Timeout", -32004, kind.Timeout, -31004},
		{"Forbidden", -32005, kind.Forbidden, -31005},
		{"Unauthorized", -32006, kind.Unauthorized, rpcerr.CodeAuthRequired},
		{"ValidationError", -32007, kind.Validation, -31007},
		{"ConfigurationError", -32008, kind.Configuration, -31008},
		{"InitializationFailed", -32009, kind.InitializationFailed, -31009},
		{"DatabaseError", -32010, kind.Database, -31010},
		{"SerializationError", -32070, kind.Serialization, -31070},
		{"UnknownError", -32099, kind.Unknown, -31099},
	} {
		assert.Equal(t, c.mcp, c.kind.MCPCode(), c.reference)
		assert.Equal(t, c.acp, c.kind.Code(), c.reference)
		assert.Equal(t, c.kind, kind.Of(rpcerr.New(c.acp, "", nil)), c.reference)
	}
	// A kind that the reference does not have uses the number of the nearest kind.
	assert.Equal(t, kind.Timeout.MCPCode(), kind.Cancelled.MCPCode())
	assert.Equal(t, kind.InvalidRequest.MCPCode(), kind.UnsupportedVersion.MCPCode())
	assert.Equal(t, kind.ServiceUnavailable.MCPCode(), kind.Transient.MCPCode())
	assert.Equal(t, kind.Internal.MCPCode(), kind.Fatal.MCPCode())
	assert.Equal(t, kind.Validation.MCPCode(), kind.ContextRequired.MCPCode())
	assert.Equal(t, kind.Unknown, kind.Of(rpcerr.New(7, "", nil)))
}

func TestTable(t *testing.T) {
	codes := map[rpcerr.Code]kind.Kind{}
	for _, k := range kind.All() {
		assert.True(t, k.Known(), k)
		assert.NotEmpty(t, k.Message(), k)
		assert.Regexp(t, `^[a-z]+(_[a-z]+)*$`, string(k))
		assert.Empty(t, codes[k.Code()], "the code of %s is taken", string(k))
		codes[k.Code()] = k
		if c := k.Code(); -32768 <= c && c <= -32000 || -32899 <= c && c <= -32800 { // what the specifications reserve
			assert.Equal(t, c.String(), k.Message(), "%s: own codes stay outside the reserved ranges", string(k))
		}
		if k == kind.ContextRequired {
			continue // not without a hint
		}
		r := k.RequestError()
		assert.Equal(t, k.Code(), r.Code)
		assert.Equal(t, k.Message(), r.Message)
		assert.Equal(t, k, kind.Of(r))
	}
	assert.Len(t, codes, 25)
	assert.False(t, kind.Kind("typo").Known())
	assert.Equal(t, kind.Unknown.Code(), kind.Kind("typo").Code())
}

// The whole status table of the reference, and what lies between its rows.
func TestFromStatus(t *testing.T) {
	want := map[int]kind.Kind{
		400: kind.InvalidParams, 401: kind.Unauthorized, 402: kind.Forbidden, 403: kind.Forbidden, 404: kind.NotFound,
		408: kind.Timeout, 425: kind.Timeout, 504: kind.Timeout,
		409: kind.Conflict, 423: kind.Conflict, 424: kind.Conflict, 422: kind.Validation, 429: kind.RateLimited,
		500: kind.Internal, 501: kind.Internal,
	}
	for _, status := range []int{405, 406, 407, 410, 411, 412, 413, 415, 416, 417, 418, 428, 431, 451, 499} {
		want[status] = kind.InvalidRequest
	}
	for _, status := range []int{502, 503, 505, 507, 511, 599} {
		want[status] = kind.ServiceUnavailable
	}
	for _, status := range []int{-1, 0, 99, 100, 200, 302, 399, 600} {
		want[status] = kind.Unknown
	}
	for status, k := range want {
		assert.Equal(t, k, kind.FromStatus(status), status)
		if status == 500 || status == 501 {
			k = kind.ServiceUnavailable
		}
		assert.Equal(t, k, kind.FromUpstreamStatus(status), status)
	}
}

// Each kind has an HTTP status, and FromStatus returns the kind where HTTP has a status for it.
func TestHTTPStatus(t *testing.T) {
	for _, k := range kind.All() {
		status := k.HTTPStatus()
		assert.True(t, status >= 400 && status <= 599, k)
		assert.NotEqual(t, kind.Unknown, kind.FromStatus(status))
		assert.Equal(t, k.HTTPStatus() >= 500, kind.FromStatus(status).HTTPStatus() >= 500, k)
	}
	for status := 400; status <= 599; status++ {
		k := kind.FromStatus(status)
		assert.Equal(t, k, kind.FromStatus(k.HTTPStatus()), status)
	}
	assert.Equal(t, 500, kind.Kind("typo").HTTPStatus())
}

// The table of codes in the README is the table of the package.
func TestReadmeTable(t *testing.T) {
	b, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	readme := strings.NewReplacer("(", "", ")", "").Replace(string(b))
	for _, k := range kind.All() {
		assert.Contains(t, readme, fmt.Sprintf("| %s | %d | %d |", string(k), k.Code(), k.MCPCode()))
	}
}
