package acp

import "context"

// Client is what a program must do to drive an agent: the baseline of the
// protocol. Implement it and hand it to client.New. It never grows within a wire
// version; what else a client can do stands in small interfaces of its own, such
// as [TextFileReader], which the SDK finds by looking at the value. A method that
// the value does not have is answered with -32601.
//
// The agent's end, *agent.Conn, is a Client too, with every optional interface:
// calling its methods calls the client at the other end. So a proxy is one
// connection handed to another.
//
// Requests are handled concurrently, notifications one at a time. A request is
// handed over only after every notification that arrived before it has been
// handled, so a permission request never overtakes the update that explains it.
// The ctx of a request ends when the agent cancels that request or the connection
// ends; ctx also carries the place in the order of messages, so pass it on when
// calling the peer. Params belong to the method. Errors are treated as [Agent]
// says.
type Client interface {
	// RequestPermission asks the user whether a tool call may go ahead, for as
	// long as it takes. When the turn is cancelled meanwhile, answer with a
	// *CancelledPermissionOutcome; the session helper of package client does
	// that by itself for turns that it cancels. A program that decides for its
	// user chooses by the options' kinds, never by position, and says cancelled
	// when none fits.
	//
	// Protocol: session/request_permission.
	RequestPermission(context.Context, *RequestPermissionRequest) (*RequestPermissionResponse, error)

	// SessionUpdate is told what happens in a session, in order, one at a time
	// for the whole connection. Do not block: while it runs no other update is
	// handled and no call returns. It may call the agent with the ctx it was
	// given. Ignore sessions and updates that are not known. The error is logged.
	//
	// Protocol: session/update.
	SessionUpdate(context.Context, *SessionNotification) error
}
