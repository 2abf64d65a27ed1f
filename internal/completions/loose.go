package completions

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Members are those of an object. Servers send most of them in more than one form, so each is read
// where it is used, and what has no known form is ignored.
type Members map[string]json.RawMessage

// ObjectOf returns the members of an object, or nil if raw is anything else.
func ObjectOf(raw json.RawMessage) (m Members) {
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// ListOf returns the elements of a list, or any other value as the only element.
func ListOf(raw json.RawMessage) (list []json.RawMessage) {
	if IsNull(raw) {
		return nil
	}
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	for o, n := ObjectOf(raw), 0; o[strconv.Itoa(n)] != nil; n++ { // a list of PHP
		list = append(list, o[strconv.Itoa(n)])
	}
	if list == nil {
		list = []json.RawMessage{raw}
	}
	return list
}

// IsNull reports whether a value is null or has nothing in it.
func IsNull(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "false", "{}", "[]", `""`, "0":
		return true
	}
	return false
}

// TextOf returns a string, or a number as its text.
func TextOf(raw json.RawMessage) (text string) {
	var number json.Number
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	_ = json.Unmarshal(raw, &number) // it stays empty for anything else
	return number.String()
}

// CountOf returns a number that is not negative, rounded, also from a text.
func CountOf(raw json.RawMessage) (uint64, bool) {
	n, err := strconv.ParseFloat(TextOf(raw), 64)
	if err != nil || !(n >= 0) || n > 1<<53 {
		return 0, false
	}
	return uint64(math.Round(n)), true
}

// First returns the first value that has anything in it.
func First(a, b json.RawMessage) json.RawMessage {
	if IsNull(a) {
		return b
	}
	return a
}
