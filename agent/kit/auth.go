package kit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Auth configures how users sign in.
type Auth struct {
	// Methods are offered to clients. Methods of a terminal are offered only to clients that have
	// one.
	Methods []acp.AuthMethod

	// Login signs the user in with one of the methods. It may wait for the user as long as
	// necessary. Nil means that every method only asks for settings, which Ready checks.
	Login func(ctx context.Context, method acp.AuthMethodID) error

	// Ready returns nil if a turn could begin now. Otherwise session/new, session/load,
	// session/resume and session/prompt fail with -32000 and the text of the error. The text should
	// tell the user what to do, and must not contain a secret. Ready is called for each of these
	// requests and should be quick. It need not find out whether a server accepts a key.
	Ready func(ctx context.Context) error
}

func (a *Auth) check() error {
	switch {
	case a == nil:
		return nil
	case a.Ready == nil:
		return errors.New("kit: Auth.Ready is nil: set the function that reports whether a turn can begin")
	case !slices.ContainsFunc(a.Methods, func(m acp.AuthMethod) bool { _, ok := m.(*acp.AuthMethodAgent); return ok }):
		return errors.New("kit: Auth.Methods has no *acp.AuthMethodAgent: offer at least one, because not every client has a terminal")
	}
	for i, m := range a.Methods {
		if slices.ContainsFunc(a.Methods[:i], func(n acp.AuthMethod) bool { return methodID(n) == methodID(m) }) || methodID(m) == "" {
			return fmt.Errorf("kit: the method %d of Auth has the id %q, which is empty or that of another one", i, methodID(m))
		}
	}
	return nil
}

func methodID(m acp.AuthMethod) acp.AuthMethodID {
	switch m := m.(type) {
	case *acp.AuthMethodAgent:
		return m.ID
	case *acp.AuthMethodTerminal:
		return m.ID
	}
	return ""
}

func (a *Auth) methods(caps *acp.ClientCapabilities) []acp.AuthMethod {
	if a == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.Methods), func(m acp.AuthMethod) bool {
		_, terminal := m.(*acp.AuthMethodTerminal)
		return terminal && !caps.Has("auth.terminal")
	})
}

// ready returns nil if a turn could begin, and otherwise the error for the client.
func (a *Auth) ready(ctx context.Context) error {
	if a == nil {
		return nil
	}
	err := a.Ready(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return rpcerr.AuthRequired(nil).WithDetail(err.Error()).WithCause(err) //errlint:ignore Ready writes this text for the user
}

// signIn signs the user in. It refuses methods of a terminal, which need no request.
func (a *Auth) signIn(ctx context.Context, id acp.AuthMethodID) error {
	if !slices.ContainsFunc(a.Methods, func(m acp.AuthMethod) bool {
		own, ok := m.(*acp.AuthMethodAgent)
		return ok && own.ID == id
	}) {
		return rpcerr.InvalidParams(map[string]any{"methodId": id}).WithDetail("this agent does not offer this method for authenticate")
	}
	if a.Login != nil {
		if err := a.Login(ctx, id); err != nil {
			return err
		}
	}
	return a.ready(ctx)
}
