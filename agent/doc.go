// Package agent is the agent's end of a connection. Implement [acp.Agent], and
// those of the small interfaces of package acp that fit; [Serve] does the rest:
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
// New looks once at what the value implements. A method it lacks is answered with
// -32601, and its capability is not advertised, unless the value says otherwise: an
// agent that advertises a capability without having its method is answered with
// -32603 in place of its answer to initialize, and Run returns an error that names
// both. Wrapping an agent in a struct hides its optional methods; say what you rely
// on with
//
//	var _ acp.SessionLoader = (*myAgent)(nil)
//
// and put what is common to all methods into [Options] Receiving and Sending.
//
// # What is sent
//
// [Conn] has a method for everything a client can be asked, and [Session] the short
// forms: text, tool calls, plans, permission, forms, files, terminals. What the client did
// not advertise is refused here, with an *acp.CapabilityError, before anything is
// sent: methods, modes of elicitation, and kinds of updates (notices, compaction,
// unstable plans and subagents). Params that break a rule of the protocol are
// refused with an *acp.InvalidError that names the field. So are elicitations that
// would send people to anything but an http or https page.
//
// # Order
//
// The seven promises of package acp hold. For an agent they mean: what Prompt sends
// before it returns is on the wire before its answer; what has to follow an answer
// goes into [AfterResponse]; a handler may ask the client, and wait, in any depth,
// with the ctx it was given.
//
// # Cancelling
//
// When the client cancels a turn or closes the session, the ctx of Prompt ends as
// soon as the message is read, with the cause acp.ErrTurnCancelled. Stop, and
// return: whatever error Prompt returns then, the client is answered with the stop
// reason "cancelled". Session's methods still send what there is to say. Agent.Cancel
// is called behind it and may stay empty.
//
// # Errors
//
// An *rpcerr.RequestError anywhere in the chain of a handler's error goes to the
// client. Any other error is answered with "Internal error" and written to the
// logger: its text never leaves the process, save with Options.ExposeErrors.
//
// # A proxy
//
// A *client.Conn is an [acp.Agent] with every optional interface, and a *Conn an
// acp.Client with every one. So one connection handed to another is a proxy;
// capabilities and extensions pass through it as they are:
//
//	var below *client.Conn
//	above := agent.New(stream.Stdio(), func(above *agent.Conn) acp.Agent {
//		below = client.New(process, func(*client.Conn) acp.Client { return above }, nil)
//		return below
//	}, nil)
package agent
