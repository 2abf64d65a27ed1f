// Copied to agent/v2 by go generate.

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

// known holds what the agent has told the client about its sessions. See Options.CheckIDs.
type known struct {
	mu       sync.Mutex // guards the field below, and what it contains
	sessions map[acp.SessionID]*listed
}

// listed is what the agent has listed for one session.
type listed struct {
	open    bool // a response has opened the session
	options []acp.SessionConfigOption

	versionedListed
}

// checkIDs changes the rows of t so that they refuse ids that the client cannot know.
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
				k.mu.Lock()
				defer k.mu.Unlock()
				k.responded(params, res)
			}
			return res, err
		}
	}
}

// of returns what is known of a session.
func (k *known) of(id acp.SessionID) *listed {
	if k.sessions[id] == nil {
		k.sessions[id] = &listed{}
	}
	return k.sessions[id]
}

func (k *known) check(params any) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch p := params.(type) {
	case *acp.PromptRequest:
		return k.checkSession(p.SessionID)
	case *acp.SetSessionConfigOptionRequest:
		if err := k.checkSession(p.SessionID); err != nil {
			return err
		}
		return k.of(p.SessionID).checkOption(p)
	}
	return k.checkVersioned(params)
}

func (k *known) checkSession(id acp.SessionID) error {
	if l := k.sessions[id]; l == nil || !l.open {
		return rpcerr.SessionNotFound(string(id))
	}
	return nil
}

func (l *listed) checkOption(p *acp.SetSessionConfigOptionRequest) error {
	i := slices.IndexFunc(l.options, func(o acp.SessionConfigOption) bool { return optionID(o) == p.ConfigID })
	if i < 0 {
		return unknownID("config option", p.ConfigID)
	}
	switch kind := l.options[i].Kind.(type) {
	case *acp.SessionConfigSelect:
		value, ok := p.Value.(*acp.SessionConfigValue)
		is := func(o acp.SessionConfigSelectOption) bool { return ok && o.Value == value.Value }
		in := func(g acp.SessionConfigSelectGroup) bool { return slices.ContainsFunc(g.Options, is) }
		if !slices.ContainsFunc(kind.Options.Ungrouped, is) && !slices.ContainsFunc(kind.Options.Grouped, in) {
			return unknownID("value of config option", p.ConfigID)
		}
	case *acp.SessionConfigBoolean:
		if _, ok := p.Value.(*acp.SessionConfigBooleanValue); !ok {
			return unknownID("value of config option", p.ConfigID)
		}
	}
	return nil
}

func unknownID[T ~string](what string, id T) error {
	return rpcerr.InvalidParams(nil).WithDetail(fmt.Sprintf("unknown %s %q", what, id))
}

// sending records the options in an update that is being sent.
func (k *known) sending(params any) {
	if n, ok := params.(*updateNotification); ok {
		if u, ok := n.Update.(*acp.ConfigOptionUpdate); ok {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.of(n.SessionID).options = u.ConfigOptions
		}
	}
}

// opened records a session in a response. Options that are nil do not change the list.
func (k *known) opened(id acp.SessionID, options []acp.SessionConfigOption) *listed {
	l := k.of(id)
	l.open = true
	if options != nil {
		l.options = options
	}
	return l
}
