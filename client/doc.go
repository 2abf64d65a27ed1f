// Package client implements the client's end of a connection: it holds conversations with
// an agent and handles the agent's requests. A program implements [acp.Client] and the
// optional interfaces of package acp that it supports, and passes the value to [Connect]:
//
//	type viewer struct{}
//
//	func (viewer) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }
//	func (viewer) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
//		return acp.SelectKind(req.Options, acp.PermissionOptionKindRejectOnce), nil // this client allows nothing
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
// New determines once which optional interfaces the value implements. A request for a
// method that it does not implement fails with -32601. [Conn.Initialize] advertises the
// capabilities of the implemented methods if the request leaves ClientCapabilities nil.
// Use the middlewares in [Options] Receiving and Sending for code that all methods share.
//
// # What is sent
//
// [Conn] has a method for every message that a client can send; [Session] and [Turn] are
// easier to use for a conversation. [Conn.StartSession] starts an empty session,
// [Conn.StartLoadedSession] opens a stored one and receives its history, and
// [Conn.StartResumedSession] opens one without its history.
//
// A message that needs a capability which the agent did not advertise fails with an *acp.CapabilityError before anything is sent. This applies
// to methods, kinds of content in a prompt (images, audio, embedded resources), MCP
// transports, additional directories, and system prompts. It does not apply to signing
// in, modes and options, for which the protocol has no capabilities. Params that break a
// rule of the protocol fail with an *acp.InvalidError that names the field.
//
// # Updates
//
// Every update goes to Client.SessionUpdate first. If there is a [Session] for it, it then
// goes to the [Turn] in flight, or, if there is none, to the function given to
// [Session.OnUpdate]. Updates of a new session that arrive before the response that
// contains its id are kept, up to 1 MiB a session and 16 MiB in all. Updates that the
// agent sent before its response to a prompt belong to the turn, and later ones go to
// OnUpdate.
//
// # Order
//
// The seven promises of package acp hold. For a client they mean: when a call returns,
// every update that the agent sent before its response has been handled; a request for
// permission is handled after the updates that were sent before it; handlers may call the
// agent, at any depth, with the ctx that they were given.
//
// # Cancelling
//
// If the ctx of a prompt is done, the agent is asked to cancel the turn. The prompt then
// waits up to Options.CancelGrace for the response, whose stop reason is usually
// "cancelled", and returns it. Every other call returns the error of ctx at once, and the
// request is cancelled at the agent.
//
// When a turn is cancelled, requests of the agent to the user that are in flight
// (permissions and elicitations) get the response "cancelled" at once, and the ctx of
// their handlers is done. Until the turn has ended, further requests of this kind get the
// same response, and no handler is called.
//
// # Errors
//
// If a call returns an *rpcerr.RequestError, it is the error that the agent responded
// with. [Conn.SignInAndRetry] handles the error for missing authentication, which
// any agent may return. Errors that arise in this process are errors of package acp, or
// the error of a ctx.
package client
