// Package thread keeps what a user interface shows of a session: a [Thread] converts the
// updates of a session to items, such as messages, thoughts and tool calls, and into what
// holds for the session as a whole, such as its plan, its modes and its title.
//
//	t := thread.New()
//	session.OnUpdate(func(_ context.Context, u acp.SessionUpdate) { t.Apply(u) })
//
//	for snapshot, changes := range t.Watch(ctx) {
//		draw(snapshot, changes)
//	}
//
// A [Snapshot] never changes. Taking one costs as much as what has changed since the
// one before, however long the session is, so an interface may take one for each frame
// it draws.
//
// # What updates do not tell
//
// In version 1 of the protocol the agent does not send back what the user says, nor
// when a turn ends. The program that drives the session tells the Thread: [Thread.Prompt]
// before a prompt is sent, [Thread.EndTurn] after its response, [Thread.Permission] when
// the agent asks for permission, [Thread.Opened] after the response that opens the session,
// and [Thread.Reset] before a session is loaded.
//
// # Rules
//
//   - Chunks with a message id belong to the message of that id. A chunk without one
//     continues the newest item if that is a message of the same role, and begins a
//     message otherwise. Notices and updates of unknown kinds do not separate chunks.
//     The end of a turn does.
//   - Text is joined, so that the items do not depend on how the agent cut it.
//   - A tool call is created by whatever mentions it first: its announcement, an update
//     of it, or a request for permission. Absent fields keep their value; lists are
//     replaced as a whole, and an empty list clears.
//   - Tool calls that are open when the turn ends are marked as ended. An update that
//     comes later is still applied; it does not begin a turn.
//   - A prompt that the agent echoes is one message, not two.
//   - What this package does not know is kept: kinds of updates, of content and of
//     tool output.
//
// # Versions of the protocol
//
// The items, and the [Event] values they are made from, name no version of the protocol.
// [Thread.Apply], [Thread.Prompt], [Thread.EndTurn], [Thread.Permission], [Thread.Opened]
// and [Set] are for version 1. Package [github.com/acpkit/go-sdk/client/v2/thread] has what
// version 2 needs; it uses [Thread.Do], [Thread.AddChunk], [Thread.Ask] and
// [Thread.Enqueue], which any version may use.
package thread
