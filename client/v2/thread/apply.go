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

import (
	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/thread"
)

// Apply applies an update of version 2 of the protocol to t. Call it for each update of the
// session, in order.
func Apply(t *thread.Thread, u acp.SessionUpdate) {
	switch u := u.(type) { // the most common ones without an Event in between
	case *acp.AgentMessageChunk:
		t.AddChunk(chunk(thread.RoleAgent, u.MessageID, u.Content, u.Meta))
	case *acp.AgentThoughtChunk:
		t.AddChunk(chunk(thread.RoleThought, u.MessageID, u.Content, u.Meta))
	case *acp.UserMessageChunk:
		t.AddChunk(chunk(thread.RoleUser, u.MessageID, u.Content, u.Meta))
	case *acp.SessionMessageChunk:
		t.AddChunk(chunk(thread.RoleSession, u.MessageID, u.Content, u.Meta))
	default:
		if e := event(u); e != nil {
			t.Do(e)
		}
	}
}

// Prompt adds a prompt of the user to t. Call it before the prompt is sent. Call the
// returned function with the agent's response, or with nil if the prompt failed or was
// withdrawn.
func Prompt(t *thread.Thread, prompt []acp.ContentBlock) (responded func(*acp.PromptResponse)) {
	inserted := t.Enqueue(contentBlocks(prompt))
	return func(res *acp.PromptResponse) {
		if res == nil {
			inserted("")
			return
		}
		inserted(string(res.MessageID))
	}
}

// Permission adds a pending permission request to t. A tool call in the request is applied
// like an update. Call the returned function when the request has been answered; it may be
// called more than once.
func Permission(t *thread.Thread, req *acp.RequestPermissionRequest) (answered func()) {
	p := thread.Permission{Title: req.Title, Description: req.Description, Meta: thread.Meta(req.Meta)}
	for _, o := range req.Options {
		p.Options = append(p.Options, thread.PermissionOption{
			ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind), Meta: thread.Meta(o.Meta),
		})
	}
	switch s := req.Subject.(type) {
	case *acp.ToolCallPermissionSubject:
		p.ToolCallID = string(s.ToolCall.ToolCallID)
		call, _ := ToolCallOf(&s.ToolCall)
		return t.Ask(p, call)
	case *acp.CommandPermissionSubject:
		p.Command, p.Cwd = s.Command, string(s.Cwd)
		p.ToolCallID, p.TerminalID = string(s.ToolCallID), string(s.TerminalID)
	case *acp.UnknownRequestPermissionSubject:
		p.Raw = s.Raw
	}
	return t.Ask(p)
}

// Opened reports to t that the session was resumed. Options and commands are those of the
// response; nil if it has none. For a new session use [Started].
func Opened(t *thread.Thread, options []acp.SessionConfigOption, commands []acp.AvailableCommand) {
	t.Do(opened(options, commands))
}

// Started is like [Opened] for a new session. Options and commands from updates that
// arrived before the response are kept.
func Started(t *thread.Thread, options []acp.SessionConfigOption, commands []acp.AvailableCommand) {
	e := opened(options, commands)
	e.New = true
	t.Do(e)
}

func opened(options []acp.SessionConfigOption, commands []acp.AvailableCommand) thread.SessionOpened {
	e := thread.SessionOpened{}
	if options != nil {
		e.Options = new(optionsOf(options))
	}
	if commands != nil {
		e.Commands = new(commandsOf(commands))
	}
	return e
}
