// Package acp defines the vocabulary of version 2 of the Agent Client Protocol: the types of all
// messages, the names of the methods, and the roles [Agent] and [Client]. Experimental: it may
// change in any release.
//
// Package [github.com/acpkit/go-sdk/acp] is the vocabulary of version 1, which is stable. What
// is the same in both versions, in every field and rule, is one type, so that a program for
// both versions need not convert it: ids such as [SessionID], enumerations such as [ToolKind],
// [PermissionOption], [Implementation] and others, [Meta], [Opt], [RequestID], the errors of
// a connection, [Handler] and [Middleware].
//
// # Differences from version 1
//
//   - The response to session/prompt means that the message is part of the conversation, not
//     that the work on it has ended. A [SessionStateUpdate] reports the state of the agent.
//   - One kind of update creates and changes a message, one a tool call, and one a terminal.
//     Members of such an update have three states: absent keeps the value, null resets it,
//     and a value replaces it. See [Opt].
//   - Every message has an id. Chunks of several messages may interleave.
//   - Files and terminals belong to the agent. The client displays them; it has no methods to
//     read or write files, or to run commands.
//   - Capabilities are objects: a non-nil pointer means supported. See
//     [AgentCapabilities.Has].
//   - There are no modes; config options replace them.
//   - Every union except [ElicitationScope] is open: an unknown variant decodes to a type
//     whose name begins with Unknown or Other, and is encoded unchanged.
//
// # Types
//
// The params of a method end in Request or Notification, its result in Response. The page docs/types.md of the
// repository lists the types by task.
//
// # Encoding
//
// All types work with encoding/json and follow the rules of the protocol: member names are
// matched exactly, a malformed value of a lenient member is treated as absent, and a
// member of the protocol that occurs twice in an object is an error.
package acp
