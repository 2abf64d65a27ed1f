// Package acp is the vocabulary of the Agent Client Protocol: what a coding agent
// and the program around it, an editor, a CI job or a service, say to each other.
// It holds the types of all messages, the two roles [Agent] and [Client], and the
// errors of a connection. It does no I/O: packages agent and client are the two
// ends of a connection, package stream carries the bytes, package rpcerr has the
// errors that travel.
//
// # An agent
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
// # Roles
//
// [Agent] and [Client] hold the baseline of the protocol and never grow within a
// wire version. Each further method, or group of methods behind one capability,
// is a small interface of its own: [SessionLoader], [TextFileReader],
// [TerminalHost] and so on. The SDK looks once which of them a value has, advertises
// their capabilities, and answers all else with -32601. [ExtensionHandler] takes
// the methods that the protocol does not define. A connection is the other end's
// role: *client.Conn is an Agent and *agent.Conn is a Client.
//
// # Types
//
// Most of the package is generated from the protocol's schema, one file per topic,
// with names in Go's spelling: sessionId is SessionID.
//
// A tagged union is an interface with pointer variants, for use in a type switch.
// A variant has no field for its tag; encoding writes it:
//
//	switch u := n.Update.(type) {
//	case *acp.AgentMessageChunk:
//		fmt.Print(acp.PlainText(u.Content))
//	case *acp.ToolCall:
//		fmt.Println("*", u.Title)
//	}
//
// A tag that this version does not know becomes a variant such as
// [UnknownSessionUpdate], which keeps the JSON and encodes back to it. So a newer
// peer does not break an older program. A known tag with a bad payload is an error.
//
// Enumerations are string types with constants, and unknown values are kept. Where
// absent, null and the zero value mean the same, a field is a plain value; where
// zero means something of its own, it is a pointer, which new(10) builds; where
// null means something of its own, it is an [Opt]. Lists that the protocol requires
// are written as [] when nil. Opaque JSON is a json.RawMessage and is not looked
// into. [Meta] carries the data of extensions.
//
// All types work with encoding/json, for storing and logging. It does not know the
// variants of an interface that stands by itself: read those with
// [UnmarshalContentBlock], [UnmarshalSessionUpdate] and their kin. A struct that embeds
// a type of this package inherits its JSON form and loses its own fields; use a field
// with a name. Reading is lenient
// where the protocol says so: a malformed optional part reads as absent instead of
// losing the message. Bytes that are not UTF-8 and halves of surrogate pairs, which
// programs send that cut a text in the middle of an emoji, read as U+FFFD; opaque JSON
// keeps them. Names of members are matched exactly, and unknown members are ignored.
//
// What one side sends is checked before it leaves: ids are not empty, paths are
// absolute, unions are not nil and hold no nil pointer, raw JSON is JSON. A failed
// check is an [InvalidError] and nothing is sent. What arrives is checked against the
// schema; the rules of the prose hold only for the params that start a session.
//
// # Unstable parts
//
// What may still change or go is marked by a paragraph that begins with
// "Unstable:". Unstable methods work only when the Options of the end allow them.
//
// # What a connection promises
//
//  1. Notifications are handled one at a time, in the order they arrived.
//  2. A request's handler starts only after every notification that arrived before
//     it has been handled: a permission request never overtakes the update that
//     explains it. While a notification handler is itself inside a call or a send
//     of the connection, requests start at once, because the peer may need them for
//     its answer; the ctx of such a request's handler counts as the notification
//     handler's.
//  3. A call returns only after every notification that arrived before its answer
//     has been handled: when Prompt returns, all its updates were seen. A call made
//     with a ctx that comes from a notification handler does not wait for that,
//     because it would wait for itself. The wait also ends with the call's ctx.
//  4. Everything a handler sent before it returned is on the wire before its
//     response.
//  5. Handlers may call the peer, to any depth and in both directions, with a ctx
//     that descends from the one they were given. With another ctx a notification
//     handler would wait for itself; after ten seconds the log says which methods
//     do. Do not hold a lock during a call that a notification handler takes too.
//     Nothing in a handler stops the connection from reading, save the
//     back-pressure described below.
//  6. Every request that arrives is answered exactly once: also when its handler
//     panics, returns what cannot be encoded, or is still at work when the input
//     ends, within the graces of the Options.
//  7. A connection that ends fails every pending call with one error that wraps
//     [ErrClosed], or one of its kin, and the cause.
//
// # Back-pressure
//
// A client that handles updates more slowly than its agent sends them slows the
// agent down: when the notifications that wait for their handler, together with the
// updates that a Turn of package client has not given out, exceed a budget of
// 64 MiB, the connection stops reading until there is room. Nothing is lost and
// nothing is reordered. It goes on reading while a notification handler is inside
// a call or send, and while any call but a prompt, a load or a resume waits for
// its answer, since that answer may stand behind the updates; a hard limit of 1 GiB
// then ends the connection with [ErrOverloaded].
//
// In the other direction, what this side sends waits in a queue of 8 MiB. When it
// is full, senders wait, and leave with their ctx; a peer that takes nothing for a
// minute ends the connection with [ErrStalled].
//
// At most 1024 request handlers run at once; those that wait for people,
// processes or a call to the peer do not count. Requests beyond it wait in order.
// A message longer than 32 MiB or nested deeper than 1000 fails alone. The Options
// of both ends hold all limits.
package acp
