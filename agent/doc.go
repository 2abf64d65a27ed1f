// Package agent implements the agent's end of a connection. A program implements
// [acp.Agent] and the optional interfaces of package acp that it supports, and passes
// the value to [Serve]:
//
//	type echo struct{ conn *agent.Conn }
//
//	func (e *echo) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
//		return nil, nil // version and capabilities are filled in
//	}
//	func (e *echo) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
//		return &acp.NewSessionResponse{SessionID: "s1"}, nil
//	}
//	func (e *echo) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
//		err := e.conn.Session(req.SessionID).Message(ctx, acp.PlainText(req.Prompt...))
//		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
//	}
//	func (e *echo) Cancel(context.Context, *acp.CancelNotification) error { return nil }
//
//	func main() {
//		newAgent := func(conn *agent.Conn) acp.Agent { return &echo{conn} }
//		if err := agent.Serve(context.Background(), stream.Stdio(), newAgent, nil); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// # What is handled
//
// New determines once which optional interfaces the value implements. A request for a
// method that it does not implement fails with -32601, and the capability of that
// method is not advertised. It is an error if the agent's response to initialize
// advertises a capability whose method is missing: the client then gets -32603 in place
// of that response, and Run returns an error that names the capability and the method.
//
// To make the compiler check an interface that the program relies on, write
//
//	var _ acp.SessionLoader = (*myAgent)(nil)
//
// A type that implements more than it serves is an [acp.Selective]. A struct that wraps an
// agent embeds an [acp.AgentWrapper], which keeps the optional interfaces of the agent. Use
// the middlewares in [Options] Receiving and Sending for code that all methods share.
//
// # What is sent
//
// [Conn] has a method for every message that an agent can send. [Session] has short
// forms for text, tool calls, plans, permission, forms, files and terminals. A message
// that needs a capability which the client did not advertise fails with an
// *acp.CapabilityError before anything is sent. This applies to methods, to modes of
// elicitation, and to kinds of updates (notices, compaction, plans with an id, subagents,
// suggestions, cursors and boolean config options). Responses are sent without boolean
// config options to a client that did not advertise them. Params that break a rule of the
// protocol fail with an *acp.InvalidError that names the field; so does an elicitation
// with a URL that is not an http or https URL, and what needs a capability that the agent
// itself did not advertise.
//
// # Order
//
// The seven promises of package acp hold. For an agent they mean: a message that Prompt
// sends before it returns is written before the response; a message that must follow a
// response is sent from [AfterResponse]; a handler may call the client and wait for the
// response, at any depth, with the ctx that it was given.
//
// # Cancelling
//
// When the client cancels a turn or closes the session, the ctx of Prompt is done as
// soon as the message is read, with the cause acp.ErrTurnCancelled. Prompt must then
// stop its work and return. If it returns an error, whatever the error is, the client
// gets a response with the stop reason "cancelled". Until Prompt returns, it can still send
// updates by the methods of Session. Agent.Cancel is called after the ctx is done; it may do
// nothing.
//
// # Errors
//
// If the error of a handler is or wraps an *rpcerr.RequestError, the client gets that
// error. Of any other error the client gets only "Internal error": its text is written
// to the log and does not leave the process, unless Options.ExposeErrors is set. The same
// holds for the error that [ToolCall.Fail] or [Session.FailedCall] is given. Options.OnError is called with both
// kinds of errors first. The function OnError of rpcerr/classify returns a function for
// this option that classifies errors, so that the client gets the code for a missing file,
// for example.
//
// # A proxy
//
// A *client.Conn is an [acp.Agent], and a *Conn is an acp.Client; each implements every
// optional interface. Therefore a connection that is passed to another one makes a proxy.
// Capabilities and extensions pass through it unchanged:
//
//	var below *client.Conn
//	above := agent.New(stream.Stdio(), func(above *agent.Conn) acp.Agent {
//		below = client.New(process, func(*client.Conn) acp.Client { return above }, nil)
//		return below
//	}, nil)
//
// Both ends decode each message, so members that the schema does not define are lost.
// Package agent/proxy passes on every message unchanged, in any version of the protocol.
package agent
