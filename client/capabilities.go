package client

import "github.com/acpkit/go-sdk/acp"

// Capabilities returns the capabilities that follow from the interfaces which c
// implements. For example, an [acp.Elicitor] has the capability for forms, and also the one
// for URLs if it is an [acp.ElicitationCompleter]. [Conn.Initialize] sends these
// capabilities if the request has none.
//
// Capabilities that no interface stands for are left out. To advertise them, set their
// members in the result and pass it to [Conn.Initialize].
//
// If c is a connection to a client, Capabilities returns what that client advertised,
// or nil before it is known.
func Capabilities(c acp.Client) *acp.ClientCapabilities {
	if r, ok := c.(remoteClient); ok {
		return r.ClientCapabilities()
	}
	caps := &acp.ClientCapabilities{}
	advertise(caps, c)
	return caps
}
