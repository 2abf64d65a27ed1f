package rpc

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// idKey makes a map key of an id, so that two spellings of one id are equal.
func idKey(id string) string {
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

// callID reads the id of a response. Ours are integers from 1 on; a peer may
// write them as 7.0 or 7e0.
func callID(id []byte) (uint64, bool) {
	if len(id) == 0 || id[0] == '"' || id[0] == 'n' {
		return 0, false
	}
	if len(id) < 19 { // what all peers write, without making a string of it
		n, digits := uint64(0), true
		for _, c := range id {
			n = n*10 + uint64(c-'0')
			digits = digits && c-'0' <= 9
		}
		if digits {
			return n, n > 0
		}
	}
	n, err := strconv.ParseUint(idKey(string(id)), 10, 64)
	if err != nil {
		return 0, false
	}
	return n, n > 0
}
