package hub

import (
	"context"
	"errors"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// A load waits so long for the hub that holds the session, or for the store to let go of a hub that died.
const (
	reachTime  = time.Minute
	reachPause = time.Second
	meetTime   = 10 * time.Second // for one attempt to reach a hub
	goneTime   = 5 * time.Second  // for the responses to a client whose session was lost
)

// ErrLost is wrapped by the error of Serve if the hub could not go on with a session to which the client
// was attached: another process has it, or the hub that held it has ended. The client loads it again.
var ErrLost = errors.New("hub: a session of the client is not here any more")

// ServeNode serves a client of another hub, which has reached this one by its Options.Reach. The principal is
// the one that the other hub has found the client to be, so only hubs may get here: give them a
// secret that no client has. Such a client is not passed on to a third hub.
func (h *Hub) ServeNode(ctx context.Context, s stream.Stream, principal string) error {
	return h.serve(ctx, s, &principal)
}

// away returns the connection to the other hub at which the client has opened a session, or nil.
func (c *conn) away(id acp.SessionID) *client.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone[id]
}

// moved notes the other hub at which the client has opened a session; nil if there is none.
func (c *conn) moved(id acp.SessionID, to *client.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone[id] = to; to == nil {
		delete(c.gone, id)
	}
}

// at calls here, or there if another hub holds the session. While neither is possible it tries again, because the
// store lets go of a hub that has died after a while.
func at[Q, R any](ctx context.Context, c *conn, id acp.SessionID, req *Q, there func(*client.Conn, context.Context, *Q) (*R, error), here func() (*R, error)) (*R, error) {
	limited, stop := context.WithTimeout(ctx, reachTime)
	defer stop()
	for {
		res, err := here()
		held, ok := errors.AsType[*journal.HeldError](err)
		if !ok || held.Holder == "" || c.hub.opts.Reach == nil || c.as != nil {
			if err == nil {
				c.moved(id, nil)
			}
			return res, err
		}
		r, unreached := c.reach(limited, held.Holder)
		if unreached == nil {
			c.moved(id, r) // before its first update comes
			if res, unreached = there(r, ctx, req); !errors.Is(unreached, acp.ErrClosed) {
				if unreached != nil {
					c.moved(id, nil)
				}
				return res, unreached
			}
		}
		c.hub.log.Debug("the hub that holds a session is not reached", "holder", held.Holder, "error", unreached)
		select {
		case <-time.After(reachPause):
		case <-limited.Done():
			return nil, awayError(errors.Join(err, unreached))
		}
	}
}

// use calls the hub at which the client has opened a session: there if it is another one, and otherwise here, if the
// client controls the session.
func use[Q, R any](ctx context.Context, c *conn, id acp.SessionID, req *Q, there func(*client.Conn, context.Context, *Q) (*R, error), here func(*attachment) (*R, error)) (*R, error) {
	if r := c.away(id); r != nil {
		res, err := there(r, ctx, req)
		return res, awayError(err)
	}
	a, err := c.controlled(ctx, id)
	if err != nil {
		return nil, err
	}
	return here(a)
}

// reach returns the connection to another hub. A client has one to each.
func (c *conn) reach(ctx context.Context, holder string) (*client.Conn, error) {
	c.reaching.Lock()
	defer c.reaching.Unlock()
	if r := c.routes[holder]; r != nil {
		select {
		case <-r.Ending():
		default:
			return r, nil
		}
	}
	ctx, stop := context.WithTimeout(ctx, meetTime)
	defer stop()
	principal, err := c.principal(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.hub.opts.Reach(ctx, holder, principal)
	if err != nil {
		return nil, err
	}
	r := client.New(s, func(*client.Conn) acp.Client { return c.conn }, &client.Options{Unstable: c.conn.Unstable(), Logger: c.hub.log})
	if err = r.Start(c.ctx); err == nil {
		_, err = r.Initialize(ctx, &acp.InitializeRequest{
			ProtocolVersion: acp.ProtocolVersion, ClientCapabilities: c.conn.ClientCapabilities(), ClientInfo: c.conn.PeerInfo(),
		})
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	c.routes[holder] = r
	r.OnEnd(func() { c.unreachable(r) })
	return r, nil
}

// unreachable ends the connection of a client that has sessions at a hub that has ended: it would not see that nothing
// happens in them any more.
func (c *conn) unreachable(r *client.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, of := range c.gone {
		if of == r {
			delete(c.gone, id)
			c.cut(ErrLost)
		}
	}
}

// promptAway passes a prompt on. The turn does not end with the connection of its sender.
func (c *conn) promptAway(r *client.Conn, ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	call, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-c.conn.Ending():
			_ = r.Close()
		default:
			if cause := context.Cause(ctx); !errors.Is(cause, acp.ErrTurnCancelled) { // session/cancel is passed on by itself
				cancel(cause)
			}
		}
	})()
	return r.Prompt(call, req)
}

// awayError returns the error of a call to another hub for the client.
func awayError(err error) error {
	if _, ok := errors.AsType[*rpcerr.RequestError](err); err == nil || ok && !errors.Is(err, acp.ErrClosed) {
		return err
	}
	return rpcerr.InternalError(nil).WithDetail("the hub that holds this session has ended or is not reached: what was done remains, no prompt is sent again, and the session can be loaded again").WithCause(err)
}
