// Package serving has what the agents of all versions of the protocol share. It knows no version and
// no vocabulary; ids are texts.
package serving

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Known holds the ids that an agent has sent to the client.
type Known struct {
	mu       sync.Mutex // guards the field below, and what it contains
	sessions map[string]*listed
}

// listed is what the agent has listed for one session.
type listed struct {
	open           bool // a response has opened the session
	modes, options []string
}

// Told is what a message of the agent says about a session, if Session is not empty.
type Told struct {
	Session        string
	Open, Closed   bool     // it opens or closes the session
	Modes, Options []string // nil: it does not list them
}

// Watch changes the rows of t so that they refuse ids that the agent has not sent. named returns
// the session that must be open for a request, and the mode or option in its params; told returns
// what a response says.
func Watch(t *endpoint.Table, named func(params any) (session, mode, option string), told func(params, res any) Told) *Known {
	k := &Known{sessions: map[string]*listed{}}
	for _, e := range t.Entries {
		handle := e.Handle
		e.Handle = func(ctx context.Context, params any) (any, error) {
			if err := k.check(named(params)); err != nil {
				return nil, err
			}
			res, err := handle(ctx, params)
			if err == nil {
				k.Note(told(params, res))
			}
			return res, err
		}
	}
	return k
}

func (k *Known) check(id, mode, option string) error {
	if id == "" {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch l := k.sessions[id]; {
	case l == nil || !l.open:
		return rpcerr.SessionNotFound(id)
	case mode != "" && !slices.Contains(l.modes, mode):
		return rpcerr.InvalidParams(nil).WithDetail(fmt.Sprintf("unknown mode %q", mode))
	case option != "" && !slices.Contains(l.options, option):
		return rpcerr.InvalidParams(nil).WithDetail(fmt.Sprintf("unknown config option %q", option))
	}
	return nil
}

// Note records what the agent has told the client.
func (k *Known) Note(told Told) {
	if told.Session == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if told.Closed {
		delete(k.sessions, told.Session)
		return
	}
	l := k.sessions[told.Session]
	if l == nil {
		l = &listed{}
		k.sessions[told.Session] = l
	}
	l.open = l.open || told.Open
	if told.Modes != nil {
		l.modes = told.Modes
	}
	if told.Options != nil {
		l.options = told.Options
	}
}

// IDs returns the ids of a list, or nil if the list is nil.
func IDs[T any](list []T, id func(T) string) []string {
	if list == nil {
		return nil
	}
	ids := make([]string, len(list))
	for i, item := range list {
		ids[i] = id(item)
	}
	return ids
}
