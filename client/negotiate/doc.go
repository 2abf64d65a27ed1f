// Package negotiate connects to an agent in the version of the protocol that the agent
// speaks, and provides one API for both versions.
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
// only version 1 uses package client and does not link this package.
//
// # How the version is found
//
// Connect sends one initialize request that both versions understand: it requests version 2
// and has the members of both versions. The members of the response decide, because some
// agents of version 1 repeat the requested version:
//
//   - The agent speaks version 2 if the response has that version and the members info and
//     capabilities.
//   - It speaks version 1 if the response has that version or the member agentCapabilities.
//     The connection continues.
//   - Otherwise, and if the agent responds with an error or exits, Connect dials it again
//     and sends an initialize request of version 1. ConnectOver sends that request over the
//     same stream.
//   - If the agent's error lists the supported versions and version 1 is not among them, or
//     means that the user must sign in (-32000), Connect does not try again.
//
// An endpoint that serves both versions may derive the capabilities of the client from the
// members of version 2, which cannot express files, terminals and some other features.
// Therefore, if the agent speaks version 1 and the client offers anything that version 2
// cannot express, Connect sends a second initialize request, of version 1. If the agent
// rejects it, the first response is used. Endpoints on a network take one initialize:
// Connect dials them again, and ConnectOver uses the first response.
//
// If there is no common version, the error is a *[acp.VersionError] with the versions of
// both ends.
//
// # What a client offers
//
// Options.V1 and Options.V2 return the client for each version. The interfaces that it
// implements are advertised, as in the packages client and client/v2. The client of version
// 1 may be that of package client/host, with files and terminals. The default client
// answers permission requests as Options.Permission decides, and implements nothing else.
//
// # The conversation
//
// The [thread.Thread] of a session holds its content, independent of the version. The
// versions differ in these points:
//
//   - During a turn, [Session.Prompt] fails in version 1. In version 2 the agent accepts
//     the prompt at once or later; until then it is in Snapshot.Queued. See Features.Queue.
//   - [Conn.LoadSession] calls session/load in version 1, and session/resume with a replay
//     in version 2.
//   - The modes of version 1 are an option; see [Session.Options].
//   - Terminals belong to the client in version 1. In version 2 they belong to the agent,
//     and Snapshot.Terminals holds their output.
//
// [Conn.V1] and [Conn.V2] return the underlying connection, for what only one version has.
package negotiate
