package chat

import (
	"context"
	"errors"
	"net/http"
	"time"
)

const (
	attempts = 4
	maxWait  = 30 * time.Second // the longest Retry-After that is waited for
)

// retry sends a request for an answer. A server that is busy, and a connection that fails before
// there is a response, are tried again: the answer has not begun.
func (m *Model) retry(ctx context.Context, body []byte) (*http.Response, error) {
	wait := time.Second
	for n := 1; ; n++ {
		res, err := m.send(ctx, http.MethodPost, "/chat/completions", body)
		after, again := retryAfter(err, wait)
		if err == nil || !again || n == attempts {
			return res, err
		}
		select {
		case <-time.After(after):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		wait *= 2
	}
}

// retryAfter reports whether a request may be sent again, and when.
func retryAfter(err error, wait time.Duration) (time.Duration, bool) {
	var status *statusError
	if !errors.As(err, &status) {
		return 0, false // a server that is not there does not come back soon
	}
	switch status.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if status.after > maxWait {
			return 0, false
		}
		return max(status.after, wait), true
	}
	return 0, false
}
