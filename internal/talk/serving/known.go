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

// These limits bound what is remembered only in order to find mistakes of the agent.
const (
	namedAtMost = 4096    // sessions
	longestID   = 1 << 10 // bytes
)

// Known holds the ids that an agent has sent to the client, and the sessions that either has named.
type Known struct {
	strict bool // requests with other ids are refused

	mu       sync.Mutex // guards the fields below, and what they contain
	sessions map[string]*listed
	opening  int  // requests without a response that may open a session
	many     bool // not strict, and there were more sessions than are remembered
}

// listed is what the agent has listed for one session. Modes, options and cursors are recorded only if ids
// are checked.
type listed struct {
	open                   bool // a response has opened the session
	modes, options, skills []string
	cursors                map[string]bool // whether a session can be forked there
}

// Told is what a message of the agent says about a session, if Session is not empty.
type Told struct {
	Session                string
	Open, Closed           bool     // it opens or closes the session
	Modes, Options, Skills []string // nil: it does not list them
	Cursor                 string   // names a position in the session; empty: it names none
	Fork                   *bool    // whether a session can be forked there; nil: it does not say
}

// Named are the ids in a request. Session must be open, and have listed the others; empty ones are none.
type Named struct {
	Session, Mode, Option string
	// Forked must have a cursor at which it can be forked; it need not be open.
	Forked, Cursor string
	// Of the session Prompted, Skills must be listed.
	Prompted string
	Skills   []string
}

// Watch changes the rows of t so that they record ids, and refuse skills that the agent has not sent; if
// strict is set, all ids that it has not sent. named returns the ids in the params of a request; told
// returns what a response says.
func Watch(t *endpoint.Table, strict bool, named func(params any) Named, told func(params, res any) Told) *Known {
	k := &Known{strict: strict, sessions: map[string]*listed{}}
	for _, e := range t.Entries {
		handle := e.Handle
		e.Handle = func(ctx context.Context, params any) (any, error) {
			ids := named(params)
			if err := k.check(ids); err != nil {
				return nil, err
			}
			if ids.Session == "" { // its updates may precede its response
				k.opens(1)
				defer k.opens(-1)
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

func (k *Known) check(n Named) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.strict {
		if err := k.checkLocked(n); err != nil {
			return err
		}
	} else {
		k.nameLocked(n.Session)
	}
	for _, skill := range n.Skills {
		if l := k.sessions[n.Prompted]; l == nil || !slices.Contains(l.skills, skill) {
			return unknown("skill", skill)
		}
	}
	return nil
}

func (k *Known) checkLocked(n Named) error {
	if n.Session != "" {
		switch l := k.sessions[n.Session]; {
		case l == nil || !l.open:
			return rpcerr.SessionNotFound(n.Session)
		case n.Mode != "" && !slices.Contains(l.modes, n.Mode):
			return unknown("mode", n.Mode)
		case n.Option != "" && !slices.Contains(l.options, n.Option):
			return unknown("config option", n.Option)
		}
	}
	if l := k.sessions[n.Forked]; n.Cursor != "" && (l == nil || !l.cursors[n.Cursor]) {
		return unknown("cursor", n.Cursor)
	}
	return nil
}

// nameLocked records that the session id exists.
func (k *Known) nameLocked(id string) {
	switch {
	case id == "" || k.sessions[id] != nil:
	case !k.strict && (len(k.sessions) >= namedAtMost || len(id) > longestID):
		k.many = true
	default:
		k.sessions[id] = &listed{}
	}
}

func unknown(what, id string) error {
	return rpcerr.InvalidParams(nil).WithDetail(fmt.Sprintf("unknown %s %q", what, id))
}

func (k *Known) opens(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.opening += n
}

// CheckUpdate returns an error for an update of a session that neither a request nor a response has named.
// If ids are not checked, it returns it once for each session, and none after many sessions. subagent is
// the session that the update announces, or empty.
func (k *Known) CheckUpdate(id, subagent string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sessions[id] != nil || k.opening > 0 || k.many {
		k.nameLocked(subagent)
		return nil
	}
	if !k.strict {
		k.nameLocked(id)
	}
	return fmt.Errorf("agent: an update of the session %q, which is not open: send updates with the id of the prompt, or of the response that opened the session", id)
}

// Note records what the agent has told the client.
func (k *Known) Note(told Told) {
	if told.Session == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.sessions[told.Session]
	if told.Closed {
		if l != nil {
			*l = listed{} // its last updates may still be sent
		}
		return
	}
	if !k.strict {
		told.Modes, told.Options, told.Cursor = nil, nil, ""
	}
	if l == nil {
		if told.Open {
			k.nameLocked(told.Session)
			l = k.sessions[told.Session]
		}
		if l == nil && len(told.Modes)+len(told.Options)+len(told.Skills)+len(told.Cursor) == 0 {
			return // nothing to know
		}
		if l == nil {
			l = &listed{}
			k.sessions[told.Session] = l
		}
	}
	l.open = l.open || told.Open
	if told.Modes != nil {
		l.modes = told.Modes
	}
	if told.Options != nil {
		l.options = told.Options
	}
	if told.Skills != nil {
		l.skills = told.Skills
	}
	if told.Cursor != "" && told.Fork != nil {
		if l.cursors == nil {
			l.cursors = map[string]bool{}
		}
		l.cursors[told.Cursor] = *told.Fork
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

// Without returns a response without the elements of its list that drop names, or the response itself if there are none.
func Without[R, T any](res *R, list func(*R) *[]T, drop func(T) bool) *R {
	if res == nil || !slices.ContainsFunc(*list(res), drop) {
		return res
	}
	out := *res
	*list(&out) = slices.DeleteFunc(slices.Clone(*list(res)), drop)
	return &out
}
