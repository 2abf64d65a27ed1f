package kind

import (
	"strconv"
	"time"
)

// Upstream returns the failure of another service that responded with an HTTP
// status. The status must be in the range 400 to 599; any other is bad use. The kind
// is that of [FromUpstreamStatus], and the error is retryable for 429 and from 500 on.
func Upstream(message string, status int) *Error {
	if status < 400 || status > 599 {
		return badUse("kind.Upstream", strconv.Itoa(status)+" is not an HTTP error status")
	}
	return FromUpstreamStatus(status).New(message).withoutLogin().
		WithStatus(status).WithRetryable(status == 429 || status >= 500)
}

// UpstreamRateLimit returns the failure of another service that limits the rate of
// requests. after is how long to wait; it must be positive.
func UpstreamRateLimit(message string, after time.Duration) *Error {
	if after <= 0 {
		return badUse("kind.UpstreamRateLimit", "how long to wait is missing; call kind.Upstream(message, 429) if the service does not say")
	}
	return Upstream(message, 429).WithRetryAfter(after)
}

// withoutLogin returns e with a code that does not ask the user to log in.
func (e *Error) withoutLogin() *Error {
	if e.Kind != Unauthorized {
		return e
	}
	return e.WithNumber(CodeUnauthorized)
}
