// Copied to draft2/agent by go generate.

package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// known holds the ids that the agent has sent to the client. See Options.CheckIDs.
type known struct {
	mu       sync.Mutex // guards the field below, and what it contains
	sessions map[acp.SessionID]*listed
}

// listed is what the agent has listed for one session.
type listed struct {
	open           bool // a response has opened the session
	modes, options []string
}

// checkIDs changes the rows of t so that they refuse ids that the agent has not sent.
func (c *Conn) checkIDs(t *endpoint.Table) {
	if !c.opts.CheckIDs || c.remote {
		return
	}
	k := &known{sessions: map[acp.SessionID]*listed{}}
	c.known = k
	for _, e := range t.Entries {
		handle := e.Handle
		e.Handle = func(ctx context.Context, params any) (any, error) {
			if err := k.check(params); err != nil {
				return nil, err
			}
			res, err := handle(ctx, params)
			if err == nil {
				k.responded(params, res)
			}
			return res, err
		}
	}
}

func (k *known) check(params any) error {
	id, mode, option := named(params)
	if id == "" {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch l := k.sessions[id]; {
	case l == nil || !l.open:
		return rpcerr.SessionNotFound(string(id))
	case mode != "" && !slices.Contains(l.modes, mode):
		return rpcerr.InvalidParams(nil).WithDetail(fmt.Sprintf("unknown mode %q", mode))
	case option != "" && !slices.Contains(l.options, option):
		return rpcerr.InvalidParams(nil).WithDetail(fmt.Sprintf("unknown config option %q", option))
	}
	return nil
}

// responded records the ids in a response.
func (k *known) responded(params, res any) {
	switch p := params.(type) {
	case *acp.CloseSessionRequest:
		k.forget(p.SessionID)
	case *acp.DeleteSessionRequest:
		k.forget(p.SessionID)
	default:
		if id, modes, options := opened(params, res); id != "" {
			k.list(id, true, modes, options)
		}
	}
}

func (k *known) forget(id acp.SessionID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.sessions, id)
}

// list records what the agent lists for a session. Lists that are nil do not change.
func (k *known) list(id acp.SessionID, open bool, modes []string, options []acp.SessionConfigOption) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.sessions[id]
	if l == nil {
		l = &listed{}
		k.sessions[id] = l
	}
	l.open = l.open || open
	if modes != nil {
		l.modes = modes
	}
	if options != nil {
		l.options = nil
		for _, o := range options {
			l.options = append(l.options, optionID(o))
		}
	}
}

// sending records the options in an update that is being sent.
func (k *known) sending(params any) {
	if n, ok := params.(*updateNotification); ok {
		if u, ok := n.Update.(*acp.ConfigOptionUpdate); ok {
			k.list(n.SessionID, false, nil, append([]acp.SessionConfigOption{}, u.ConfigOptions...))
		}
	}
}
