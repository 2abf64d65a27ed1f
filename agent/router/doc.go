// Package router serves clients of version 1 and of version 2 of the protocol on one
// endpoint, over any stream:
//
//	agents := &router.Agents{V1: newV1, V2: newV2}
//	err := router.Serve(ctx, stream.Stdio(), agents, nil)
//
// Version 2 of the protocol is a draft, so this package may change in any release.
//
// # Which agent serves a connection
//
// The first successful initialize decides, and the choice is final: later messages,
// including a repeated initialize, reach the chosen agent unchanged.
//
//   - If there is only an agent of version 1, it serves every client. It responds with
//     version 1, and a client that needs another version disconnects.
//   - Otherwise a client that requests version 2 or later gets version 2, and a client that
//     requests version 1 gets version 1.
//   - If there is no agent for that version, initialize fails with -32022 and the supported
//     versions.
//
// Before that, a request other than initialize fails with -32600, and an initialize with a
// malformed version, or with malformed params in the version that it names, fails with
// -32602. Notifications and responses are ignored. The connection stays open in all of
// these cases, and the client may try again.
//
// # What the agent reads
//
// If the client requests the version of the agent, the agent reads its initialize
// unchanged. If the client requests a later version, the params are reduced to the members
// that the version of the agent defines, without malformed ones. For an agent of version 1
// the params of version 2 are translated: info becomes clientInfo, and the capabilities
// become those that every client of version 2 has, without files and terminals. A client
// that has them must connect again with version 1.
//
// # One agent for both versions
//
// Package [github.com/acpkit/go-sdk/agent/router/adapter] serves an agent of version 1 to
// clients of version 2.
package router
