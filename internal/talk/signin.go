package talk

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Methods are the methods to sign in that an agent offers: the ids of those that are a call and of
// those on a terminal, and the types of unknown ones.
type Methods struct{ Calls, Terminals, Unknown []string }

// only returns the only method that is a call.
func (m Methods) only() (id string, err error) {
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

// SignIn signs in with the only method that is a call.
func (m Methods) SignIn(ctx context.Context, required error, logIn func(ctx context.Context, id string) error) error {
	id, err := m.only()
	if err != nil {
		return errors.Join(fmt.Errorf("choosing how to sign in: %w", err), required)
	}
	if err := logIn(ctx, id); err != nil {
		return fmt.Errorf("signing in with %q: %w", id, err)
	}
	return nil
}
