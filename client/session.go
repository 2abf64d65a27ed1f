// Copied to draft2/client by go generate.

package client

import (
	"context"
	"errors"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Session is one conversation with the agent. It is returned by [Conn.StartSession] and
// similar methods, and by [Conn.Session]. All methods are safe for concurrent use.
//
// An update of the session goes to Client.SessionUpdate first. Then it goes to the latest
// [Turn] that is in progress, or, if there is none, to the function given to OnUpdate. Both
// receive the same value, which must not be modified.
type Session struct {
	conn *Conn
	id   acp.SessionID

	// sessions.mu guards these fields.
	held    bool // it was returned to the user
	opening int  // number of loads and resumes in flight

	mu        sync.Mutex // guards the fields below; locked before sessions.mu
	listeners listeners
	draining  bool     // OnUpdate is receiving the updates in waiting
	kept      kept     // updates outside of a turn, until there is a listener
	waiting   []update // updates to be delivered while draining
	gone      bool     // it was detached
	settings  settings

	versionedSession
}

// Session returns the Session for the session with the given id. It is meant for a session
// that was opened with a plain method such as NewSession, or by the agent itself, such as
// that of a subagent. Until the session is closed, Session always returns the same value.
func (c *Conn) Session(id acp.SessionID) *Session {
	return c.find(id)
}

// ErrSessionClosed is the error of a turn if its [Session] was closed or deleted. To use
// the session again, open it again.
var ErrSessionClosed = errors.New("client: the session was closed")

// ID returns the session's id.
func (s *Session) ID() acp.SessionID { return s.id }

// Cancel asks the agent to end the turns of the session. It returns when the message is
// queued for sending. The turns end when the agent reports it, with the stop reason
// "cancelled". The agent's requests to the user that are in flight get the response
// "cancelled" at once.
func (s *Session) Cancel(ctx context.Context) error {
	return s.conn.Cancel(ctx, &cancelNotification{SessionID: s.id})
}

// Close ends the turns of the session and releases its resources at the agent. It is not
// an error if the agent no longer knows the session. If the agent cannot close sessions,
// the error is an *acp.CapabilityError; the turn can still be cancelled. In all these
// cases the Session is closed and receives no more updates.
func (s *Session) Close(ctx context.Context) error {
	_, err := s.conn.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: s.id})
	if _, ok := errors.AsType[*acp.CapabilityError](err); ok {
		s.conn.sessions.detach(s)
		s.conn.sessionEnded(s.id)
	}
	return s.ended(err)
}

// Delete removes the session from the agent's list. It is not an error if the agent no
// longer knows the session. Without an error the Session is closed, as after
// [Session.Close].
func (s *Session) Delete(ctx context.Context) error {
	_, err := s.conn.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: s.id})
	return s.ended(err)
}

func (s *Session) ended(err error) error {
	gone := errors.Is(err, rpcerr.ErrResourceNotFound)
	if err == nil || gone {
		s.conn.sessions.detach(s)
	}
	if gone { // the call itself calls sessionEnded only if it succeeds
		s.conn.sessionEnded(s.id)
		return nil
	}
	return err
}

// StopError is the error of [Turn.Text] for a turn that ended without an error, but with
// another stop reason than end_turn: the agent refused to go on, reached a limit, or was
// cancelled. The text may lack its end.
type StopError struct{ Reason acp.StopReason }

func (e *StopError) Error() string { return "the agent stopped: " + string(e.Reason) }

func stopError(reason acp.StopReason) error {
	if reason == acp.StopReasonEndTurn || reason == "" {
		return nil
	}
	return &StopError{reason}
}
