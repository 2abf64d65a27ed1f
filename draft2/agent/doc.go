// Package agent implements the agent's end of a connection in version 2 of the protocol. Experimental: it may
// change in any release. For version 1 use package [github.com/acpkit/go-sdk/agent]. Where both versions have
// the same feature, both packages have the same names, promises and options.
//
//	type echo struct {
//		agent.NoHistory
//		conn *agent.Conn
//	}
//
//	func (e *echo) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
//		s := e.conn.Session(req.SessionID)
//		return s.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
//			return acp.StopReasonEndTurn, s.Message(ctx, agent.NewMessageID(), acp.PlainText(req.Prompt...))
//		})
//	}
//
// [NoHistory] has the methods that an agent needs only if it stores its sessions.
//
// # The life of a prompt
//
// The response to session/prompt means that the user's message has become part of the
// conversation. The work on the prompt continues after the response, and state updates
// report what the agent is doing. [Session.Accept] sends the updates in the order that the
// protocol requires: the user's message, the state running, the state requires_action
// while a request to the user is in flight, and the state idle with the stop reason. It
// inserts the prompts of a session one at a time, in the order in which they arrived.
//
// session/cancel cancels the ctx of the work with the cause [acp.ErrTurnCancelled], and
// prompts that still wait fail with -32800. session/close does the same, and also cancels
// the background work that [Session.StartBackground] started.
//
// # MCP servers
//
// A request that opens a session fails with -32602 if it has two MCP servers of one name, or
// one of a type that the agent did not advertise in session.mcp. Types that begin with an
// underscore are left to the agent.
//
// # Skills
//
// An agent lists its skills among its commands; see [acp.Skill]. A prompt that calls a skill which the list of its
// session does not have fails with -32602. To a client that did not advertise session.commands.skill no
// skills are sent: responses are sent without them, and an update that lists them fails with an
// *acp.CapabilityError. Such an agent lists what it has as commands there. The same holds for an agent that
// did not advertise session.prompt.skill; its update fails with an *acp.InvalidError.
//
// # Order
//
// The seven promises of package acp hold.
package agent
