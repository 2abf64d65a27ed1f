package completions

import (
	"cmp"
	"encoding/json"

	"github.com/acpkit/go-sdk/agent/loop"
)

// calls assigns fragments to calls. Servers number the calls from 0 or from 1, give all of them the
// number 0, or none. They repeat the id in each fragment, send another one in each, or none.
type calls struct {
	all     []*started
	byID    map[string]int    // the last call of each id
	byIndex map[string]int    // the last call of each index
	early   map[string]string // ids that came before their names, by index
}

type started struct {
	id, index, name string
	input           argument
	kept            Object
}

func (c *calls) delta(f Members, keptOf func(Members) Object) loop.CallDelta {
	function := ObjectOf(f["function"])
	if function == nil {
		function = ObjectOf(json.RawMessage(TextOf(f["function"])))
	}
	if function == nil {
		function = f // older and own forms
	}
	name, id, index := TextOf(function["name"]), TextOf(First(f["id"], f["call_id"])), TextOf(f["index"])
	var input string
	for _, member := range []string{"arguments", "input", "parameters"} {
		if raw := function[member]; input == "" && len(raw) > 0 && string(raw) != "null" {
			if json.Unmarshal(raw, &input) != nil {
				input = string(raw) // an Object
			}
		}
	}
	if name == "" && input == "" && id != "" && index != "" && last(c.byIndex, index) < 0 {
		note(&c.early, index, id)
		if n := len(c.all); n > 0 {
			return loop.CallDelta{Index: n - 1}
		}
	}
	i := c.find(name, id, index, input)
	s := c.all[i]
	s.name = cmp.Or(s.name, name)
	s.input.add(input)
	for _, m := range []Members{f, function} {
		if found := keptOf(m); found != nil {
			if s.kept == nil {
				s.kept = make(Object)
			}
			merge(s.kept, found)
		}
	}
	d := loop.CallDelta{Index: i, Name: name, Input: input}
	if s.id == "" {
		s.id = cmp.Or(id, c.early[index])
		d.ID = s.id
		if s.id != "" {
			note(&c.byID, s.id, max(i, last(c.byID, s.id)))
		}
	}
	return d
}

// find returns the call of a fragment. A fragment begins a new call if it brings a name with a new
// index, or with a new id, or without both after a complete call. Any other one continues the call of
// its id, of its index, or the last one.
func (c *calls) find(name, id, index, input string) int {
	byIndex, byID := last(c.byIndex, index), last(c.byID, id)
	if name != "" || len(c.all) == 0 {
		latest := byIndex
		if index == "" {
			latest = len(c.all) - 1
		}
		another := latest < 0
		if !another {
			s := c.all[latest]
			complete := s.input.complete() || len(s.input.text) == 0 && s.name != name && (index == "" || id != "")
			switch {
			case id != "" && s.id != "" && id != s.id: // some send another id in each fragment
				another = complete || index == ""
			case id == "" || s.id == "":
				another = complete && s.name != "" && !(index != "" && s.name == name && input == "")
			default: // one id for two calls, or a call that is sent again as a whole
				another = complete && json.Valid([]byte(input)) && input != string(s.input.text)
			}
		}
		if another {
			if index != "" {
				note(&c.byIndex, index, len(c.all))
			}
			c.all = append(c.all, &started{index: index})
			return len(c.all) - 1
		}
		return latest
	}
	if byIndex >= 0 && (byID < 0 || c.all[byIndex].id == id) {
		return byIndex
	}
	if byID >= 0 {
		return byID
	}
	return len(c.all) - 1
}

// last returns the number of the last call that a map has for a key, or -1.
func last(calls map[string]int, key string) int {
	if i, ok := calls[key]; ok {
		return i
	}
	return -1
}

func note[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = make(map[string]V)
	}
	(*m)[key] = v
}
