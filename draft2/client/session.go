package client

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/talk"
)

// Session is one conversation with the agent. It is returned by [Conn.StartSession] and
// similar methods, and by [Conn.Session]. All methods are safe for concurrent use.
//
// An update of the session goes to Client.SessionUpdate first. Then it goes to the [Turn] that
// began last and is in progress, or, if there is none, to the function given to OnUpdate. Both
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

// Follow lets an update begin and end turns. A turn ends after the update was delivered.
func (v version) Follow(id string, u update) (feed *talk.Feed[update], delivered func()) {
	turn, ended := v.turns.read(acp.SessionID(id), u, func(id acp.SessionID) bool { return v.sessions.Knows(string(id)) })
	if turn != nil {
		feed = &turn.feed
	}
	if ended != nil {
		delivered = ended.finish
	}
	return feed, delivered
}

func (v version) InFlight(s *talk.Session[update]) bool { return v.turns.inFlight(owner(s).id) }
func (v version) Gone(s *talk.Session[update])          { v.turns.forget(owner(s).id, owner(s)) }
func (v version) Ended(id string)                       { v.turns.forget(acp.SessionID(id), nil) }

// owner returns the Session that contains s, or nil if s is nil.
func owner(s *talk.Session[update]) *Session {
	if s == nil {
		return nil
	}
	return s.Owner.(*Session)
}

// sessionUpdate calls the client's handler, and then delivers the update to its Session.
func (c *Conn) sessionUpdate(ctx context.Context, n *acp.UpdateSessionNotification) error {
	if sub, ok := n.Update.(*acp.SubagentUpdate); ok {
		c.sessions.Announce(string(n.SessionID), string(sub.SessionID))
	}
	if _, ok := n.Update.(*acp.ReplayComplete); ok {
		defer c.replays.marked(n.SessionID)
	}
	defer c.sessions.Deliver(ctx, version{c}, string(n.SessionID), n.Update) // runs even if the handler panics
	return c.client.SessionUpdate(ctx, n)
}

// Session returns the Session for the session with the given id, which a plain method or the
// agent has opened. Until the session is closed, it always returns the same value.
func (c *Conn) Session(id acp.SessionID) *Session {
	return owner(c.sessions.Attach(version{c}, string(id)))
}

// ErrSessionClosed is the error of a turn if its [Session] was closed or deleted. To use
// the session again, open it again. It is the same value as in version 1.
var ErrSessionClosed = talk.ErrSessionClosed

// ID returns the session's id.
func (s *Session) ID() acp.SessionID { return s.id }

// OnUpdate sets the function for updates outside of turns: a replay, commands, a title, or
// those of background work. f is called with one update at a time, in order, and the next
// message of the connection waits until it returns; it must use its ctx for calls to the agent.
//
// Earlier updates are kept, up to 1 MiB (16 MiB for all sessions of the connection), and OnUpdate
// calls f with them before it returns. If f is nil, updates outside a turn are dropped.
func (s *Session) OnUpdate(f func(ctx context.Context, u acp.SessionUpdate)) { s.talk.OnUpdate(f) }

// Cancel asks the agent to end the foreground work of the session. It returns when the message
// is queued for sending. The turns end when the agent reports it. The agent's requests to the
// user get the response "cancelled" at once, except those about background work.
func (s *Session) Cancel(ctx context.Context) error {
	return s.conn.Cancel(ctx, &acp.CancelSessionNotification{SessionID: s.id})
}

// Close ends the turns and the background work of the session and releases its resources at
// the agent. It is not an error if the agent no longer knows the session. Unless it fails
// otherwise, the Session is closed and receives no more updates.
func (s *Session) Close(ctx context.Context) error {
	_, err := s.conn.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: s.id})
	if _, cannot := errors.AsType[*acp.CapabilityError](err); cannot {
		s.talk.Leave()
	}
	return s.talk.Closed(err)
}

// Delete removes the session from the agent's list. It is not an error if the agent no
// longer knows the session. Without an error the Session is closed.
func (s *Session) Delete(ctx context.Context) error {
	_, err := s.conn.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: s.id})
	return s.talk.Closed(err)
}

// StopError is the error of [Turn.Text] for a turn that ended without an error, but with
// another stop reason than end_turn. The text may lack its end.
type StopError struct{ Reason acp.StopReason }

func (e *StopError) Error() string { return "the agent stopped: " + string(e.Reason) }
