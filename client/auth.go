package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/talk"
)

// AuthenticateAndRetry calls call. If the agent responds that authentication is required
// (-32000), AuthenticateAndRetry signs the user in and calls call once more. choose selects
// one of the methods that the agent offers, for example by asking the user; required is the
// agent's error, whose reason the user should see. If choose is nil, the only usable method
// is selected, and it is an error if there are several.
//
// A prompt that has already had an effect is not sent again. If call sends a prompt with
// the ctx that it is given, and the agent sends an update of that session or a request
// before it responds with the error, AuthenticateAndRetry returns that error.
//
//	var session *client.Session
//	err := conn.AuthenticateAndRetry(ctx, nil, func(ctx context.Context) (err error) {
//		session, err = conn.StartSession(ctx, req)
//		return err
//	})
//
// A method of the terminal kind cannot be used here. For such a method the agent's command
// must be run on a terminal with the arguments of the method, and then a new connection
// must be made. Some agents need a new connection after any sign-in; the error of the
// second call is then rpcerr.ErrAuthRequired again.
func (c *Conn) AuthenticateAndRetry(ctx context.Context,
	choose func(ctx context.Context, required error, methods []acp.AuthMethod) (acp.AuthMethodID, error),
	call func(context.Context) error,
) error {
	return c.effects.Authenticate(ctx, func(ctx context.Context, required error) (string, error) {
		methods := c.AuthMethods()
		if choose == nil {
			return offered(methods).Only()
		}
		id, err := choose(ctx, required, methods)
		return string(id), err
	}, func(ctx context.Context, id string) error {
		_, err := c.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: acp.AuthMethodID(id)})
		return err
	}, call)
}

// SignInAndRetry is like [Conn.AuthenticateAndRetry], but calls signIn to sign the user in.
// required is the error of the first call. If signIn fails, SignInAndRetry returns its
// error.
func (c *Conn) SignInAndRetry(ctx context.Context,
	signIn func(ctx context.Context, required error) error,
	call func(context.Context) error,
) error {
	return c.effects.Retry(ctx, signIn, call)
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
