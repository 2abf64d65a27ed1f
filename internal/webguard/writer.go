package webguard

import (
	"net/http"
	"time"
)

// CanFlush reports whether a response can be sent in parts. Middleware often wraps the
// ResponseWriter of net/http without a method Unwrap, which hides Flush.
func CanFlush(w http.ResponseWriter) bool {
	return supports(w, func(w http.ResponseWriter) bool {
		_, ok := w.(http.Flusher)
		if !ok {
			_, ok = w.(interface{ FlushError() error })
		}
		return ok
	})
}

// CanHijack reports whether a handler can take over the network connection of a request.
func CanHijack(w http.ResponseWriter) bool {
	return supports(w, func(w http.ResponseWriter) bool {
		_, ok := w.(http.Hijacker)
		return ok
	})
}

func supports(w http.ResponseWriter, has func(http.ResponseWriter) bool) bool {
	for {
		if has(w) {
			return true
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = wrapper.Unwrap()
	}
}

// refusalTimeout is how long a client may take to send a body that is not wanted.
const refusalTimeout = 10 * time.Second

// LimitBody limits the time in which the body of a request arrives. net/http reads the rest of an
// unread body before it sends the response, without a limit of its own. A client that announces a
// body and sends none would hold its network connection forever, even after a refusal. A handler
// that reads the body sets its own deadline.
func LimitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // without a body, net/http already reads the next request, and the deadline would end this one
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusalTimeout)) // not every server supports deadlines
	}
}
