package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// AuthenticateAndRetry makes a call, and makes it once more after signing the user in
// if the agent answered that authentication is required (-32000). Choose picks the
// method from those the agent offers, by asking the user for example; nil takes the
// only one that can be used, and fails when there are several.
//
//	var session *client.Session
//	err := conn.AuthenticateAndRetry(ctx, nil, func(ctx context.Context) (err error) {
//		session, err = conn.StartSession(ctx, req)
//		return err
//	})
//
// Methods of the terminal kind cannot be used here: for those the agent's command is
// run by itself, with the arguments that the method gives, and the connection made
// anew. Some agents want a new connection after any sign-in: the error of the second
// call is then rpcerr.ErrAuthRequired again.
func (c *Conn) AuthenticateAndRetry(ctx context.Context,
	choose func(context.Context, []acp.AuthMethod) (acp.AuthMethodID, error),
	call func(context.Context) error,
) error {
	if call == nil {
		return errors.New("client: AuthenticateAndRetry was given nothing to call")
	}
	err := call(ctx)
	if !errors.Is(err, rpcerr.ErrAuthRequired) {
		return err
	}
	if choose == nil {
		choose = onlyMethod
	}
	id, chooseErr := choose(ctx, c.AuthMethods())
	if chooseErr != nil {
		return errors.Join(fmt.Errorf("choosing how to sign in: %w", chooseErr), err)
	}
	if _, err := c.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: id}); err != nil {
		return fmt.Errorf("signing in with %q: %w", id, err)
	}
	return call(ctx)
}

// onlyMethod picks the one method that needs nothing but a call.
func onlyMethod(_ context.Context, methods []acp.AuthMethod) (acp.AuthMethodID, error) {
	var usable []acp.AuthMethodID
	var others []string
	for _, m := range methods {
		switch m := m.(type) {
		case *acp.AuthMethodAgent:
			usable = append(usable, m.ID)
		case *acp.AuthMethodTerminal:
			others = append(others, string(m.ID))
		}
	}
	switch {
	case len(usable) == 1:
		return usable[0], nil
	case len(usable) > 1:
		return "", fmt.Errorf("client: the agent offers several methods, choose one: %q", usable)
	case len(others) > 0:
		return "", fmt.Errorf("client: the agent can only be signed in to on a terminal (%s)", strings.Join(others, ", "))
	}
	return "", errors.New("client: the agent offers no method to sign in")
}
