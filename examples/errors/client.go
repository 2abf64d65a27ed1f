package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/retry"
)

// person is the client. It follows the advice of the errors.
type person struct {
	out io.Writer
}

func (p *person) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

// SessionUpdate prints the tool calls that fail.
func (p *person) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	u, ok := n.Update.(*acp.ToolCallUpdate)
	if !ok {
		return nil
	}
	if e, ok := kind.FromToolCall(u); ok {
		p.say("  the tool call failed: %s", e)
		p.act(e)
	}
	return nil
}

// signIn makes a call that is refused, signs in and repeats the call.
func (p *person) signIn(ctx context.Context, conn *client.Conn) (session *client.Session, err error) {
	err = conn.SignInAndRetry(ctx, nil, func(ctx context.Context) (err error) {
		session, err = conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
		if err != nil {
			p.say("new session: %s", kind.AdviceFor(err).Action)
		} else {
			p.say("new session: %s", session.ID())
		}
		return err
	})
	return session, err
}

// ask sends a prompt, and retries if the error allows it. These prompts only fail, so they may be
// sent twice; prompts of a user may not.
func (p *person) ask(ctx context.Context, session *client.Session, prompt string) {
	p.say("%s:", prompt)
	res, err := retry.Value(ctx, func(ctx context.Context) (*acp.PromptResponse, error) {
		return session.Prompt(ctx, acp.Text(prompt)).Wait()
	}, &retry.Options{
		FirstPause: time.Millisecond,
		OnRetry: func(_ int, err error, _ time.Duration) {
			a := kind.AdviceFor(err)
			p.say("  %s: %s (%s)", a.Action, messageOf(err), a.After)
		},
	})
	if err != nil {
		p.say("  %s", messageOf(err))
		p.act(err)
		return
	}
	p.say("  %s", res.StopReason)
}

// act prints the client's reaction to a failure that remains.
func (p *person) act(err error) {
	a := kind.AdviceFor(err)
	if NoMatch.Matches(err) {
		p.say("  -> nothing matches, so I search first")
		return
	}
	hint := ""
	if a.Hint != "" {
		hint = ": " + a.Hint
	}
	switch a.Action {
	case kind.ActionRetry, kind.ActionWait:
		p.say("  -> later, in %s", a.After)
	case kind.ActionLogIn:
		p.say("  -> I sign in")
	case kind.ActionAskUser:
		p.say("  -> I ask the user%s", hint)
	case kind.ActionFixInput:
		p.say("  -> I change the input%s", hint)
	default:
		p.say("  -> I report it")
	}
}

// lostSession prompts a session that the agent does not have.
func (p *person) lostSession(ctx context.Context, conn *client.Conn) {
	p.say("another session:")
	_, err := conn.Prompt(ctx, &acp.PromptRequest{SessionID: "s2", Prompt: []acp.ContentBlock{acp.Text("hello")}})
	if errors.Is(err, rpcerr.ErrSessionNotFound) {
		p.say("  -> it is gone, so I start a new one")
	}
}

// messageOf returns the text for people, without the text that was added on this end.
func messageOf(err error) string {
	if e, ok := kind.From(err); ok {
		return e.Message
	}
	return err.Error()
}

func (p *person) say(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }
