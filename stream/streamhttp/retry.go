package streamhttp

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

const (
	retryPatience = 30 * time.Second // how long a message that the server has not accepted is sent again
	retryFirst    = 250 * time.Millisecond
	retryLongest  = 5 * time.Second
)

// ErrNotAccepted is wrapped by the error of a message that the agent has not received: the
// server refused it with status 429 or 503 and a Retry-After header, or could not be reached,
// or DialOptions.Header failed. Package rpcerr/retry repeats the call.
var ErrNotAccepted error = &failure{"streamhttp: the message was not accepted", true}

// failure is an error that tells package rpcerr/classify what it is.
type failure struct {
	text      string
	retryable bool
}

func (f *failure) Error() string                          { return f.text }
func (f *failure) Failure() (kind string, retryable bool) { return "service_unavailable", f.retryable }

// submit posts a message. With again it repeats one that the server has not accepted.
func (c *Client) submit(session string, body []byte, again bool) (*http.Response, error) {
	return c.insist(again, func() (*http.Response, error) {
		return c.do(c.life, postLimit, http.MethodPost, session, body, "Content-Type", "application/json", "Accept", accepted)
	})
}

// insist sends a request. With again it repeats the request for up to 30 s while the server does not
// accept it or cannot be reached. Later messages wait meanwhile.
func (c *Client) insist(again bool, send func() (*http.Response, error)) (*http.Response, error) {
	began := time.Now()
	for wait := retryFirst; ; wait = min(2*wait, retryLongest) {
		resp, err := send()
		after, refused := time.Duration(0), notDialed(err)
		if err == nil {
			after, refused = notAccepted(resp)
		}
		pause := max(after, wait)
		if !refused || !again || time.Since(began)+pause > retryPatience {
			return resp, err
		}
		if err == nil {
			discard(resp)
		}
		select {
		case <-time.After(pause):
		case <-c.ending:
			return nil, stream.ErrClosed
		}
	}
}

// notDialed reports whether a request failed because there was no network connection to send
// it on.
func notDialed(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// notAccepted reports whether the server has not accepted a message now but may later, and
// after how long. Without Retry-After these statuses do not say so: a proxy also sends 503
// when it has passed the message on.
func notAccepted(resp *http.Response) (after time.Duration, ok bool) {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	value := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date)), true
	}
	return 0, false
}
