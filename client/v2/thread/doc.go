// Package thread turns the updates of a session of version 2 of the protocol into the items
// of package [github.com/acpkit/go-sdk/client/thread], so that one user interface serves
// both versions. Version 2 is a draft: names may change in any release.
//
// A [Set] maintains the threads of a connection. Its middlewares pass everything that
// happens in a session to its thread, whichever methods the program calls:
//
//	threads := thread.NewSet()
//	conn, err := client.Connect(ctx, process, newClient, &client.Options{
//		Receiving: []acp.Middleware{threads.Receiving},
//		Sending:   []acp.Middleware{threads.Sending},
//	})
//
// Without a Set, a program must call [Apply] for each update of a session, [Prompt] before
// it sends a prompt, [Permission] when the agent asks for permission, and [Started] or
// [Opened] after the response that opens the session.
//
// # What differs from version 1
//
// The agent sends the user's messages, with their ids, and reports in state updates when
// work begins and ends. A prompt is therefore in Snapshot.Queued until the agent has
// accepted it, and Snapshot.Turn is the state that the agent reported. Chunks of several
// messages may interleave. The agent owns its terminals: their output is in
// Snapshot.Terminals.
package thread
