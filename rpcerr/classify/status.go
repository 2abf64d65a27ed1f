package classify

import (
	"strconv"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// statusOf finds the HTTP status of a failure in the chain. Clients of web
// services have one of two methods for it.
func statusOf(err error) (status int, ok bool) {
	walk(err, func(err error) bool {
		switch e := err.(type) {
		case interface{ StatusCode() int }:
			status = e.StatusCode()
		case interface{ HTTPStatusCode() int }:
			status = e.HTTPStatusCode()
		}
		ok = status >= 400 && status <= 599
		return ok
	})
	return status, ok
}

// statusKind is the kind of another service's failure. A 500 there is that service's
// bug, not this program's: it is unavailable, and may be back soon.
func statusKind(status int) kind.Kind {
	if status >= 500 && status != 504 {
		return kind.ServiceUnavailable
	}
	return kind.FromStatus(status)
}

func statusText(digits string) kind.Kind {
	status, err := strconv.Atoi(digits)
	if err != nil {
		return ""
	}
	return statusKind(status)
}
