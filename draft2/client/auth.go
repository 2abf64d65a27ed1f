package client

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/talk"
	"github.com/acpkit/go-sdk/internal/talk/explain"
)

// SignInAndRetry calls call. If the agent responds that authentication is required (-32000),
// SignInAndRetry calls signIn to sign the user in, for example with [Conn.Login], and calls call once
// more. required is the agent's error, whose reason the user should see. If signIn fails,
// SignInAndRetry returns its error. If signIn is nil, the only usable method of [Conn.AuthMethods] is
// called.
//
// A prompt that has already had an effect is not sent again, if call sends it with the ctx that it
// is given. A method of the terminal kind is no call: the agent's command must be run on
// a terminal with its arguments, and then a new connection must be made.
func (c *Conn) SignInAndRetry(ctx context.Context, signIn func(ctx context.Context, required error) error, call func(context.Context) error) error {
	return c.effects.Retry(ctx, signIn, c.signInOnly, call)
}

// signInOnly signs the user in with the only usable method.
func (c *Conn) signInOnly(ctx context.Context, required error) error {
	return offered(c.AuthMethods()).SignIn(ctx, required, func(ctx context.Context, id string) error {
		_, err := c.Login(ctx, &acp.LoginAuthRequest{MethodID: acp.AuthMethodID(id)})
		return err
	})
}

func offered(methods []acp.AuthMethod) (m talk.Methods) {
	for _, method := range methods {
		switch method := method.(type) {
		case *acp.AuthMethodAgent:
			m.Calls = append(m.Calls, string(method.MethodID))
		case *acp.AuthMethodTerminal:
			m.Terminals = append(m.Terminals, string(method.MethodID))
		case *acp.UnknownAuthMethod:
			m.Unknown = append(m.Unknown, method.Type)
		}
	}
	return m
}

// sessionOf returns the session that a message of the agent belongs to. ok is false if the params
// name none.
func sessionOf(params any) (id string, ok bool) {
	switch p := params.(type) {
	case *acp.UpdateSessionNotification:
		return string(p.SessionID), true
	case *acp.RequestPermissionRequest:
		return string(p.SessionID), true
	}
	return "", false
}

// Explain returns a text that explains err to the user, and names the next step if there is
// one, such as the methods to sign in that the agent of c offers. c may be nil. err may be an
// error of a stream, of [Connect] or of any call. The text contains the reason from the data of
// the agent's error: show it on a screen and do not log it.
func Explain(c *Conn, err error) string {
	var agent *explain.Agent
	if c != nil {
		agent = &explain.Agent{Ready: c.ProtocolVersion() != 0, Ways: waysIn(c.AuthMethods())}
	}
	return explain.Text(err, agent, stopReason)
}

func stopReason(err error) string {
	if stop, ok := errors.AsType[*StopError](err); ok {
		return string(stop.Reason)
	}
	return ""
}

func waysIn(methods []acp.AuthMethod) (ways []explain.WayIn) {
	for _, m := range methods {
		switch m := m.(type) {
		case *acp.AuthMethodAgent:
			ways = append(ways, explain.WayIn{ID: string(m.MethodID), Name: m.Name, Description: m.Description})
		case *acp.AuthMethodTerminal:
			run := signin.Way{Kind: signin.KindTerminal, Args: m.Args, Env: map[string]string{}}
			for _, v := range m.Env {
				run.Env[v.Name] = v.Value
			}
			ways = append(ways, explain.WayIn{ID: string(m.MethodID), Name: m.Name, Description: m.Description, Instruction: run.Instruction("the agent's command")})
		}
	}
	return ways
}
