package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/asked"
)

// Asked returns what the connection knows now about a session that a message of the agent names.
// ctx is that of the handler of the message. A handler that has waited for a person calls it
// again, because the session or the turn may have ended meanwhile.
//
// roots are the folders of the session as they were sent to the agent: cwd, followed by
// additionalDirectories, of the request that opened the session. They are nil if the connection
// has not opened the session or has closed it. Those of a new or forked session are known when the
// response arrives, before any later request of the agent is handled. Those of a session that is
// loaded or resumed are known before the request is sent, and are forgotten if the request fails.
//
// turn is the number of the newest turn in flight in the session, or 0 if there is none. Each turn
// of a connection has its own number, so a permission for one turn need not apply to the next.
//
// ok reports whether a request of the agent may name the session: it is open or being opened, or an
// update has announced it as that of a subagent. While a session is being created its id is not
// known, so ok is then true for every id. Without a ctx of a handler it is false.
func Asked(ctx context.Context, session acp.SessionID) (roots []string, turn uint64, ok bool) {
	c, id := asked.Of(ctx), string(session)
	return c.Roots(id), c.Turn(id), c.Has(id)
}

// TurnContext returns a copy of ctx, the ctx of a handler, that is also done, with the cause
// [acp.ErrTurnCancelled], when the session's turn is cancelled or, in version 1, when it has
// ended. Use it in a handler other than those of permissions and elicitations that asks the
// user, for example before a write, so that the user is not asked about a turn that is over.
// If the turn is already cancelled, the returned ctx is done. The caller must call stop when
// the user has decided.
func TurnContext(ctx context.Context, session acp.SessionID) (turn context.Context, stop context.CancelFunc) {
	c, ok := asked.Of(ctx).(known)
	if !ok {
		return context.WithCancel(ctx)
	}
	var over <-chan struct{}
	if p := c.turns.Newest(string(session)); p != nil {
		over = p.Over
	}
	return c.turns.Context(ctx, string(session), over)
}

// known is what a Conn tells its handlers.
type known struct{ *Conn }

func (c known) Roots(id string) []string { return c.roots.of(acp.SessionID(id)) }

func (c known) Turn(id string) uint64 {
	if p := c.turns.Newest(id); p != nil {
		return p.Number
	}
	return 0
}

func (c known) Has(id string) bool { return c.sessions.Has(id) }
