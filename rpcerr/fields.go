package rpcerr

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/internal/errs"
)

// FieldError is one violation of a rule.
type FieldError struct {
	Path    string // of the member, such as "prompt[0].uri"; empty for the whole value
	Message string // the rule, such as "must be an absolute path"
}

// Error returns the path and the rule.
func (e FieldError) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// ownErrors is the member of each level with the violations of the level itself.
const ownErrors = "_errors"

// The limits of Fields, because a peer chooses the content of the data.
const (
	maxFields = 100
	maxNested = 16
)

// Fields returns the violations that err lists, at most 100, in the order of their paths: those
// in the data of an error of invalid params, {"_errors": ["..."], "cwd": {"_errors": [...]}} or
// {"missing": "cwd"}, or those of an *acp.InvalidError.
func Fields(err error) []FieldError {
	if r, _ := find(err); r != nil {
		return r.fields()
	}
	var found []FieldError
	errs.Walk(err, func(err error) bool {
		if f, ok := err.(FieldError); ok {
			found = append(found, f)
		}
		return len(found) == maxFields
	})
	return found
}

// WithFields returns a copy whose data lists violations of the handler's own rules, in the form in
// which a connection lists those of the schema. It is for InvalidParams:
//
//	rpcerr.InvalidParams(nil).WithFields(rpcerr.FieldError{Path: "mcpServers[1].command", Message: "is not allowed here"})
func (e *RequestError) WithFields(fields ...FieldError) *RequestError {
	root := map[string]any{ownErrors: []string{}}
	for _, f := range fields {
		level := root
		for _, name := range strings.FieldsFunc(f.Path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
			if name == ownErrors {
				continue // no member of the protocol has this name
			}
			below, ok := level[name].(map[string]any)
			if !ok {
				below = map[string]any{ownErrors: []string{}}
				level[name] = below
			}
			level = below
		}
		level[ownErrors] = append(level[ownErrors].([]string), f.Message)
	}
	return e.WithData(root)
}

func (e *RequestError) fields() (found []FieldError) {
	var data map[string]json.RawMessage
	if e.DecodeData(&data) != nil {
		return nil
	}
	if _, ok := data[ownErrors]; ok {
		return appendFields(nil, data, "", 0)
	}
	var one string
	var several []string
	if json.Unmarshal(data["missing"], &one) == nil && one != "" {
		several = []string{one}
	} else if json.Unmarshal(data["missing"], &several) != nil {
		return nil
	}
	for _, name := range several[:min(len(several), maxFields)] {
		found = append(found, FieldError{name, "must be present"})
	}
	return found
}

// appendFields appends the violations of a tree. Each level has its own violations in the member
// "_errors".
func appendFields(found []FieldError, level map[string]json.RawMessage, path string, depth int) []FieldError {
	var own []string
	if json.Unmarshal(level[ownErrors], &own) != nil {
		return found
	}
	for _, message := range own {
		found = append(found, FieldError{path, message})
	}
	names := slices.SortedFunc(maps.Keys(level), func(a, b string) int { // elements by number
		i, errA := strconv.Atoi(a)
		j, errB := strconv.Atoi(b)
		if errA == nil && errB == nil && i != j {
			return i - j
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		var below map[string]json.RawMessage
		if len(found) >= maxFields || depth == maxNested {
			break
		}
		if name == ownErrors || json.Unmarshal(level[name], &below) != nil {
			continue
		}
		at := name
		if _, err := strconv.ParseUint(name, 10, 64); err == nil {
			at = path + "[" + name + "]"
		} else if path != "" {
			at = path + "." + name
		}
		found = appendFields(found, below, at, depth+1)
	}
	return found[:min(len(found), maxFields)]
}

// firstFields returns the first violation of each of the first three paths.
func (e *RequestError) firstFields() string {
	first := slices.CompactFunc(e.fields(), func(a, b FieldError) bool { return a.Path == b.Path })
	var texts []string
	for _, f := range first[:min(len(first), 3)] {
		texts = append(texts, f.Error())
	}
	if len(first) > 3 {
		texts = append(texts, "and more")
	}
	return strings.Join(texts, "; ")
}
