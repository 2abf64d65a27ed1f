package advice

import (
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Transient returns a failure that may pass: the same call may succeed later, or a
// slightly different one now. Say with WithHint what to do differently and with
// WithRetryAfter how long to wait.
func Transient(message string) *kind.Error { return kind.Transient.New(message) }

// Fatal returns a failure that trying again cannot mend.
func Fatal(message string) *kind.Error { return kind.Fatal.New(message) }

// ContextRequired returns a failure that only a person can resolve. prompt, which is
// required, tells the model what to ask.
func ContextRequired(message, prompt string) *kind.Error {
	if strings.TrimSpace(prompt) == "" {
		return kind.BadUse("advice.ContextRequired", "empty prompt")
	}
	return kind.ContextRequired.New(message).WithHint(prompt)
}

// Upstream returns the failure of another service that answered with an HTTP
// status, which is required and must be 400 to 599. It is retryable for 429 and
// from 500 on, and not otherwise.
func Upstream(message string, status int) *kind.Error {
	if status < 400 || status > 599 {
		return kind.BadUse("advice.Upstream", strconv.Itoa(status)+" is not an HTTP error status")
	}
	k := kind.FromStatus(status)
	if status >= 500 { // also where our own 500 would be a bug: it is theirs
		k = kind.ServiceUnavailable
	}
	return k.New(message).WithStatus(status).WithRetryable(status == 429 || status >= 500)
}

// UpstreamRateLimit returns the failure of another service that wants us to wait.
// after is required.
func UpstreamRateLimit(message string, after time.Duration) *kind.Error {
	if after <= 0 {
		return kind.BadUse("advice.UpstreamRateLimit", "how long to wait is missing")
	}
	return Upstream(message, 429).WithRetryAfter(after)
}
