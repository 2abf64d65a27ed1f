package envelope

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"strings"
)

// members returns the members of a well-formed object. Names have no quotes and escapes; values are
// as written. The sequence ends early at anything that is not well formed.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := SkipSpace(object, 0)
		if i >= len(object) || object[i] != '{' {
			return
		}
		for i = SkipSpace(object, i+1); i < len(object) && object[i] == '"'; {
			end, err := SkipString(object, i)
			if err != nil {
				return
			}
			name := object[i+1 : end-1]
			if bytes.IndexByte(name, '\\') >= 0 {
				name = unescapeName(name)
			}
			if i = SkipSpace(object, end); i >= len(object) || object[i] != ':' {
				return
			}
			i = SkipSpace(object, i+1)
			if end, err = Skip(object, i, MaxDepth); err != nil {
				return
			}
			if !yield(name, object[i:end:end]) {
				return
			}
			if i = SkipSpace(object, end); i >= len(object) || object[i] != ',' {
				return
			}
			i = SkipSpace(object, i+1)
		}
	}
}

// Member returns the raw value of a member of a well-formed object, or nil. If the name occurs more
// than once, it returns the first value.
func Member(object []byte, name string) []byte {
	for key, value := range members(object) {
		if string(key) == name {
			return value
		}
	}
	return nil
}

// Repeated returns the first of the names that occurs more than once in a well-formed object, or
// "". It takes at most 64 names.
func Repeated(object []byte, names ...string) string {
	var seen uint64
	for key := range members(object) {
		for i, name := range names {
			if string(key) != name {
				continue
			}
			if seen&(1<<i) != 0 {
				return name
			}
			seen |= 1 << i
		}
	}
	return ""
}

// Text returns the text of a raw JSON string. ok reports whether raw is a string.
func Text(raw []byte) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// SessionID returns the member sessionId of params or of a result, or "" if it is not a string.
func SessionID(payload []byte) string {
	s, _ := Text(Member(payload, "sessionId"))
	return s
}

// IDKey returns a map key for an id. Different spellings of one id have the same key.
func IDKey(id string) string {
	if strings.HasPrefix(id, `"`) {
		var s string
		if strings.IndexByte(id, '\\') < 0 || json.Unmarshal([]byte(id), &s) != nil {
			return id
		}
		return `"` + s + `"`
	}
	if !strings.ContainsAny(id, ".eE-") {
		return id
	}
	f, err := strconv.ParseFloat(id, 64)
	if err != nil || f > 1<<53 || f < -1<<53 || f != math.Trunc(f) {
		return id
	}
	return strconv.FormatInt(int64(f), 10)
}
