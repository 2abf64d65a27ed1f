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

import (
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Apply applies an update of version 1 of the protocol. Call it for each update of the
// session, in order.
func (t *Thread) Apply(u acp.SessionUpdate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch u := u.(type) { // without an Event in between, which would be an allocation
	case *acp.AgentMessageChunk:
		MessageChunk{RoleAgent, string(u.MessageID), block(u.Content), Meta(u.Meta)}.apply(t)
	case *acp.AgentThoughtChunk:
		MessageChunk{RoleThought, string(u.MessageID), block(u.Content), Meta(u.Meta)}.apply(t)
	case *acp.UserMessageChunk:
		MessageChunk{RoleUser, string(u.MessageID), block(u.Content), Meta(u.Meta)}.apply(t)
	default:
		if e := event(u); e != nil {
			e.apply(t)
		}
	}
}

// Prompt adds a prompt of the user and starts a turn. Call it before the prompt is sent.
func (t *Thread) Prompt(prompt []acp.ContentBlock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prompted("", contentBlocks(prompt))
	StateChanged{State: StateRunning}.apply(t)
}

// EndTurn ends the turn of the latest prompt, with the agent's response or with an error.
// Later updates do not belong to the turn.
func (t *Thread) EndTurn(res *acp.PromptResponse, err error) {
	turn := TurnOf(res)
	end := StateChanged{State: turn.State, StopReason: turn.StopReason, Usage: turn.Usage, Meta: turn.Meta}
	if err != nil {
		end.Error = failure(err)
		if end.StopReason == "" {
			end.StopReason = "error"
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.echoes = nil
	end.apply(t)
}

// TurnOf returns the value of Snapshot.Turn after a turn has ended with the response, which is nil
// if there was none.
func TurnOf(res *acp.PromptResponse) Turn {
	if res == nil {
		return Turn{State: StateIdle}
	}
	return Turn{State: StateIdle, StopReason: string(res.StopReason), Usage: tokens(res.Usage), Meta: Meta(res.Meta)}
}

// Permission adds a pending permission request. Call the returned function when the request
// has been answered; it may be called more than once.
func (t *Thread) Permission(req *acp.RequestPermissionRequest) (answered func()) {
	p := Permission{
		ToolCallID: string(req.ToolCall.ToolCallID), Title: req.ToolCall.Title, Options: permissionOptions(req.Options), Meta: Meta(req.Meta),
	}
	return t.Ask(p, event(&req.ToolCall))
}

// Opened reports that the session was started, loaded or resumed. Modes and options are
// those of the response; nil if it has none. A replay ends with it: tool calls that are
// still open are marked as ended.
func (t *Thread) Opened(modes *acp.SessionModeState, options []acp.SessionConfigOption) {
	t.Do(opened(modes, options))
}

func opened(modes *acp.SessionModeState, options []acp.SessionConfigOption) SessionOpened {
	o := SessionOpened{}
	if modes != nil {
		o.Modes = modesOf(modes)
	}
	if options != nil {
		o.Options = new(optionsOf(options))
	}
	return o
}

func failure(err error) *Failure {
	f := &Failure{Message: err.Error()}
	if e, ok := errors.AsType[*rpcerr.RequestError](err); ok {
		f.Message, f.Code = e.Message, int(e.Code)
		f.Data = rawData(e.Data)
	}
	return f
}
