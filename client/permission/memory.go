package permission

import (
	"bytes"
	"encoding/json"
)

// Memory stores the "always" decisions of a person. It must be safe for concurrent use. If
// a Memory serves several sessions, a decision applies to all sessions of the same
// workspace.
type Memory interface {
	// Recall returns Allow, Deny, or "" if there is no decision.
	Recall(Key) Decision
	// Remember keeps a decision.
	Remember(Key, Decision)
}

// Key identifies what a decision is about: a tool with its argument, in a workspace.
type Key struct {
	Workspace string
	// Tool is the name of the tool, or the [Action] of an operation that the agent did not ask
	// about.
	Tool string
	// Argument is a digest of the normalized argument.
	Argument string
}

// private is the memory of one session.
type private map[Key]Decision

// privateAtMost is how many decisions are kept for a session.
const privateAtMost = 10_000

// toolKeys returns the keys of a question: that of its tool, if it has the name with, and
// those of the operations that are certain. If it cannot be told which file would be written,
// there are none.
func toolKeys(q *Question, certain []Operation) []Key {
	var keys []Key
	if q.Tool != nil && q.Tool.Name != "" && len(q.Tool.Input) > 0 {
		keys = append(keys, Key{q.Workspace, "tool " + q.Tool.Name, DigestOf(normalised(q.Tool.Input))})
	}
	for i := range certain {
		if certain[i].Action == ActionWrite && certain[i].Path == "" {
			return nil
		}
		keys = append(keys, Key{q.Workspace, string(certain[i].Action), certain[i].argument()})
	}
	return keys
}

func operationKeys(q *Question) []Key {
	return []Key{{q.Workspace, string(q.Operations[0].Action), q.Operations[0].argument()}}
}

// normalised returns JSON with its members sorted and without white space. What cannot be
// read is returned as it is.
func normalised(raw json.RawMessage) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}

// recall returns what was decided: Deny if any of the keys is denied, Allow if all are
// allowed.
func (s *Scope) recall(id string, keys []Key) Decision {
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
	if allowed == len(keys) {
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
	if x := s.sessions[id]; x != nil {
		return x.memory[k]
	}
	return ""
}

func (s *Scope) remember(id string, keys []Key, d Decision) {
	if m := s.policy.opts.Memory; m != nil {
		for _, k := range keys {
			m.Remember(k, d)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.sessionOf(id); x != nil && len(x.memory)+len(keys) <= privateAtMost {
		for _, k := range keys {
			x.memory[k] = d
		}
	}
}
