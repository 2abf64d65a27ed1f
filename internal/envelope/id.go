package envelope

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// IDKey makes a map key of an id, so that two spellings of one id are equal.
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
