// Copied to client/v2 by go generate.

package client

import (
	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// Capabilities returns the capabilities that follow from the optional interfaces
// which c serves (see [acp.Selective]). For example, an [acp.Elicitor] has the capability for forms, and also the one
// for URLs if it is an [acp.ElicitationCompleter]. [Conn.Initialize] sends these
// capabilities if the request has none.
//
// Capabilities that no interface stands for are left out. To advertise them, set their
// members in the result and pass it to [Conn.Initialize].
//
// If c is or wraps a connection to a client, Capabilities returns what that client advertised,
// or nil before it is known.
func Capabilities(c acp.Client) *acp.ClientCapabilities {
	if r, ok := endpoint.Innermost(c).(remoteClient); ok {
		return r.ClientCapabilities()
	}
	conn := &Conn{client: c}
	conn.table.Unstable = true // an unstable interface without the option is an error of Start
	if !endpoint.IsNil(c) {
		conn.addRows(&conn.table)
	}
	return conn.capabilities()
}

// capabilities returns the capabilities that follow from the rows.
func (c *Conn) capabilities() *acp.ClientCapabilities {
	caps := &acp.ClientCapabilities{}
	advertise(caps, &c.table)
	return caps
}
