// Package acp defines the vocabulary of version 2 of the Agent Client Protocol: the types of
// all messages, the names of the methods, and the roles [Agent] and [Client].
//
// Version 2 is a draft. Names and types of this package may change in any release. Package
// [github.com/acpkit/go-sdk/acp] is the vocabulary of version 1, which is stable. What is the
// same in both versions, in every field and rule, is one type, so that a program for both
// versions need not convert it: ids such as [SessionID], enumerations such as [ToolKind],
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
// # Types by task
//
// The params of a method end in Request or Notification, its result in Response.
//
// Connect: [InitializeRequest] and [InitializeResponse] exchange [AgentCapabilities],
// [ClientCapabilities] and two [Implementation] descriptions.
//
// Authenticate: an agent offers [AuthMethod] values; a client sends [LoginAuthRequest],
// [LogoutAuthRequest] and [AuthStatusRequest], and receives [AuthStatusUpdateNotification].
// Roles: [Authenticator], [AuthStatusReporter], [AuthStatusUpdater].
//
// Start a session: [NewSessionRequest], [ResumeSessionRequest] with a [ReplayFrom],
// [ForkSessionRequest] and [CloseSessionRequest], with [MCPServer] and [SystemPrompt]
// values. Roles: [SessionForker], [SystemPromptApplier].
//
// Manage stored sessions: [ListSessionsRequest] returns [SessionInfo] values;
// [DeleteSessionRequest], [ArchiveSessionRequest], [UnarchiveSessionRequest],
// [SessionStatusRequest] and [SetSessionTitleRequest] act on one of them. Roles:
// [SessionDeleter], [SessionArchiver], [SessionStatusReporter],
// [SessionTitleSetter].
//
// Configure a session: [SetSessionConfigOptionRequest] sets a [SessionConfigOption], whose
// kind is a [SessionConfigKind], to a [SessionConfigOptionValue].
// [SessionOptionsRequest] asks for the options before a session starts, and the requests that
// start one set them with [InitialSessionConfigOption] values. Roles:
// [SessionConfigOptionSetter], [SessionOptionsReporter].
//
// Prompt: [PromptRequest] contains [ContentBlock] values ([TextContent], [ImageContent],
// [AudioContent], [ResourceLink], [EmbeddedResource] with an [EmbeddedResourceResource]);
// [PromptResponse] contains the id of the message. [CancelSessionNotification] cancels the
// work; [CancelToolCallRequest] and [CancelTerminalRequest] cancel a part of it. Roles:
// [ToolCallCanceller], [TerminalCanceller].
//
// Receive updates: [UpdateSessionNotification] contains a [SessionUpdate]. Messages arrive as
// [UserMessage], [AgentMessage] and [AgentThought], and in chunks as [UserMessageChunk],
// [AgentMessageChunk] and [AgentThoughtChunk]; the state of the agent as
// [SessionStateUpdate], whose [StateUpdate] is a [RunningStateUpdate], [IdleStateUpdate],
// [RequiresActionStateUpdate] or [OtherStateUpdate], with the [BackgroundWork] that
// continues; changes of the session as [AvailableCommandsUpdate] (with [AvailableCommand]
// and [AvailableCommandInput]), [ConfigOptionUpdate], [SessionInfoUpdate] and [UsageUpdate];
// other events as [Notice], [CompactionUpdate] and [CompactionSummaryChunk].
//
// Show tool calls: [ToolCallUpdate] creates or changes one. Its output consists of
// [ToolCallContent] values: [Content], [Diff] with [DiffOperation] values, and [Terminal];
// [ToolCallContentChunk] adds to it. [TerminalUpdate] and [TerminalOutputChunk] describe the
// terminals of the agent.
//
// Show plans: [PlanUpdate] with a [PlanUpdateContent], and [PlanRemoved].
//
// Suggest prompts: [PromptSuggestionsUpdate]. Name positions at which a session can be forked:
// [CursorUpdate] with a [CursorAnchor]. End a replay: [ReplayComplete]. Use skills: [Skill] in the
// list of commands, and [SkillReference] in a prompt.
//
// Show subagents: [SubagentUpdate]; [SessionMessage] and [SessionMessageChunk].
//
// Ask for permission: [RequestPermissionRequest] contains a [RequestPermissionSubject] and
// [PermissionOption] values; [RequestPermissionResponse] contains a
// [RequestPermissionOutcome].
//
// Ask for input: [CreateElicitationRequest] contains an [ElicitationMode] with an
// [ElicitationScope]. A form is an [ElicitationSchema] of [ElicitationPropertySchema]
// fields, some of them with [MultiSelectItems]. [CreateElicitationResponse] contains an
// [ElicitationAction] with [ElicitationContentValue] values;
// [CompleteElicitationNotification] follows. Roles: [Elicitor], [ElicitationCompleter].
//
// Use MCP over the connection: [MessageMCPRequest] and [MessageMCPNotification]. Roles:
// [MCPMessageHandler], [MCPNotificationHandler].
//
// Direct model traffic: [ListProvidersRequest], [SetProviderRequest] and
// [DisableProviderRequest]. Role: [ProviderManager].
//
// # Encoding
//
// All types work with encoding/json and follow the rules of the protocol: member names are
// matched exactly, a malformed value of a lenient member is treated as absent, and a
// member of the protocol that occurs twice in an object is an error.
package acp
