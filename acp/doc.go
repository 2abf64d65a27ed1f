// Package acp defines the vocabulary of the Agent Client Protocol (ACP), which connects
// coding agents to the programs that drive them: editors, CI jobs, services. It contains
// the types of all messages, the roles [Agent] and [Client], and the errors of a
// connection. It performs no I/O. Packages agent and client implement the two ends of a
// connection, package stream transports the messages, and package rpcerr defines the
// errors that a peer returns.
//
// # Writing an agent
//
//	type echo struct{ conn *agent.Conn }
//
//	func (e *echo) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
//		return &acp.InitializeResponse{}, nil
//	}
//	func (e *echo) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
//		return &acp.NewSessionResponse{SessionID: "s1"}, nil
//	}
//	func (e *echo) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
//		err := e.conn.Session(req.SessionID).Message(ctx, "You said: "+acp.PlainText(req.Prompt...))
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
// # Guarantees of a connection
//
//  1. Notifications are handled one at a time, in the order of arrival.
//  2. The handler of a request starts after all notifications that arrived earlier have
//     been handled: a permission request never overtakes the update that explains it. While
//     a notification handler waits in a call of the connection, or in a send that finds no
//     room, requests start at once, because the peer may need them to respond; the ctx of
//     such a request counts as that of the notification handler.
//  3. A call returns after all notifications that arrived before its response have been
//     handled: when Prompt returns, all its updates have been handled. A call with a ctx
//     that descends from that of a notification handler does not wait for them, because it
//     would deadlock; nor does one of the handler of initialize wait for those that are held
//     until it has returned. The wait ends if the ctx of the call is done.
//  4. Everything that a handler sent before it returned is written before its response.
//  5. Handlers may call the peer to any depth, in both directions, with a ctx that descends
//     from their own. With any other ctx a notification handler would deadlock; after ten
//     seconds the log names the methods. Do not hold a lock during a call if a notification
//     handler acquires the same lock. Handlers do not stop the connection from reading,
//     except by back-pressure.
//  6. Every request receives exactly one response, even if its handler panics, returns a
//     result that cannot be encoded, or is still running at the end of the input: it may run
//     for 5 s then, and for 5 s more when its ctx is done.
//  7. When a connection ends, every pending call fails with one error that wraps the cause
//     and [ErrClosed], [ErrOverloaded] or [ErrStalled].
//
// # Back-pressure
//
// A client that handles updates more slowly than its agent sends them slows the agent down:
// the connection stops reading when pending notifications, together with the updates that a
// Turn of package client has not delivered, occupy more than 64 MiB. Nothing is lost or
// reordered. The connection continues to read while a notification handler waits in a call
// or send, and while any call except a prompt, a load or a resume waits for its response,
// because that response may follow the updates. A hard limit of 1 GiB then ends the
// connection with [ErrOverloaded].
//
// Outgoing messages wait in a queue of 8 MiB. When it is full, senders wait until there is
// room or their ctx is done. A peer that reads nothing for one minute ends the connection
// with [ErrStalled].
//
// At most 1024 request handlers run at once, not counting those that wait for the user, for
// a process or for a call to the peer. Further requests wait in order. A message longer than
// 32 MiB, or nested deeper than 1000 levels, fails alone. [Limits] has those that a program
// can change.
//
// # Roles
//
// [Agent] and [Client] are the baseline of the protocol and never grow within a wire
// version. Each optional method, or group of methods with one capability, is a small
// interface of its own, such as [SessionLoader] or [TerminalHost]. The SDK detects which of
// them a value implements and advertises their capabilities; every other method fails with
// -32601. A value that is [Selective] tells which of them it serves. A connection has the
// role of its other end: *client.Conn is an Agent and *agent.Conn is a Client.
//
// # Unions, enumerations and optional fields
//
// Most of the package is generated from the schema of the protocol, with names in Go's
// spelling: sessionId becomes SessionID. The params of a method end in Request or Notification, its result in Response.
// The page docs/types.md of the repository lists the types by task.
//
// A tagged union is an interface whose variants are pointers, for use in a type switch.
// The variants have no field for the tag; encoding adds it:
//
//	switch u := n.Update.(type) {
//	case *acp.AgentMessageChunk:
//		fmt.Print(acp.PlainText(u.Content))
//	case *acp.ToolCall:
//		fmt.Println("*", u.Title)
//	}
//
// An unknown tag decodes to a variant such as [UnknownSessionUpdate], which keeps the JSON
// and encodes it unchanged: a newer peer does not break an older program. A known tag with
// an invalid payload is an error.
//
// An enumeration is a string type with constants; unknown values are kept. A field is a
// plain value if absent, null and zero mean the same; a pointer if zero has a meaning of
// its own (use new(10) to set one); an [Opt] if null has one. A nil slice that the protocol
// requires is encoded as []. Opaque JSON is a json.RawMessage.
//
// # Encoding
//
// All types work with encoding/json, for storing and logging. It cannot decode an interface
// by itself: use [UnmarshalSessionUpdate], [UnmarshalContentBlock] or the corresponding
// function. A struct that embeds a type of this package inherits its JSON methods and loses
// its own fields; use a named field.
//
// Decoding is lenient where the protocol is: a malformed optional part is treated as
// absent. Invalid UTF-8 and lone surrogates, which programs send that cut text inside an
// emoji, become U+FFFD; opaque JSON keeps them. Member names are matched exactly, and
// unknown members are ignored.
//
// What a program sends is checked first: ids must not be empty, paths must be absolute,
// unions must not be nil or hold a nil pointer, and raw JSON must be valid. If a check
// fails, nothing is sent and the error is an [InvalidError]. What arrives is checked against
// the schema; the rules of the specification's text apply only to the params that start a
// session.
//
// # Unstable parts
//
// The word "Unstable:" in a comment marks what may change or be removed. Unstable methods
// work only if the Options of the connection allow them.
package acp
