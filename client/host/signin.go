package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/signin"
)

// RestartError is the error of [Host.SignIn] if the user has signed in, but the agent must
// be started again before it can be used. Close the connection, start the agent with Env
// added to its environment, connect again, and make the call there. Do so only once: if the
// agent then requires sign-in again, another restart does not help.
type RestartError struct {
	// Way is how the user has signed in.
	Way signin.Way
	// Env are variables in the form name=value. They may be secret.
	Env []string
	// Err is the error of the agent that requires sign-in.
	Err error
}

func (e *RestartError) Error() string {
	return fmt.Sprintf("host: the user has signed in with %q: start the agent again", e.Way.ID)
}

// Unwrap returns Err.
func (e *RestartError) Unwrap() error { return e.Err }

// SignIn calls call. If the agent responds that the user must sign in (-32000), SignIn
// signs the user in as configured by Options.SignIn and calls call once more. The error is
// a *[RestartError] if the agent must be started again first: after sign-in on a terminal,
// after the user has given variables, and if the agent still requires sign-in after a call
// of authenticate.
//
// Any call may need it: some agents refuse session/new, others the first prompt. A prompt
// that has already had an effect is not sent again, as with client.Conn.SignInAndRetry.
// Without Options.SignIn, SignIn returns the error of call.
func (h *Host) SignIn(ctx context.Context, conn *client.Conn, call func(context.Context) error) error {
	if h.opts.SignIn == nil {
		return call(ctx)
	}
	signIn := func(ctx context.Context, required error) error {
		signed, err := signin.Do(ctx, conn, required, h.opts.SignIn)
		switch {
		case errors.Is(err, signin.ErrNoWay):
			return errors.Join(fmt.Errorf("host: %w", err), required)
		case err != nil:
			return fmt.Errorf("host: %w", err)
		case signed.Reconnect:
			return &RestartError{Way: signed.Way, Env: signed.Env, Err: required}
		}
		// The call is made here, so that a prompt that has an effect now is not sent again
		// after a restart either.
		err = conn.SignInAndRetry(ctx, func(_ context.Context, required error) error {
			return &RestartError{Way: signed.Way, Err: required}
		}, call)
		if err == nil {
			err = errMade
		}
		return err
	}
	err := conn.SignInAndRetry(ctx, signIn, call)
	if err == errMade {
		return nil
	}
	return err
}

// errMade means that the call has been made after sign-in.
var errMade = errors.New("host: the call was made")
