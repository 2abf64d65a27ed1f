package client

import (
	"context"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/asked"
)

// Asked returns what the connection knows now about a session that a message of the agent names.
// ctx is that of the handler of the message. A handler that has waited for a person calls it
// again, because the session or the turn may have ended meanwhile.
//
// turn is the number of the turn in progress in the session, or 0 if there is none. If there are
// several, it is that of the one that began last. A turn that waits for its message to become part
// of the conversation counts only if no other turn is in progress. Each turn of a connection has
// its own number, so a permission for one turn need not apply to the next.
//
// ok reports whether a request of the agent may name the session: it is open or being opened, or an
// update has announced it as that of a subagent. While a session is being created its id is not
// known, so ok is then true for every id. Without a ctx of a handler it is false.
func Asked(ctx context.Context, session acp.SessionID) (turn uint64, ok bool) {
	c, id := asked.Of(ctx), string(session)
	return c.Turn(id), c.Has(id)
}

// known is what a Conn tells its handlers.
type known struct{ *Conn }

// Roots returns nil: the agent serves files and commands itself.
func (known) Roots(string) []string { return nil }

func (c known) Turn(id string) uint64 { return c.turns.current(acp.SessionID(id)) }
func (c known) Has(id string) bool    { return c.sessions.Has(id) }
