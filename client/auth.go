// Copied to draft2/client by go generate.

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
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
	if call == nil {
		return errors.New("client: AuthenticateAndRetry was given a nil call: pass a func that makes the call")
	}
	if choose == nil {
		choose = onlyMethod
	}
	return c.SignInAndRetry(ctx, func(ctx context.Context, required error) error {
		id, err := choose(ctx, required, c.AuthMethods())
		if err != nil {
			return errors.Join(fmt.Errorf("choosing how to sign in: %w", err), required)
		}
		if err := c.logIn(ctx, id); err != nil {
			return fmt.Errorf("signing in with %q: %w", id, err)
		}
		return nil
	}, call)
}

// SignInAndRetry is like [Conn.AuthenticateAndRetry], but calls signIn to sign the user in.
// required is the error of the first call. If signIn fails, SignInAndRetry returns its
// error.
func (c *Conn) SignInAndRetry(ctx context.Context,
	signIn func(ctx context.Context, required error) error,
	call func(context.Context) error,
) error {
	if signIn == nil || call == nil {
		return errors.New("client: SignInAndRetry was given a nil function: pass one that signs the user in, and one that makes the call")
	}
	first := new(attempt)
	err := call(context.WithValue(ctx, attemptKey{c}, first))
	if !errors.Is(err, rpcerr.ErrAuthRequired) || first.effect.Load() {
		return err
	}
	if err := signIn(ctx, err); err != nil {
		return err
	}
	return call(ctx)
}

// onlyMethod returns the only method that needs no terminal.
func onlyMethod(_ context.Context, _ error, methods []acp.AuthMethod) (acp.AuthMethodID, error) {
	var usable []acp.AuthMethodID
	var others, unknown []string
	for _, m := range methods {
		switch m := m.(type) {
		case *acp.AuthMethodAgent:
			usable = append(usable, authMethodID(m))
		case *acp.AuthMethodTerminal:
			others = append(others, string(authMethodID(m)))
		case *acp.UnknownAuthMethod:
			unknown = append(unknown, m.Type)
		}
	}
	switch {
	case len(usable) == 1:
		return usable[0], nil
	case len(usable) > 1:
		return "", fmt.Errorf("client: the agent offers several methods to sign in, choose one: %q", usable)
	case len(others) > 0:
		return "", fmt.Errorf("client: the agent offers only methods to sign in on a terminal (%s): run its command there", strings.Join(others, ", "))
	case len(unknown) > 0:
		return "", fmt.Errorf("client: the agent offers only methods to sign in of kinds that this SDK does not know, choose one: %q", unknown)
	}
	return "", errors.New("client: the agent offers no method to sign in: use its own command to sign in")
}

// effects records whether a prompt that may be sent again has had an effect, that is, whether the
// agent has sent an update or a request while the prompt was in flight.
type effects struct {
	open atomic.Int32 // the length of watched, so that messages need not lock mu

	mu      sync.Mutex // guards watched
	watched map[*watch]struct{}
}

// watch is a prompt in flight and its attempt.
type watch struct {
	id      acp.SessionID
	attempt *attempt
}

// attempt is a call of SignInAndRetry that may be repeated.
type attempt struct{ effect atomic.Bool }

// attemptKey is the ctx key for the attempt on a connection.
type attemptKey struct{ conn *Conn }

// begin watches a prompt if ctx belongs to an attempt. The caller must call end when the prompt has
// ended.
func (e *effects) begin(ctx context.Context, c *Conn, id acp.SessionID) (end func()) {
	a, ok := ctx.Value(attemptKey{c}).(*attempt)
	if !ok {
		return func() {}
	}
	w := &watch{id, a}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watched == nil {
		e.watched = map[*watch]struct{}{}
	}
	e.watched[w] = struct{}{}
	e.open.Add(1)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.watched, w)
		e.open.Add(-1)
	}
}

// note records that the agent has sent a message with these params.
func (e *effects) note(params any) {
	id, known := sessionOf(params)
	e.mu.Lock()
	defer e.mu.Unlock()
	for w := range e.watched {
		if !known || w.id == id {
			w.attempt.effect.Store(true)
		}
	}
}

// noting changes cfg so that e sees every request and every update, including those that a
// middleware does not pass on and those that are refused or dropped. The session of a refused or
// dropped message is not known.
func (e *effects) noting(cfg *rpc.Config) {
	cfg.OnRefused = func(string) { e.note(nil) }
	onDropped := cfg.OnDropped
	cfg.OnDropped = func(method string, err error) {
		e.note(nil)
		if onDropped != nil {
			onDropped(method, err)
		}
	}
	for _, entry := range cfg.Entries {
		handle := entry.Handle
		entry.Handle = func(ctx context.Context, params any) (any, error) {
			if e.open.Load() > 0 {
				e.note(params)
			}
			return handle(ctx, params)
		}
	}
	if handle := cfg.Extension; handle != nil {
		cfg.Extension = func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			e.note(nil)
			return handle(ctx, method, params)
		}
	}
	if len(cfg.Receiving) == 0 {
		return
	}
	first := func(next rpc.Handler) rpc.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
			e.note(params)
			return next(ctx, method, params)
		}
	}
	cfg.Receiving = append([]rpc.Middleware{first}, cfg.Receiving...)
}
