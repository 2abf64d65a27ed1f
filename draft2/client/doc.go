// Package client implements the client's end of a connection in version 2 of the protocol. Experimental: it
// may change in any release. For version 1 use package [github.com/acpkit/go-sdk/client]. Where both versions
// have the same feature, both packages have the same names, promises and options.
//
//	conn, err := client.Connect(ctx, process, func(*client.Conn) acp.Client { return viewer{} }, nil)
//	if err != nil {
//		return err
//	}
//	defer conn.Close()
//	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
//	if err != nil {
//		return err
//	}
//	text, err := session.Prompt(ctx, acp.Text("What is in this folder?")).Text()
//
// # Turns
//
// The response to session/prompt means that the message of the prompt has become part of the
// conversation, and [Turn.Accepted] waits for it. The work on it goes on, and the agent
// reports its state with updates. A [Turn] begins when its message has become part of the
// conversation: at the update that contains the message or at the response, whichever is
// read first. It ends when the agent reports that it is idle; [Turn.Wait] returns that state
// with the stop reason.
//
// [Session.Prompt] may be called while a turn is in progress. An agent may hold the prompt
// until it is idle, or add the message to the conversation at once. In the second case both
// turns are in progress, updates go to the one that began last, and both end together.
// Updates outside a turn go to the function given to [Session.OnUpdate]; [Session.State]
// returns the state that the agent reported last.
//
// # Cancelling
//
// The protocol cancels all foreground work of a session at once: [Session.Cancel] does that.
// A turn in progress then ends with the stop reason "cancelled", and a prompt that the agent
// holds fails with -32800. [Turn.Cancel] and the end of the ctx of [Session.Prompt] do the
// same, with one exception: a prompt that the agent holds is cancelled alone, and other work
// goes on. The agent's requests to the user get the response "cancelled", except those about
// a tool call or a terminal that the agent lists as background work. Background work goes
// on until [Conn.CancelToolCall], [Conn.CancelTerminal] or [Session.Close].
//
// # Order
//
// The seven promises of package acp hold. The end of a turn is an update, so a handler of
// updates must not wait for a turn, which would be a deadlock.
//
// Messages that the agent sends before its response to initialize are handled after that
// response. An agent must not wait for the client before it has responded, because that is
// a deadlock; in version 1 it may.
package client
