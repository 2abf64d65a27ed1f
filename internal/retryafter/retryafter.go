// Package retryafter reads how long a server over HTTP wants its client to wait before the next
// request.
package retryafter

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// In returns the time to wait that the header of a response names: Retry-After with seconds, which
// may have decimals, or with a date, or Retry-After-Ms, which some services send beside it. It is zero
// for a date that has passed. ok is false if the header is missing or malformed.
func In(h http.Header) (wait time.Duration, ok bool) {
	if wait, ok = number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait, true
	}
	return Parse(h.Get("Retry-After"))
}

// Parse reads the value of Retry-After.
func Parse(value string) (wait time.Duration, ok bool) {
	if wait, ok = number(value, time.Second); ok {
		return wait, true
	}
	at, err := http.ParseTime(strings.TrimSpace(value))
	if err != nil {
		return 0, false
	}
	return max(time.Until(at), 0), true
}

func number(value string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(n >= 0) || math.IsInf(n, 1) { // NaN is not at least 0
		return 0, false
	}
	return time.Duration(min(n*float64(unit), math.MaxInt64/2)), true
}
