package talk

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// WayIn is a method to sign in, with what the user must do if it is not a call.
type WayIn struct{ ID, Name, Description, Instruction string }

// Methods are the methods to sign in that an agent offers: the ids of those that are a call and of
// those on a terminal, and the types of unknown ones.
type Methods struct{ Calls, Terminals, Unknown []string }

// Only returns the only method that is a call.
func (m Methods) Only() (id string, err error) {
	switch {
	case len(m.Calls) == 1:
		return m.Calls[0], nil
	case len(m.Calls) > 1:
		return "", fmt.Errorf("client: the agent offers several methods to sign in, choose one: %q", m.Calls)
	case len(m.Terminals) > 0:
		return "", fmt.Errorf("client: the agent offers only methods to sign in on a terminal (%s): run its command there", strings.Join(m.Terminals, ", "))
	case len(m.Unknown) > 0:
		return "", fmt.Errorf("client: the agent offers only methods to sign in of kinds that this SDK does not know, choose one: %q", m.Unknown)
	}
	return "", errors.New("client: the agent offers no method to sign in: use its own command to sign in")
}

// Authenticate is Effects.Retry with a method that choose selects, and a call that signs in with it.
func (e *Effects) Authenticate(ctx context.Context, choose func(ctx context.Context, required error) (id string, err error),
	logIn func(ctx context.Context, id string) error, call func(context.Context) error,
) error {
	if call == nil {
		return errors.New("client: AuthenticateAndRetry was given a nil call: pass a func that makes the call")
	}
	return e.Retry(ctx, func(ctx context.Context, required error) error {
		id, err := choose(ctx, required)
		if err != nil {
			return errors.Join(fmt.Errorf("choosing how to sign in: %w", err), required)
		}
		if err := logIn(ctx, id); err != nil {
			return fmt.Errorf("signing in with %q: %w", id, err)
		}
		return nil
	}, call)
}
