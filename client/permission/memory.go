package permission

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Memory stores the "always" decisions of a person. It must be safe for concurrent use. If
// a Memory serves several sessions, a decision applies to all sessions of the same
// workspace.
type Memory interface {
	// Recall returns Allow, Deny, or "" if there is no decision.
	Recall(Key) Decision
	// Remember keeps a decision about each of its keys.
	Remember(Remembered)
}

// Remembered is an "always" decision of a person.
type Remembered struct {
	// Session is the session in which the person decided.
	Session string
	// Keys are the keys that were decided together.
	Keys     []Key
	Decision Decision
	// What describes on one line the subject of the decision, such as "writing to a.go".
	What string
}

// Remembered returns the decisions that are stored for the open sessions. If Options.Memory is set,
// it returns none, because that Memory stores them.
func (p *Policy) Remembered() []Remembered {
	var all []Remembered
	for _, s := range p.open() {
		s.mu.Lock()
		for _, x := range s.sessions {
			seen := map[*Remembered]bool{}
			for _, r := range x.memory {
				if !seen[r] {
					seen[r] = true
					all = append(all, *r)
				}
			}
		}
		s.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b Remembered) int {
		return cmp.Or(strings.Compare(a.Session, b.Session), strings.Compare(a.What, b.What))
	})
	return all
}

// Revoke removes a decision that Remembered has returned, so that a person is asked again. It has
// no effect on an operation that has begun.
func (p *Policy) Revoke(r Remembered) {
	for _, s := range p.open() {
		s.mu.Lock()
		if x := s.sessions[r.Session]; x != nil {
			for _, k := range r.Keys {
				delete(x.memory, k)
			}
		}
		s.mu.Unlock()
	}
}

// open returns the scopes that are not closed.
func (p *Policy) open() []*Scope {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.scopes))
}

// Key identifies the subject of a decision: a tool with its argument, in a workspace.
type Key struct {
	Workspace string
	// Tool is the name of the tool, or the [Action] of an operation that the agent did not ask
	// about.
	Tool string
	// Argument is a digest of the normalized argument.
	Argument string
}

type private map[Key]*Remembered

// toolKeys returns the keys of a question: one for its tool with the input and what it claims to do, if name
// and input are known, and one for each certain operation. There are none if the path of a write is unknown. whole reports
// whether the keys identify all of the question. Otherwise they do not allow it.
func toolKeys(q *Question, f *findings) (keys []Key, whole bool) {
	switch whole = f.all || q.Tool == nil; {
	case q.Tool == nil:
	case q.Tool.Name != "" && len(q.Tool.Input) > 0:
		raw := q.Tool.Input
		if f.command {
			raw = readInput(raw).withoutProse()
		}
		keys = append(keys, Key{q.Workspace, "tool " + q.Tool.Name, DigestOf(append([]string{normalised(raw)}, f.arguments()...)...)})
		whole = true
	case !whole:
		whole = (len(q.Tool.Input) == 0 || f.command) && f.areCertain(q.Tool.Kind)
	}
	for i := range f.certain {
		if f.certain[i].Action == ActionWrite && f.certain[i].Path == "" {
			return nil, false
		}
		keys = append(keys, Key{q.Workspace, string(f.certain[i].Action), f.certain[i].argument()})
	}
	return keys, whole
}

func operationKeys(q *Question) []Key {
	return []Key{{q.Workspace, string(q.Operations[0].Action), q.Operations[0].argument()}}
}

// normalised returns JSON with its members sorted and without white space. It returns malformed JSON
// unchanged.
func normalised(raw json.RawMessage) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	b, _ := json.Marshal(v) // what was decoded from JSON can be encoded
	return string(b)
}

// recall returns Deny if any of the keys is denied, and Allow if all are allowed and the keys identify
// all of the question.
func (s *Scope) recall(id string, keys []Key, whole bool) Decision {
	if len(keys) == 0 {
		return ""
	}
	allowed := 0
	for _, k := range keys {
		switch s.recallOne(id, k) {
		case Deny:
			return Deny
		case Allow:
			allowed++
		}
	}
	if whole && allowed == len(keys) {
		return Allow
	}
	return ""
}

func (s *Scope) recallOne(id string, k Key) Decision {
	if m := s.policy.opts.Memory; m != nil {
		return m.Recall(k)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.sessions[id]; x != nil && x.memory[k] != nil {
		return x.memory[k].Decision
	}
	return ""
}

func (s *Scope) remember(r Remembered) {
	if len(r.Keys) == 0 {
		return
	}
	if m := s.policy.opts.Memory; m != nil {
		m.Remember(r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.sessionOf(r.Session); x != nil { // there are as many as a person has made
		for _, k := range r.Keys {
			x.memory[k] = &r
		}
	}
}
