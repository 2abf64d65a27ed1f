package kind

// FromStatus returns the kind of an HTTP status. A status below 400 is no
// failure and gives Unknown, as does one above 599.
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
