package client

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk"
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
	talk talk.Session[update]

	settings settings // guarded by talk.Mu
}

// version is what package talk asks a Conn.
type version struct{ *Conn }

type update = acp.SessionUpdate

func (v version) Engine() *rpc.Conn { return &v.engine }

func (v version) NewSession(id string) *talk.Session[update] {
	s := &Session{conn: v.Conn, id: acp.SessionID(id)}
	s.talk.Owner = s
	return &s.talk
}

func (v version) Track(s *talk.Session[update], u update) { owner(s).track(u) }
func (v version) Ended(id string)                         { v.roots.remove(acp.SessionID(id)) }

// A prompt is a turn until it has a response, whatever the updates say.

func (v version) Follow(string, update) (*talk.Feed[update], func()) { return nil, nil }
func (v version) InFlight(*talk.Session[update]) bool                { return false }
func (v version) Gone(*talk.Session[update])                         {}

// owner returns the Session that contains s, or nil if s is nil.
func owner(s *talk.Session[update]) *Session {
	if s == nil {
		return nil
	}
	return s.Owner.(*Session)
}

// sessionUpdate handles session/update: it records the session of a subagent that the update
// names, calls the client's handler, and then delivers the update to its Session.
func (c *Conn) sessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	if sub, ok := n.Update.(*acp.SubagentUpdate); ok {
		c.sessions.Announce(string(n.SessionID), string(sub.SessionID))
	}
	defer c.sessions.Deliver(ctx, version{c}, string(n.SessionID), n.Update) // runs even if the handler panics
	return c.client.SessionUpdate(ctx, n)
}

// Session returns the Session for the session with the given id. It is meant for a session
// that was opened with a plain method such as NewSession, or by the agent itself, such as
// that of a subagent. Until the session is closed, Session always returns the same value.
func (c *Conn) Session(id acp.SessionID) *Session {
	return owner(c.sessions.Attach(version{c}, string(id)))
}

// ErrSessionClosed is the error of a turn if its [Session] was closed or deleted. To use
// the session again, open it again.
var ErrSessionClosed = talk.ErrSessionClosed

// ID returns the session's id.
func (s *Session) ID() acp.SessionID { return s.id }

// OnUpdate sets the function for updates that arrive while no [Turn] is in flight, such as
// a replay, the list of commands, a new title, or updates for work that the agent does on
// its own. f is called with one update at a time, in order; it must use its ctx for calls
// to the agent. The next message of the connection waits until f returns. If f panics, the
// panic is logged and the next update follows.
//
// Updates that arrive before the first call of OnUpdate are kept, up to 1 MiB (16 MiB for
// all sessions of the connection). OnUpdate calls f with them before it returns. If f is
// nil, updates outside a turn are dropped.
func (s *Session) OnUpdate(f func(ctx context.Context, u acp.SessionUpdate)) {
	s.talk.OnUpdate(f)
}

// Cancel asks the agent to end the turns of the session. It returns when the message is
// queued for sending. The turns end when the agent reports it, with the stop reason
// "cancelled". The agent's requests to the user that are in flight get the response
// "cancelled" at once.
func (s *Session) Cancel(ctx context.Context) error {
	return s.conn.Cancel(ctx, &acp.CancelNotification{SessionID: s.id})
}

// Close ends the turns of the session and releases its resources at the agent. It is not
// an error if the agent no longer knows the session. If the agent cannot close sessions,
// the error is an *acp.CapabilityError; the turn can still be cancelled. In all these
// cases the Session is closed and receives no more updates.
func (s *Session) Close(ctx context.Context) error {
	_, err := s.conn.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: s.id})
	if _, ok := errors.AsType[*acp.CapabilityError](err); ok {
		s.talk.Leave()
	}
	return s.talk.Closed(err)
}

// Delete removes the session from the agent's list. It is not an error if the agent no
// longer knows the session. Without an error the Session is closed, as after
// [Session.Close].
func (s *Session) Delete(ctx context.Context) error {
	_, err := s.conn.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: s.id})
	return s.talk.Closed(err)
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
