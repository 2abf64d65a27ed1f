// Copied to client/v2 by go generate.

package client

import (
	"context"
	"fmt"
	"iter"

	"github.com/acpkit/go-sdk/acp"
)

// Sessions returns an iterator over the stored sessions of the agent that req selects; nil
// selects all. It requests the next page when the previous one has been iterated over. If a
// call fails, the last pair is nil and the error. The Cursor of req, if there is one, is
// where the iteration begins.
//
// Protocol: session/list. The capability is that of [Conn.ListSessions].
func (c *Conn) Sessions(ctx context.Context, req *acp.ListSessionsRequest) iter.Seq2[*acp.SessionInfo, error] {
	return func(yield func(*acp.SessionInfo, error) bool) {
		var page acp.ListSessionsRequest
		if req != nil {
			page = *req
		}
		for {
			res, err := c.ListSessions(ctx, &page)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range res.Sessions {
				if !yield(&res.Sessions[i], nil) {
					return
				}
			}
			next, more := cursorOf(res.NextCursor)
			if !more {
				return
			}
			if this, ok := cursorOf(page.Cursor); ok && this == next {
				yield(nil, fmt.Errorf("client: the agent returned the cursor %q of the page itself as that of the next page", next))
				return
			}
			page.Cursor = res.NextCursor
		}
	}
}
