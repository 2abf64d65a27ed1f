package kind

import (
	"strconv"
	"time"
)

// FromStatus returns the kind of an HTTP status that this program itself would send, and
// Unknown for a status below 400 or above 599.
func FromStatus(status int) Kind {
	switch status {
	case 400:
		return InvalidParams
	case 401:
		return Unauthorized
	case 402, 403:
		return Forbidden
	case 404:
		return NotFound
	case 408, 425, 504:
		return Timeout
	case 409, 423, 424:
		return Conflict
	case 422:
		return Validation
	case 429:
		return RateLimited
	case 500, 501:
		return Internal
	}
	switch status / 100 {
	case 4:
		return InvalidRequest
	case 5:
		return ServiceUnavailable
	}
	return Unknown
}

// FromUpstreamStatus returns the kind of an HTTP status that another service sent. It differs
// from [FromStatus] for 500 and 501 only: a bug of another service is no bug of this program,
// so the service counts as unavailable. To build an error use [Upstream]: for status 401, the
// New of the kind would ask the user to log in to this program.
func FromUpstreamStatus(status int) Kind {
	if status == 500 || status == 501 {
		return ServiceUnavailable
	}
	return FromStatus(status)
}

// HTTPStatus returns the HTTP status of a response that reports the kind. FromStatus returns
// the kind again where HTTP has a status for it, and the nearest kind otherwise.
func (k Kind) HTTPStatus() int { return k.facts().status }

// Upstream returns the failure of another service that responded with an HTTP status from 400
// to 599; any other is bad use. The kind is that of [FromUpstreamStatus], and the error is
// retryable for 429 and from 500 on.
func Upstream(message string, status int) *Error {
	if status < 400 || status > 599 {
		return badUse("kind.Upstream", strconv.Itoa(status)+" is not an HTTP error status")
	}
	e := FromUpstreamStatus(status).New(message).WithStatus(status).WithRetryable(status == 429 || status >= 500)
	if status == 401 {
		return e.WithNumber(CodeUnauthorized) // which does not ask the user to log in
	}
	return e
}

// UpstreamRateLimit returns the failure of another service that limits the rate of
// requests. after is how long to wait; it must be positive.
func UpstreamRateLimit(message string, after time.Duration) *Error {
	if after <= 0 {
		return badUse("kind.UpstreamRateLimit", "how long to wait is missing; call kind.Upstream(message, 429) if the service does not say")
	}
	return Upstream(message, 429).WithRetryAfter(after)
}
