// Package client is the client's end of a connection: it starts a conversation with
// an agent, and serves what the agent asks. Implement [acp.Client], and those of the
// small interfaces of package acp that fit:
//
//	type viewer struct{}
//
//	func (viewer) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }
//	func (viewer) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
//		return acp.Cancelled(), nil // this client allows nothing
//	}
//
//	func run(ctx context.Context) error {
//		process, err := stream.Command(exec.Command("gemini", "--acp"), nil)
//		if err != nil {
//			return err
//		}
//		conn, err := client.Connect(ctx, process, func(*client.Conn) acp.Client { return viewer{} }, nil)
//		if err != nil {
//			return err
//		}
//		defer conn.Close()
//		session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
//		if err != nil {
//			return err
//		}
//		text, err := session.Prompt(ctx, acp.Text("What is in this folder?")).Text()
//		fmt.Println(text)
//		return err
//	}
//
// # What is handled
//
// New looks once at what the value implements. A method it lacks is answered with
// -32601, and [Conn.Initialize] advertises the others where the request leaves
// ClientCapabilities nil. Put what is common to all methods into [Options] Receiving
// and Sending.
//
// # What is sent
//
// [Conn] has a method for everything an agent can be asked; [Session] and [Turn] are
// the easier way to hold a conversation. What the agent did not advertise is refused
// here, with an *acp.CapabilityError, before anything is sent: methods, kinds of
// content in a prompt (images, audio, embedded resources), MCP transports, additional
// directories, system prompts. Signing in, modes and options are not gated, because no
// capability announces them. Params that break a rule of the protocol are refused with
// an *acp.InvalidError that names the field.
//
// # Updates
//
// Every update goes to Client.SessionUpdate first, then to the [Session] it belongs to,
// if there is one: to the [Turn] that runs, else to the function given to
// [Session.OnUpdate]. Updates that arrive before the answer that introduces a session
// are kept for it, up to 1 MiB a session and 16 MiB in all. A turn ends for its updates
// at the place of the agent's answer among them: what was sent before belongs to the
// turn, what was sent after to OnUpdate.
//
// # Order
//
// The seven promises of package acp hold. For a client they mean: when a call returns,
// every update that the agent sent before its answer has been handled; a request for
// permission comes after the update that explains it; handlers may call the agent, in
// any depth, with the ctx they were given.
//
// # Cancelling
//
// The ctx of a prompt is the user's patience: when it ends, the agent is asked to cancel
// the turn and has Options.CancelGrace to end it, and its answer, mostly with the stop
// reason "cancelled", is returned. Every other call returns with ctx's error at once,
// and the agent is told that nobody waits any more. What the agent is asking the user
// meanwhile (permission, elicitation) is answered with cancelled at once, the handler's
// ctx ends, and until the turn is over further such requests are answered so without
// asking anybody.
//
// # Errors
//
// An *rpcerr.RequestError out of a call is what the agent said. [Conn.AuthenticateAndRetry]
// acts on the one that every client meets. What goes wrong on this side is one of the
// errors of package acp, or a ctx error.
package client
