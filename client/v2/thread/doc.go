// Package thread turns what happens in a session of version 2 of the protocol into the
// items of package [github.com/acpkit/go-sdk/client/thread], which name no version: a user
// interface is written once for both. Version 2 is a draft: names may change in any
// release.
//
// The simplest way is a [Set]. Its two middlewares tell the threads all that happens on a
// connection, whatever calls the program makes:
//
//	threads := thread.NewSet()
//	conn, err := client.Connect(ctx, process, newClient, &client.Options{
//		Receiving: []acp.Middleware{threads.Receiving},
//		Sending:   []acp.Middleware{threads.Sending},
//	})
//
// A program that does without calls [Apply] for each update of a session, and [Prompt],
// [Permission] and [Opened] when it sends prompts, is asked, or opens sessions.
//
// # What differs from version 1
//
// The agent sends the user's messages itself, with their ids, and says in state updates
// when it begins to work and when it ends. So a prompt waits in Snapshot.Queued until the
// agent has accepted it, the newest message need not be the newest item that grows, and
// Snapshot.Turn is what the agent says. The agent owns its terminals: their output is in
// Snapshot.Terminals.
package thread
