// Package thread turns the updates of a session of version 2 of the protocol into the items of package
// [github.com/acpkit/go-sdk/client/thread], so that one user interface serves both versions. Experimental: it may
// change in any release.
//
// A [Set] maintains the threads of a connection. What the agent sends reaches the threads on its
// way to the client, and what the program sends, whichever methods it calls, in a middleware:
//
//	threads := new(thread.Set)
//	newClient := func(conn *client.Conn) acp.Client { return threads.Client(&editor{conn: conn}) }
//	conn, err := client.Connect(ctx, process, newClient, &client.Options{Sending: []acp.Middleware{threads.Sending}})
//
// A program that needs no updates besides calls OnUpdate of its client.Session with nil, or the Session
// keeps the first ones.
//
// Without a Set, a program must call [Apply] in SessionUpdate of its client, [Prompt] before
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
	"context"

	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
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

// Permission adds a pending permission request to t and returns its key. A tool call in the request is applied
// like an update. Call Answered of t when the request has been answered.
func Permission(t *thread.Thread, req *acp.RequestPermissionRequest) (key uint64) {
	p := thread.Permission{Title: req.Title, Description: req.Description, Options: permissionOptions(req.Options), Meta: thread.Meta(req.Meta)}
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

// Set keeps a thread for each session of a connection; see the package comment. The zero Set is
// empty. All methods are safe for concurrent use.
type Set struct{ threads thread.Map }

// Thread returns the thread of a session. It creates one if there is none.
func (s *Set) Thread(id acp.SessionID) *thread.Thread { return s.threads.Thread(string(id)) }

// Forget removes the thread of a session. The thread itself remains usable.
func (s *Set) Forget(id acp.SessionID) { s.threads.Forget(string(id)) }

// Client returns c with threads: updates and permission requests reach the thread of their session
// before they reach c.
func (s *Set) Client(c acp.Client) acp.Client { return &shown{acp.ClientWrapper{Client: c}, s} }

// shown is a client with threads.
type shown struct {
	acp.ClientWrapper
	set *Set
}

func (c *shown) SessionUpdate(ctx context.Context, n *acp.UpdateSessionNotification) error {
	Apply(c.set.threads.Mentioned(string(n.SessionID)), n.Update)
	return c.ClientWrapper.SessionUpdate(ctx, n)
}

func (c *shown) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	t := c.set.threads.Mentioned(string(req.SessionID))
	key := Permission(t, req)
	defer t.Answered(key)
	return c.ClientWrapper.RequestPermission(t.Context(ctx, key), req)
}

// Sending is a middleware for client.Options.Sending. It passes prompts and their
// responses, options that were set, and opened sessions to the threads. Before a session is
// resumed with its history, it resets the thread; if that fails, it restores it.
func (s *Set) Sending(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		undo := func() {}
		switch p := params.(type) {
		case *acp.PromptRequest:
			responded := Prompt(s.Thread(p.SessionID), p.Prompt)
			defer responded(nil) // also when a middleware ends the goroutine
			result, err := next(ctx, method, params)
			if res, _ := result.(*acp.PromptResponse); err == nil {
				responded(res)
			}
			return result, err
		case *acp.ResumeSessionRequest:
			if p.ReplayFrom != nil {
				t := s.Thread(p.SessionID)
				before := t.Snapshot()
				t.Reset()
				undo = func() { t.Restore(before) }
			}
		}
		result, err := next(ctx, method, params)
		if err != nil {
			undo()
		} else {
			s.done(params, result)
		}
		return result, err
	}
}

func (s *Set) done(params, result any) {
	switch r := result.(type) {
	case *acp.NewSessionResponse:
		Started(s.Thread(r.SessionID), r.ConfigOptions, r.AvailableCommands)
	case *acp.ForkSessionResponse:
		Started(s.Thread(r.SessionID), r.ConfigOptions, r.AvailableCommands)
	case *acp.ResumeSessionResponse:
		if p, ok := params.(*acp.ResumeSessionRequest); ok && r != nil {
			Opened(s.Thread(p.SessionID), r.ConfigOptions, r.AvailableCommands)
		}
	case *acp.SetSessionConfigOptionResponse:
		if p, ok := params.(*acp.SetSessionConfigOptionRequest); ok {
			s.Thread(p.SessionID).Do(thread.OptionsChanged{Options: optionsOf(r.ConfigOptions)})
		}
	}
}
