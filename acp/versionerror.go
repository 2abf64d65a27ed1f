package acp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/rpcerr"
)

// VersionError means that the two ends of a connection found no common version of the
// protocol. A client gets it from the call of initialize, whether the agent responded with
// another version or with an error of the code -32022.
type VersionError struct {
	// Requested is the version that this end requested, and Own lists the versions that it
	// supports.
	Requested int
	Own       []int
	// Answered is the version in the response. It is 0 if the agent responded with an error.
	Answered int
	// Supported lists the versions that the agent supports, as far as it reported them.
	Supported []int
	// Err is the error that the agent responded with, or nil.
	Err error
}

// Error names the versions of both ends.
func (e *VersionError) Error() string {
	var b strings.Builder
	b.WriteString("client: the agent ")
	switch {
	case e.Err == nil:
		fmt.Fprintf(&b, "responded with protocol version %d to a request for version %d", e.Answered, e.Requested)
	case len(e.Supported) == 0:
		fmt.Fprintf(&b, "does not support protocol version %d", e.Requested)
	default:
		fmt.Fprintf(&b, "does not support protocol version %d, only %s", e.Requested, listVersions(e.Supported))
	}
	if len(e.Own) > 0 {
		b.WriteString("; this client supports " + listVersions(e.Own))
	}
	return b.String()
}

func listVersions(list []int) string {
	text := "version "
	if len(list) > 1 {
		text = "versions "
	}
	for i, n := range list {
		switch {
		case i > 0 && i == len(list)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += strconv.Itoa(n)
	}
	return text
}

// Unwrap returns the error that the agent responded with, or nil.
func (e *VersionError) Unwrap() error { return e.Err }

// RequestError returns the error that the client of a proxy gets: -32022 with the version
// that was requested and the versions that the agent supports. If the requested version is
// one of them, only the proxy does not support it, and the list leaves it out.
func (e *VersionError) RequestError() *rpcerr.RequestError {
	supported := e.Supported
	if e.Err == nil {
		supported = []int{e.Answered}
	}
	supported = slices.DeleteFunc(slices.Clone(supported), func(n int) bool { return n == e.Requested })
	return rpcerr.UnsupportedProtocolVersion(e.Requested, supported...).WithCause(e)
}
