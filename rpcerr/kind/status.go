package kind

// FromStatus returns the kind of an HTTP status that this program itself would
// send. It returns Unknown for a status below 400 and above 599.
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

// FromUpstreamStatus returns the kind of an HTTP status that another service sent.
// It differs from [FromStatus] for 500 and 501 only: a bug of another service is no bug
// of this program, so the service counts as unavailable.
//
// To build an error use [Upstream], which also sets Status and Retryable: for status 401,
// the New of the kind would ask the user to log in to this program.
func FromUpstreamStatus(status int) Kind {
	if status == 500 || status == 501 {
		return ServiceUnavailable
	}
	return FromStatus(status)
}

// HTTPStatus returns the HTTP status of a response that reports the kind, for a
// program that serves the same operations over HTTP. FromStatus returns the kind again where HTTP
// has a status for it, and the nearest kind otherwise.
func (k Kind) HTTPStatus() int { return k.facts().status }
