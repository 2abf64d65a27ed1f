package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/talk"
)

// SignInAndRetry calls call. If the agent responds that authentication is required (-32000),
// SignInAndRetry calls signIn to sign the user in, for example with Authenticate, and calls call once
// more. required is the agent's error, whose reason the user should see. If signIn fails,
// SignInAndRetry returns its error. If signIn is nil, the only usable method of [Conn.AuthMethods] is
// called, and it is an error if there are several.
//
// A prompt that has already had an effect is not sent again. If call sends a prompt with
// the ctx that it is given, and the agent sends an update of that session or a request
// before it responds with the error, SignInAndRetry returns that error.
//
//	var session *client.Session
//	err := conn.SignInAndRetry(ctx, nil, func(ctx context.Context) (err error) {
//		session, err = conn.StartSession(ctx, req)
//		return err
//	})
//
// A method of the terminal kind is no call: the agent's command must be run on a terminal with the
// arguments of the method, and then a new connection must be made. Some agents need a new
// connection after any sign-in; the error of the second call is then rpcerr.ErrAuthRequired again.
// Package signin does all of this.
func (c *Conn) SignInAndRetry(ctx context.Context,
	signIn func(ctx context.Context, required error) error,
	call func(context.Context) error,
) error {
	return c.effects.Retry(ctx, signIn, c.signInOnly, call)
}

// signInOnly signs the user in with the only usable method.
func (c *Conn) signInOnly(ctx context.Context, required error) error {
	return offered(c.AuthMethods()).SignIn(ctx, required, func(ctx context.Context, id string) error {
		_, err := c.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: acp.AuthMethodID(id)})
		return err
	})
}

func offered(methods []acp.AuthMethod) (m talk.Methods) {
	for _, method := range methods {
		switch method := method.(type) {
		case *acp.AuthMethodAgent:
			m.Calls = append(m.Calls, string(method.ID))
		case *acp.AuthMethodTerminal:
			m.Terminals = append(m.Terminals, string(method.ID))
		case *acp.UnknownAuthMethod:
			m.Unknown = append(m.Unknown, method.Type)
		}
	}
	return m
}

// sessionOf returns the session that a message of the agent belongs to. ok is false if the params
// contain none.
func sessionOf(params any) (id string, ok bool) {
	switch p := params.(type) {
	case *acp.SessionNotification:
		return string(p.SessionID), true
	case *acp.RequestPermissionRequest:
		return string(p.SessionID), true
	case *acp.ReadTextFileRequest:
		return string(p.SessionID), true
	case *acp.WriteTextFileRequest:
		return string(p.SessionID), true
	case *acp.CreateTerminalRequest:
		return string(p.SessionID), true
	case *acp.TerminalOutputRequest:
		return string(p.SessionID), true
	case *acp.WaitForTerminalExitRequest:
		return string(p.SessionID), true
	case *acp.KillTerminalRequest:
		return string(p.SessionID), true
	case *acp.ReleaseTerminalRequest:
		return string(p.SessionID), true
	}
	return "", false
}
