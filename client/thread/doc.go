// Package thread maintains the state that a user interface displays for a session. A
// [Thread] turns the updates of a session into items, such as messages, thoughts and tool
// calls, and into properties of the session as a whole, such as its plan, its modes and its
// title.
//
//	t := thread.New()
//	session.OnUpdate(func(_ context.Context, u acp.SessionUpdate) { t.Apply(u) })
//
//	for snapshot, changes := range t.Watch(ctx) {
//		draw(snapshot, changes)
//	}
//
// A [Snapshot] is immutable. The cost of taking one is proportional to the changes since
// the previous one, not to the length of the session, so an interface may take one for each
// frame that it draws.
//
// A thread keeps all that it receives, so its size grows with the session. Only the output of
// each terminal and the numbers of plans and of pending permission requests are bounded. A
// program whose sessions last for long calls [Thread.Drop] for the items that it no longer shows.
//
// # What updates do not contain
//
// In version 1 of the protocol, updates contain neither the user's prompts nor the end of a
// turn. The program that drives the session must call [Thread.Prompt] before it sends a
// prompt, [Thread.EndTurn] after the response, [Thread.Permission] when the agent asks for
// permission, [Thread.Opened] after the response that opens the session, and [Thread.Reset]
// before it loads a session. A [Set] makes these calls for all sessions of a connection.
// If the client runs the commands of the agent with package client/host or client/terminals, a
// Set shows them too, in Snapshot.Terminals; see [Terminal.Stop].
//
// # Rules
//
//   - A chunk with a message id belongs to the message with that id. A chunk without one
//     continues the newest item if that is a message of the same role, and starts a message
//     otherwise. The end of a turn separates chunks; notices and updates of unknown kinds
//     do not.
//   - Adjacent text is joined, so the items do not depend on the size of the chunks.
//   - The first message that names a tool call creates it: the announcement of the call, an
//     update of it, or a permission request. Absent fields keep their value. A list
//     replaces the previous list; an empty list clears it.
//   - Tool calls that are open when the turn ends are marked as ended. Later updates are
//     still applied; they do not start a turn.
//   - A prompt and its echo from the agent are one message.
//   - Updates, content and tool output of unknown kinds are kept.
//
// # Versions of the protocol
//
// The items, and the [Event] values that create them, are independent of the version of the
// protocol. [Thread.Apply], [Thread.Prompt], [Thread.EndTurn], [Thread.Permission],
// [Thread.Opened] and [Set] are for version 1. Package
// [github.com/acpkit/go-sdk/client/v2/thread] is for version 2. It uses [Thread.Do],
// [Thread.AddChunk], [Thread.Ask] and [Thread.Enqueue], which serve every version.
package thread
