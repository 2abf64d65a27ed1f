package client

import (
	"context"
	"errors"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Session is one conversation with the agent. It is made by [Conn.StartSession] and
// its kin, or by [Conn.Session]. All methods may be called from any goroutine.
//
// An update of the session goes to Client.SessionUpdate first. Then it goes to the
// [Turn] that runs, or to the function given to OnUpdate when none does. The two see
// the same value: it is not to be changed.
type Session struct {
	conn *Conn
	id   acp.SessionID

	mu       sync.Mutex // guards all below; taken before sessions.mu
	turn     *Turn      // that runs, or nil
	onUpdate func(context.Context, acp.SessionUpdate)
	listened bool     // OnUpdate was called
	draining bool     // its first call is handing out what was kept
	kept     kept     // updates outside a turn, until OnUpdate is called
	behind   []update // updates that arrive while draining
	gone     bool     // detached
	settings settings
}

// Session returns the Session of a session that was opened otherwise: with a plain
// method, or by the agent itself, as subagents are. It is the same one each time, until
// it is closed.
func (c *Conn) Session(id acp.SessionID) *Session {
	s, _ := c.sessions.find(id)
	return s
}

// ErrSessionClosed is what turns of a [Session] fail with that was closed or deleted. Load
// or resume it to get another Session.
var ErrSessionClosed = errors.New("client: the session was closed")

// ID is the session's id.
func (s *Session) ID() acp.SessionID { return s.id }

// Cancel asks the agent to end the turns of the session. It returns when the message
// is queued for sending; the turns end with the stop reason "cancelled" when the agent
// is ready. Questions that the agent has put to the user meanwhile are answered with
// cancelled.
func (s *Session) Cancel(ctx context.Context) error {
	return s.conn.Cancel(ctx, &acp.CancelNotification{SessionID: s.id})
}

// Close ends the turns of the session and frees what the agent holds for it. A session
// the agent does not know any more is as good as closed. Where agents cannot close
// sessions the error is an *acp.CapabilityError; cancel its turn there. In all these
// cases the Session is at its end: it gets no updates any more.
func (s *Session) Close(ctx context.Context) error {
	_, err := s.conn.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: s.id})
	if _, ok := errors.AsType[*acp.CapabilityError](err); ok {
		s.conn.sessions.detach(s)
	}
	return s.ended(err)
}

// Delete removes the session from the agent's list. A session the agent does not know
// any more is as good as deleted. The Session is then at its end, as after Close.
func (s *Session) Delete(ctx context.Context) error {
	_, err := s.conn.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: s.id})
	return s.ended(err)
}

func (s *Session) ended(err error) error {
	if err == nil || errors.Is(err, rpcerr.ErrResourceNotFound) {
		s.conn.sessions.detach(s)
		return nil
	}
	return err
}
