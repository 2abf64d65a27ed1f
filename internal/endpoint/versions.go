package endpoint

import (
	"encoding/json"
	"math"
	"strconv"
)

// Version reads a version of the protocol in any form that peers use: a whole number, a number with
// a fraction of zero, or a string with one of these. It returns -1 for anything else.
func Version(raw []byte) int {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || f < 0 || f > math.MaxUint16 {
		return -1
	}
	return int(f)
}

// SupportedVersions returns the supported versions in the data of an error -32022. It skips invalid
// entries. It returns nil if there are no valid ones.
func SupportedVersions(data []byte) []int {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return nil
	}
	supported := members["supported"]
	if n := Version(supported); n >= 0 { // not a list
		return []int{n}
	}
	var list []json.RawMessage
	if json.Unmarshal(supported, &list) != nil {
		return nil
	}
	var versions []int
	for _, raw := range list {
		if n := Version(raw); n >= 0 {
			versions = append(versions, n)
		}
	}
	return versions
}
