package supervise

import (
	"context"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
)

func (x *Session) reopen(ctx context.Context, conn *client.Conn) {
	select {
	case x.reopening <- struct{}{}: // an earlier call fails soon, because its connection has ended
		defer func() { <-x.reopening }()
	case <-ctx.Done():
		return
	}
	s := x.supervisor
	s.mu.Lock()
	old, there := x.id, x.bound != nil || x.closed || s.conn != conn
	s.mu.Unlock()
	if there {
		return
	}
	r := Return{Session: x, OldID: old}
	b, err := x.continued(ctx, conn, old)
	if err != nil && !agentDied(err) && !errors.Is(err, rpcerr.ErrAuthRequired) && ctx.Err() == nil {
		if _, cannot := errors.AsType[*acp.CapabilityError](err); !cannot {
			r.Lost = err
		}
		b, err = x.start(ctx, conn)
	}
	if agentDied(err) {
		return // the next connection opens the session again
	}
	if err == nil {
		r.Settings = x.setAgain(ctx, b.session)
		r.How, r.NewID = b.how, b.session.ID()
	}
	r.Err = err
	s.mu.Lock()
	if s.conn != conn { // this connection has ended too, so its error does not matter
		s.mu.Unlock()
		return
	}
	if x.closed { // meanwhile; it must not stay open at the agent
		s.mu.Unlock()
		if err == nil {
			_ = b.session.Close(ctx) // the result is not needed
		}
		return
	}
	x.err = nil
	if err != nil {
		x.err = fmt.Errorf("supervise: bringing the session back: %w", err)
	} else {
		x.bound, x.id, x.how = b, b.session.ID(), b.how
	}
	s.announce()
	s.mu.Unlock()
	s.opts.OnReturn(r)
}

// agentDied reports whether a call failed because its connection has ended or is about to.
func agentDied(err error) bool {
	_, other := errors.AsType[*signInError](err) // the error may be of another connection
	return errors.Is(err, acp.ErrClosed) && !other
}

// continued resumes or loads the session. The error is a *acp.CapabilityError if the agent can do
// neither.
func (x *Session) continued(ctx context.Context, conn *client.Conn, id acp.SessionID) (*binding, error) {
	can := conn.AgentCapabilities()
	err := error(&acp.CapabilityError{Method: acp.MethodSessionResume, Capability: "sessionCapabilities.resume"})
	if can.Has("sessionCapabilities.resume") {
		var b *binding
		b, err = x.bind(ctx, conn, HowResumed, func() (*client.Session, error) {
			return conn.StartResumedSession(ctx, &acp.ResumeSessionRequest{
				SessionID: id, Cwd: x.opts.Cwd, AdditionalDirectories: x.opts.AdditionalDirectories, MCPServers: x.opts.MCPServers, SystemPrompt: x.opts.SystemPrompt,
			})
		})
		if err == nil || errors.Is(err, rpcerr.ErrAuthRequired) {
			return b, err
		}
	}
	if !can.Has("loadSession") {
		return nil, err
	}
	onUpdate := x.opts.OnUpdate
	if onUpdate == nil {
		onUpdate = func(context.Context, acp.SessionUpdate) {}
	}
	return x.bind(ctx, conn, HowLoaded, func() (*client.Session, error) {
		return conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{
			SessionID: id, Cwd: x.opts.Cwd, AdditionalDirectories: x.opts.AdditionalDirectories, MCPServers: x.opts.MCPServers, SystemPrompt: x.opts.SystemPrompt,
		}, onUpdate)
	})
}

func (x *Session) start(ctx context.Context, conn *client.Conn) (*binding, error) {
	return x.bind(ctx, conn, HowNew, func() (*client.Session, error) {
		return conn.StartSession(ctx, &acp.NewSessionRequest{
			Cwd: x.opts.Cwd, AdditionalDirectories: x.opts.AdditionalDirectories, MCPServers: x.opts.MCPServers, SystemPrompt: x.opts.SystemPrompt,
		})
	})
}

// bind opens the session with a call, for which the user may have to sign in.
func (x *Session) bind(ctx context.Context, conn *client.Conn, how How, open func() (*client.Session, error)) (*binding, error) {
	b := &binding{conn: conn, how: how}
	err := x.signedIn(ctx, conn, func() (err error) { b.session, err = open(); return err })
	if err == nil {
		b.session.OnUpdate(x.opts.OnUpdate)
	}
	return b, err
}

// signedIn makes a call. If the agent requires authentication, it signs the user in, once for each
// connection, and repeats the call.
func (x *Session) signedIn(ctx context.Context, conn *client.Conn, call func() error) error {
	err := call()
	s := x.supervisor
	if !errors.Is(err, rpcerr.ErrAuthRequired) || s.opts.SignIn == nil {
		return err
	}
	s.mu.Lock()
	attempt := s.signIn
	if s.conn != conn {
		attempt = nil
	}
	s.mu.Unlock()
	if attempt == nil {
		return err
	}
	// Sessions that are opened at the same time share one attempt.
	attempt.once.Do(func() { attempt.err = s.opts.SignIn(ctx, conn) })
	if attempt.err != nil {
		return &signInError{errors.Join(attempt.err, err)}
	}
	return call()
}

// signInError is the error of Options.SignIn, joined with that of the call.
type signInError struct{ err error }

func (e *signInError) Error() string { return "signing in: " + e.err.Error() }
func (e *signInError) Unwrap() error { return e.err }
