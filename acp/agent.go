package acp

import "context"

// Agent is what a program must do to be a coding agent: the baseline of the
// protocol. Implement it and hand it to agent.Serve. It never grows within a wire
// version; what else an agent can do stands in small interfaces of its own, such
// as [SessionLoader], which the SDK finds by looking at the value. A method that
// the value does not have is answered with -32601.
//
// The client's end, *client.Conn, is an Agent too, with every optional interface:
// calling its methods calls the agent at the other end. So a proxy is one
// connection handed to another.
//
// All methods are called concurrently, except that Cancel takes its turn among
// the notifications. The ctx of a request ends when the peer cancels that
// request or the connection ends; ctx also carries the place in the order of
// messages, so pass it on when calling the peer. Params belong to the method. An
// error leaves as it is when it is an *rpcerr.RequestError somewhere in its
// chain; any other one is logged and leaves as -32603 without its text. A nil
// response is sent as an empty object.
type Agent interface {
	// Initialize opens the conversation. The client calls it before anything
	// else, and may call it again. Requests that arrive behind it wait for its
	// answer. Leave ProtocolVersion zero and AgentCapabilities nil to have the
	// SDK fill them in from what this value implements. It should work without
	// credentials.
	//
	// Protocol: initialize.
	Initialize(context.Context, *InitializeRequest) (*InitializeResponse, error)

	// NewSession starts an empty session. Fail with rpcerr.AuthRequired when the
	// user has to sign in first. What the client should hear right after the
	// answer, such as the available commands, is best sent through the
	// after-response hook of the agent's connection: the client knows the session
	// by then.
	//
	// Protocol: session/new.
	NewSession(context.Context, *NewSessionRequest) (*NewSessionResponse, error)

	// Prompt runs one turn, for as long as it takes. Updates that it sends before
	// it returns reach the client before the response does. When the client
	// cancels the turn, ctx ends with the cause [ErrTurnCancelled]: stop the work
	// and return; whatever it then returns, the client is told
	// [StopReasonCancelled]. Clients may run turns of several sessions at a time.
	// Fail with rpcerr.SessionNotFound for a session that does not exist.
	//
	// Protocol: session/prompt.
	Prompt(context.Context, *PromptRequest) (*PromptResponse, error)

	// Cancel is told that the client has cancelled the turn of a session. The ctx
	// of the turn's Prompt has ended already, as soon as the message was read, so
	// most agents leave the method empty. It is called after that Prompt has been
	// entered, also when no turn is running. The error is logged.
	//
	// Protocol: session/cancel.
	Cancel(context.Context, *CancelNotification) error
}
