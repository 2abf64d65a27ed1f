// Package negotiate connects to an agent in whichever version of the protocol it speaks,
// and gives a program one conversation for both: it is written once.
//
//	conn, err := negotiate.Connect(ctx, negotiate.Command(func() *exec.Cmd {
//		return exec.Command("my-agent", "--acp")
//	}, nil), &negotiate.Options{Permission: policy})
//	if err != nil {
//		return err
//	}
//	defer conn.Close()
//	session, err := conn.StartSession(ctx, &negotiate.SessionParams{Cwd: "/work"})
//	if err != nil {
//		return err
//	}
//	go func() {
//		for snapshot, changes := range session.Thread().Watch(ctx) {
//			draw(snapshot, changes)
//		}
//	}()
//	turn, err := session.Prompt(ctx, negotiate.Text("What is in this folder?")).Wait()
//
// Version 2 is a draft, so this package may change in any release. A program that speaks
// version 1 alone uses package client and links nothing of this.
//
// # How the version is found
//
// Connect sends one initialize that both versions understand: it requests version 2 and
// has the members of both versions. The members of the response decide, because there are
// agents of version 1 that repeat the version they were asked for:
//
//   - The agent speaks version 2 if the response says so and has the members info and
//     capabilities.
//   - It speaks version 1 if the response says so or has the member agentCapabilities. The
//     connection continues.
//   - Otherwise, also if the agent responds with an error or exits, it is dialed again and
//     asked in version 1 alone. Without a way to dial again, it is asked again over the
//     same stream.
//   - An agent that lists its versions and supports neither is not asked again.
//
// An endpoint that serves both versions may derive what it tells an agent of version 1
// from the members of version 2, which have no files and no terminals. So a client that
// has them sends a second initialize, of version 1 alone, after it has learnt that the
// agent speaks version 1. Agents of version 1 must accept that; if one rejects it, its
// first response is used.
//
// If there is no common version, the error is a *client.VersionError that names the
// versions of both ends, in whichever form the agent reported it.
//
// # What a client offers
//
// Options.V1 and V2 return the client for each version, and what it implements is what is
// advertised, as in the packages client and client/v2. The client of version 1 may be the
// one of package client/host, with files and terminals. Without them, a client answers the
// questions of the agent as Options.Permission decides, and offers nothing else.
//
// # The conversation
//
// What is shown of a session is its [thread.Thread], whose items name no version. What the
// versions do differently is this:
//
//   - [Session.Prompt] during a turn fails in version 1 and waits in version 2, where the
//     prompt is in Snapshot.Queued until the agent takes it up; see Features.Queue.
//   - [Conn.LoadSession] is session/load in version 1 and session/resume with the history
//     in version 2.
//   - Modes of version 1 are an option; see [Session.Options].
//   - Terminals are those of the client in version 1, and those of the agent in version 2,
//     where Snapshot.Terminals holds their output.
//
// [Conn.V1] and [Conn.V2] return the connection itself, for all that is not in common.
package negotiate
